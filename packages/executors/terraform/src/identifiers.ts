import { createHash } from "node:crypto";
import { REPORT_LIMITS } from "../../../runner/src/report-lines.ts";
import { toPrinted } from "../../program/src/index.ts";

const HASH_LENGTH = 8;

/** Addresses have no control characters, but may be long. */
export function toTemplateId(address: string): string {
  const maximum = REPORT_LIMITS.resourceNameLength;
  if (address.length <= maximum) return address;
  const hash = createHash("sha256").update(address).digest("hex").slice(0, HASH_LENGTH);
  return `${address.slice(0, maximum - HASH_LENGTH - 1).toWellFormed()}…${hash}`;
}

/** Undefined if it has none. */
export function toPhysicalId(id: unknown): string | undefined {
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  const line = toPrinted(id).replaceAll(/\p{Cc}/gu, " ");
  return line.slice(0, REPORT_LIMITS.physicalIdLength).toWellFormed();
}
