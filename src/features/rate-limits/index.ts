export { rateLimitHeaders, resetSeconds } from "./headers.ts";
export { Limiter, type LimiterNamespace, type Verdict } from "./limiter.ts";
export { POLICIES, type PolicyName } from "./policies.ts";
export { Strangers } from "./strangers.ts";
