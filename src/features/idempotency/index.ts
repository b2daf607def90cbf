export { once } from "./once.ts";
export { recordResult, recordRow, recordRows, recordWithSecrets } from "./record.ts";
