export { type Revocation, recordRevocation, revokeKeys } from "../memberships/index.ts";
export {
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
export { CREATOR_CHANGED, type DescendantsOption } from "./model.ts";
export { presentApiKey, presentAuthority, presentCreatedApiKey } from "./presenters.ts";
export { ApiKeyParams, CreatedApiKey, EXAMPLE_KEY, RevokeQuery, ScopeName } from "./schemas.ts";
export { getKey, newKeyRow } from "./service.ts";
export { type ApiKeyRow, type CreatedKey, insertKey, insertKeyOfTrust } from "./store.ts";
export { isAsAuthenticated } from "./table.ts";
