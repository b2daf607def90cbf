export {
  announceEntries,
  insertEntries,
  recordChange,
  recordChanges,
  toEntries,
} from "./changelog-store.ts";
export { type Change, changesNothing, type Fields, tellerOf } from "./changes.ts";
export { commit, commitChange } from "./commit.ts";
export {
  ACTIONS,
  EVENT_TYPES,
  type EventType,
  KIND_OF,
  KINDS,
  type Kind,
  PING,
  RECORD_TYPES,
} from "./kinds.ts";
export { fanOut, SWEEP_AFTER_MS } from "./store.ts";
