export { commit, commitChange } from "./commit.ts";
export { type Change, changeRecorder, type Fields, isNoOp } from "./diff.ts";
export { ACTIONS, RECORD_TYPES } from "./model.ts";
export {
  insertEntries,
  recordChange,
  recordChanges,
  toEntries,
  writeChangelogEvent,
} from "./record.ts";
