export { MEMBER_EXISTS, MEMBER_PATH, PENDING_MEMBER } from "./model.ts";
export { presentMember, presentPerson, toNewAccount } from "./presenters.ts";
export {
  endMembership,
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
