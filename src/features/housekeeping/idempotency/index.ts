export {
  type EntryOptions,
  type Select,
  type Shown,
  saveResponse,
} from "./entry.ts";
export { eraseEntries } from "./erasure.ts";
export { sealSecrets } from "./result.ts";
