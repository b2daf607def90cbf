export { refuseUntilTomorrow } from "./audit-limit.ts";
export { ClientAddressLimiter } from "./client-address-limiter.ts";
export { resetSeconds, setRateLimitHeaders } from "./headers.ts";
export {
  ConcurrentRequests,
  type LimitedRequest,
  Limiter,
  type LimiterNamespace,
  type RateLimitResult,
  refusalByBudget,
} from "./limiter.ts";
export { POLICIES, type PolicyName } from "./policies.ts";
