import type { Schemas } from "../../../client/src/index.ts";

/** Whether runners mask the value in logs. */
export function isSensitive(method: Schemas["StorageMethod"]): boolean {
  return method !== "string";
}
