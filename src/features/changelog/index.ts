export { commit, commitChange } from "./commit.ts";
export { type Change, changesNothing, type Fields, tellerOf } from "./diff.ts";
export { ACTIONS, RECORD_TYPES } from "./model.ts";
export {
  announceEntries,
  insertEntries,
  recordChange,
  recordChanges,
  toEntries,
} from "./record.ts";
