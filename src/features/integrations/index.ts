export { toConfiguration } from "./configuration.ts";
export { DISABLED_REASONS, type DisabledReason } from "./kinds.ts";
export { placeOfSecret, placeOfUrl } from "./place.ts";
export { presentIntegration } from "./presenters.ts";
export { Integration, IntegrationParams } from "./schemas.ts";
export { SECRET_PREFIX } from "./secret.ts";
export { requireIntegration } from "./service.ts";
export {
  findIntegration,
  type IntegrationRow,
  insertIntegration,
  MAXIMUM_INTEGRATIONS,
  type NewIntegration,
} from "./store.ts";
export { targetProblem } from "./target.ts";
