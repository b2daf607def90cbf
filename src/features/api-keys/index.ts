export { issueApiKey, parseApiKey } from "./format.ts";
export { presentCreatedApiKey } from "./presenters.ts";
export { type KeyPrincipal, keyRing } from "./principals.ts";
export { CreatedApiKey } from "./schemas.ts";
export { type CreatedKey, newKeyRow } from "./service.ts";
export { insertKey } from "./store.ts";
