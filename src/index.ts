import { createApp } from "./app.ts";
import type { DeliveryMessage } from "./features/notifications/delivery/index.ts";

export { OrganizationLimiter } from "./rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "./rate-limits/rate-limiter.do.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  queue: app.queue,
  scheduled: (_controller, env, execution) => app.sweep(env, execution),
} satisfies ExportedHandler<Env, DeliveryMessage>;
