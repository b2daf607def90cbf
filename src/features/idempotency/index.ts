export { eraseRecords } from "./erasure.ts";
export {
  type RecordOptions,
  recordResult,
  recordRow,
  recordWithSecrets,
  type Select,
  type Shown,
  saveResponse,
  sealSecrets,
} from "./record.ts";
