export {
  authorizeKey,
  exceedingKey,
  LESS_ACCESS,
  type NarrowingInput,
  requestedNarrowing,
  requireAccess,
  requireNoEscalation,
  resolveNarrowing,
} from "./authority.ts";
export {
  apiKeyStore,
  issueApiKey,
  type KeyPrincipal,
  parseApiKey,
  toActor,
} from "./credentials.ts";
export { CREATOR_CHANGED } from "./model.ts";
export { presentApiKey, presentAuthority, presentCreatedApiKey } from "./presenters.ts";
export { newKeyRow } from "./service.ts";
export {
  type ApiKeyRow,
  type CreatedKey,
  findKeyOrTombstone,
  insertKey,
  insertKeyOfTrust,
  type KeyOrTombstone,
} from "./store.ts";
