export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

/** What the runtime, the load client and the machine take for themselves. */
// biome-ignore lint/style/noDefaultExport: the runtime looks for it.
export default {
  fetch: () => Response.json({ ok: true }),
} satisfies ExportedHandler;
