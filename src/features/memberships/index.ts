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
export { incrementKeyVersions, keepsOwnerKey, keysToIncrement } from "./member-keys.ts";
export {
  type DescendantsOption,
  LAST_OWNER_KEY,
  MEMBER_EXISTS,
  MEMBER_PATH,
  PENDING_MEMBER,
} from "./model.ts";
export { presentMember, presentPerson, toNewAccount } from "./presenters.ts";
export {
  AccountInput,
  Descendants,
  Email,
  MemberParams,
  OrgRole,
  ProfileInput,
} from "./schemas.ts";
export {
  requireActive,
  requireRoleToManage,
  toAccountRow,
  toUnprovenAccount,
} from "./service.ts";
export {
  ACCOUNT_SIZE,
  type AccountRow,
  deleteUnprovenAccount,
  findFormerMember,
  findMember,
  keepTombstones,
  type MemberRow,
  type NewAccount,
  removeMember as removeMembership,
} from "./store.ts";
