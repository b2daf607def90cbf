import type { PolicyName } from "./policies.ts";
import type { RateLimiter } from "./rate-limiter.do.ts";

export interface LimitedRequest {
  /** Unique. A call that is repeated after a failure or a timeout counts once by it. */
  id: string;
  /** The hash of the key's secret, which is also the name of its object. */
  key: string;
  organizationId: string;
  /** See `Principal`. */
  consumerId: string;
  policy: PolicyName;
  /** The version of the key that the caller has cached. */
  version: number;
  /** Of a request that counts in the session's own window, which the key's object holds. */
  sessionId?: string | undefined;
  /** Whether the budget of the organization does not refuse it. */
  exemptFromBudget: boolean;
}

export type LimiterNamespace = Pick<DurableObjectNamespace<RateLimiter>, "getByName">;
