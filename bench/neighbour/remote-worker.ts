import { AttemptLog as ServiceLog } from "../../src/features/deployments/logs/attempt-log.do.ts";
import worker from "../../src/index.ts";
import { remoteDatabase } from "./remote-database.ts";

export { HostLimiter } from "../../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../../src/rate-limits/rate-limiter.do.ts";

interface RemoteEnv extends Env {
  DATABASE_ORIGIN: string;
}

function withRemoteDatabase(env: RemoteEnv): Env {
  return { ...env, DB: remoteDatabase(env.DATABASE_ORIGIN) };
}

export class AttemptLog extends ServiceLog {
  constructor(state: DurableObjectState, env: RemoteEnv) {
    super(state, withRemoteDatabase(env));
  }
}

/** The service with the database of another process, so that the two share only that. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  fetch: (request, env, execution) => worker.fetch(request, withRemoteDatabase(env), execution),
} satisfies ExportedHandler<RemoteEnv>;
