export {
  CONFIRMATION_TTL_MS,
  DISABLED,
  isConfirmed,
  MAXIMUM_INTEGRATIONS,
  type SlackChannel,
  UNCONFIRMED,
} from "./model.ts";
export { SECRET_OVERLAP_MS, secretContext, urlContext } from "./secret.ts";
export {
  requireIntegration,
  requireReceiving,
  toCreatedChange,
} from "./service.ts";
export { findIntegration, insertIntegration } from "./store.ts";
