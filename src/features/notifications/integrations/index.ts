export { secretContext, urlContext } from "./encryption-context.ts";
export type { DisabledReason } from "./model.ts";
export { IntegrationParams } from "./schemas.ts";
export { requireIntegration } from "./service.ts";
export { findIntegration, insertIntegration, MAXIMUM_INTEGRATIONS } from "./store.ts";
export { targetProblem } from "./target-url.ts";
