export { changesOf, isNoOp } from "./diff.ts";
export { eraseChangedPerson, listProjectsOfMembers } from "./erasure.ts";
export { ACTIONS, type Action, type Change, type Fields } from "./model.ts";
export {
  insertEntries,
  toEntries,
  type WrittenFields,
  writeChangelogEvent,
  writeChanges,
} from "./write.ts";
