import { createApp } from "./app.ts";

export { RateLimiter } from "./features/rate-limits/rate-limiter.do.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  scheduled: (_controller, env, execution) => app.sweep(env, execution),
} satisfies ExportedHandler<Env>;
