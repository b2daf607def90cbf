import { type App, createApp } from "./app.ts";
import type { DeliveryMessage } from "./features/notifications/delivery/index.ts";

export { AttemptLog } from "./features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "./features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "./rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "./rate-limits/rate-limiter.do.ts";

let app: App | undefined;

/** Creates the app at the first event instead of at module load, where it delays every start-up. */
function getApp(): App {
  app ??= createApp();
  return app;
}

export default {
  fetch: (request, env, execution) => getApp().fetch(request, env, execution),
  queue: (batch, env, execution) => getApp().queue(batch, env, execution),
  scheduled: (_controller, env, execution) => getApp().sweep(env, execution),
} satisfies ExportedHandler<Env, DeliveryMessage>;
