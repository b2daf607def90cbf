import type { RateLimiter } from "../../src/features/rate-limits/rate-limiter.do.ts";

export { OrganizationLimiter } from "../../src/features/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../../src/features/rate-limits/rate-limiter.do.ts";

interface RawEnv {
  DB: D1Database;
  RATE_LIMITER: DurableObjectNamespace<RateLimiter>;
  /** The statement that the service runs for the request, and what it binds. */
  SQL: string;
  PARAMETERS: readonly string[];
}

/** Of a key that has not changed since it was made. */
const KEY_VERSION = 1;

/** The floor: the service's database read beside its object call, and nothing else. */
// biome-ignore lint/style/noDefaultExport: the runtime looks for it.
export default {
  async fetch(request, env) {
    const session = env.DB.withSession("first-unconstrained");
    const [project, verdict] = await Promise.all([
      session
        .prepare(env.SQL)
        .bind(...env.PARAMETERS)
        .first(),
      env.RATE_LIMITER.getByName(request.headers.get("x-api-key") ?? "").take(
        "default",
        KEY_VERSION,
      ),
    ]);
    return Response.json(project, { status: verdict.admitted ? 200 : 429 });
  },
} satisfies ExportedHandler<RawEnv>;
