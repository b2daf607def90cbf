export { isAsAuthenticated, keysMadeWith } from "./api-key-table.ts";
export { endSessions } from "./end-sessions.ts";
export {
  boundWays,
  type FamilyReach,
  familyTable,
  familyWays,
  isWhole,
  listedWays,
  nodesTable,
  ROOT,
  rootOf,
} from "./family.ts";
export {
  endPart,
  type FamilyCondition,
  type FamilyRevocation,
  madeBy,
  openFamilyPart,
} from "./family-part.ts";
export { revokeFamily, revokeFamilyOf } from "./family-revocation.ts";
export { type Members, selectValue } from "./family-steps.ts";
export { findGreatest, walkFamily } from "./family-walk.ts";
export { KEY_OWNER_TYPES, keyOwnerOf, presentKeyOwner } from "./key-owner.ts";
export {
  auditRevocation,
  type Revocation,
  revokeKeys,
  revokeKeysAnywhere,
} from "./key-revocation.ts";
export { isVerifiedAgainst, makersOf } from "./makers.ts";
export { incrementKeyVersions, keepsOwnerKey, keysToIncrement } from "./member-keys.ts";
export { type DescendantsOption, LAST_OWNER_KEY } from "./model.ts";
export { closePart, IS_LAST_PART, isInPart, openPart, PART_SIZE } from "./revocation-part.ts";
