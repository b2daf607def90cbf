export { eraseRecords } from "./erasure.ts";
export {
  type RecordOptions,
  type Select,
  type Shown,
  saveResponse,
} from "./record.ts";
export { sealSecrets } from "./result.ts";
