export {
  familyOf,
  type Revocation,
  recordRevocation,
  revokeKeys,
} from "./key-revocation.ts";
export { incrementKeyVersions, keepsOwnerKey } from "./member-keys.ts";
export { toNewAccount } from "./presenters.ts";
export { AccountInput, OrgRole, PERSON } from "./schemas.ts";
export { LAST_OWNER_KEY, toAccountRow } from "./service.ts";
export { ACCOUNT_SIZE, type NewAccount } from "./store.ts";
