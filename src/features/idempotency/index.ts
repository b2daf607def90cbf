export { eraseRecords } from "./erasure.ts";
export { once } from "./once.ts";
export { recordResult, recordRow, recordWithSecrets } from "./record.ts";
