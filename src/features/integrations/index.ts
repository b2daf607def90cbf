export type { DisabledReason } from "./kinds.ts";
export { placeOfSecret, placeOfUrl } from "./place.ts";
export { IntegrationParams } from "./schemas.ts";
export { requireIntegration } from "./service.ts";
export { findIntegration, MAXIMUM_INTEGRATIONS } from "./store.ts";
export { targetProblem } from "./target.ts";
