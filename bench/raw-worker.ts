import type { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface RawEnv {
  DB: D1Database;
  RATE_LIMITER: DurableObjectNamespace<RateLimiter>;
  /** The statement that the service runs for the request. */
  SQL: string;
  /** The bound parameters and the organization, by the ID of the project. */
  PROJECTS: Readonly<Record<string, { parameters: readonly string[]; organizationId: string }>>;
}

/** The version of an unchanged key. */
const KEY_VERSION = 1;
const PREFIX = "/v1/projects/";

/** The minimum: the database read and, in parallel, the Durable Object call of the service. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env) {
    const path = new URL(request.url).pathname;
    const known = env.PROJECTS[path.slice(PREFIX.length)];
    if (!known) return new Response(null, { status: 404 });
    const session = env.DB.withSession("first-unconstrained");
    const [project, result] = await Promise.all([
      session
        .prepare(env.SQL)
        .bind(...known.parameters)
        .first(),
      env.RATE_LIMITER.getByName(request.headers.get("x-api-key") ?? "").consume(
        "default",
        KEY_VERSION,
        known.organizationId,
        undefined,
        "membership",
        crypto.randomUUID(),
        { exemptFromBudget: false, cost: undefined },
      ),
    ]);
    return Response.json(project, { status: result.admitted ? 200 : 429 });
  },
} satisfies ExportedHandler<RawEnv>;
