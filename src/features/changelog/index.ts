export { auditChanges } from "./audit.ts";
export { changeRecorder, isNoOp } from "./diff.ts";
export { eraseChangedPerson } from "./erasure.ts";
export { ACTIONS, type Action, type Change, type Fields, RECORD_TYPES } from "./model.ts";
export {
  type Entry,
  insertEntries,
  recordChanges,
  toEntries,
  type WrittenFields,
  writeChangelogEvent,
} from "./record.ts";
