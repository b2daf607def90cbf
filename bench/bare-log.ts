import { DurableObject } from "cloudflare:workers";

export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

/** Appends each request as one row, and sends its bytes to all followers. */
export class AttemptLog extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "create table if not exists chunks (start integer primary key, bytes blob not null)",
    );
  }

  append(offset: number, bytes: ArrayBuffer): number {
    this.ctx.storage.sql.exec("insert into chunks values (?, ?)", offset, bytes);
    for (const follower of this.ctx.getWebSockets()) follower.send(bytes);
    return offset + bytes.byteLength;
  }

  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }
}

interface BareEnv {
  ATTEMPT_LOG: DurableObjectNamespace<AttemptLog>;
}

/**
 * The minimum: one call to a log. It checks no token, lease, offset or size, counts no request, and
 * reads nothing again for a follower that continues.
 */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const log = env.ATTEMPT_LOG.getByName(pathname);
    if (request.headers.has("upgrade")) return log.fetch(request);
    const offset = Number(searchParams.get("offset"));
    return Response.json({ next_offset: await log.append(offset, await request.arrayBuffer()) });
  },
} satisfies ExportedHandler<BareEnv>;
