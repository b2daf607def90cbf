export { apiKeyStore, issueApiKey, type KeyPrincipal, parseApiKey } from "./credentials.ts";
export { presentCreatedApiKey } from "./presenters.ts";
export { CreatedApiKey } from "./schemas.ts";
export { LAST_OWNER_KEY, newKeyRow } from "./service.ts";
export { type CreatedKey, incrementKeyVersions, insertKey, keepsOwnerKey } from "./store.ts";
