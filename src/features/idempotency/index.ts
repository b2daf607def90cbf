export { eraseRecords } from "./erasure.ts";
export { once } from "./once.ts";
export {
  type RecordOptions,
  recordResult,
  recordRow,
  recordWithSecrets,
  type Select,
} from "./record.ts";
