export { isAsAuthenticated } from "./api-key-table.ts";
export { endSessions } from "./end-sessions.ts";
export {
  boundedBy,
  credentialsOf,
  type FamilyReach,
  familyOf,
  familyTable,
} from "./family.ts";
export { revokeFamily, revokeFamilyOf } from "./family-revocation.ts";
export {
  auditFamilyRevocation,
  auditRevocation,
  endFamily,
  type FamilyRevocation,
  madeBy,
  type Revocation,
  revokeKeys,
} from "./key-revocation.ts";
export { makersOf } from "./makers.ts";
export { incrementKeyVersions, keepsOwnerKey, keysToIncrement } from "./member-keys.ts";
export { type DescendantsOption, LAST_OWNER_KEY } from "./model.ts";
