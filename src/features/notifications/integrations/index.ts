export { type DisabledReason, MAXIMUM_INTEGRATIONS } from "./model.ts";
export { IntegrationParams } from "./schemas.ts";
export { secretContext, urlContext } from "./secret.ts";
export { requireIntegration } from "./service.ts";
export { findIntegration, insertIntegration } from "./store.ts";
export { targetProblem } from "./target-url.ts";
