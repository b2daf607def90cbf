export { issueApiKey, parseApiKey } from "./format.ts";
export { presentCreatedApiKey } from "./presenters.ts";
export { apiKeyStore, type KeyPrincipal } from "./principals.ts";
export { CreatedApiKey } from "./schemas.ts";
export { newKeyRow } from "./service.ts";
export { type CreatedKey, insertKey } from "./store.ts";
