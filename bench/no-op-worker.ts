export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

/** Measures the overhead of the runtime, the load client and the machine. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  fetch: () => Response.json({ ok: true }),
} satisfies ExportedHandler;
