export { refuseUntilTomorrow } from "./audit-limit.ts";
export { ClientAddressLimiter } from "./client-address-limiter.ts";
export { ConcurrentRequests } from "./concurrent-requests.ts";
export { DatabasePace, type Turn } from "./database-pace.ts";
export { resetSeconds, setRateLimitHeaders } from "./headers.ts";
export type { LimitedRequest, LimiterNamespace } from "./limited-request.ts";
export {
  Limiter,
  type RateLimitResult,
  refusalByBudget,
} from "./limiter.ts";
export { chargeOrganization } from "./organization-costs.ts";
export { POLICIES, type PolicyName } from "./policies.ts";
