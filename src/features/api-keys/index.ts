export { type Revocation, revokeKeys } from "../memberships/index.ts";
export { apiKeyStore, issueApiKey, type KeyPrincipal, parseApiKey } from "./credentials.ts";
export { presentCreatedApiKey } from "./presenters.ts";
export { CreatedApiKey } from "./schemas.ts";
export { newKeyRow } from "./service.ts";
export { type CreatedKey, insertKey } from "./store.ts";
