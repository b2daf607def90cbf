export { incrementKeyVersions, keepsOwnerKey } from "./member-keys.ts";
export { toNewAccount } from "./presenters.ts";
export { AccountInput, OrgRole, PERSON } from "./schemas.ts";
export { LAST_OWNER_KEY, toAccountRow } from "./service.ts";
export {
  ACCOUNT_SIZE,
  keysOfRemovable,
  type NewAccount,
  removeMember as removeMembership,
} from "./store.ts";
