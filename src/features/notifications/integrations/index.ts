export {
  CONFIRMATION_TTL_MS,
  DISABLED,
  type DisabledReason,
  isConfirmed,
  MAXIMUM_INTEGRATIONS,
  type SlackChannel,
  UNCONFIRMED,
} from "./model.ts";
export { IntegrationParams } from "./schemas.ts";
export { secretContext, urlContext } from "./secret.ts";
export {
  requireIntegration,
  requireReceiving,
  toCreatedChange,
} from "./service.ts";
export { findIntegration, insertIntegration } from "./store.ts";
