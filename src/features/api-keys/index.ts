export { type Revocation, recordRevocation, revokeKeys } from "../memberships/index.ts";
export {
  exceedingKey,
  type NarrowingInput,
  requestedNarrowing,
  requireNoEscalation,
  resolveNarrowing,
} from "./authority.ts";
export { apiKeyStore, issueApiKey, type KeyPrincipal, parseApiKey } from "./credentials.ts";
export { CREATOR_CHANGED } from "./model.ts";
export { presentApiKey, presentAuthority, presentCreatedApiKey } from "./presenters.ts";
export { CreatedApiKey, EXAMPLE_KEY, ScopeName } from "./schemas.ts";
export { newKeyRow } from "./service.ts";
export { type ApiKeyRow, type CreatedKey, insertKey, insertKeyOfTrust } from "./store.ts";
