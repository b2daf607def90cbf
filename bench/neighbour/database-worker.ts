import worker from "../../src/index.ts";
import { DATABASE_PATH, type SentStatement } from "./remote-database.ts";

export { AttemptLog } from "../../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../../src/rate-limits/rate-limiter.do.ts";

/** The service, whose database also runs statements for a Worker of another process. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env, execution) {
    if (new URL(request.url).pathname !== DATABASE_PATH) {
      return worker.fetch(request, env, execution);
    }
    const sent = await request.json<SentStatement[]>();
    const statements = sent.map(({ sql, parameters }) => env.DB.prepare(sql).bind(...parameters));
    const [only, ...others] = statements;
    try {
      const isSingle = only !== undefined && others.length === 0;
      return Response.json(isSingle ? [await only.all()] : await env.DB.batch(statements));
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
    }
  },
} satisfies ExportedHandler<Env>;
