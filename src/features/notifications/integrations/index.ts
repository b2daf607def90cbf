export {
  CONFIRMATION_TTL_MS,
  type DisabledReason,
  isConfirmed,
  MAXIMUM_INTEGRATIONS,
  type SlackChannel,
} from "./model.ts";
export { IntegrationParams } from "./schemas.ts";
export { secretContext, urlContext } from "./secret.ts";
export {
  DISABLED,
  requireIntegration,
  requireReceiving,
  toCreatedChange,
  UNCONFIRMED,
} from "./service.ts";
export { findIntegration, insertIntegration } from "./store.ts";
export { targetProblem } from "./target-url.ts";
