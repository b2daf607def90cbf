export { apiKeyStore, type KeyPrincipal } from "./credential-store.ts";
export { issueApiKey, parseApiKey } from "./format.ts";
export { presentCreatedApiKey } from "./presenters.ts";
export { CreatedApiKey } from "./schemas.ts";
export { newKeyRow } from "./service.ts";
export { type CreatedKey, insertKey } from "./store.ts";
