import { LIMITS } from "../lib/limits.ts";

let newest: number | undefined;

/** The size of the database in bytes, as D1 has reported it last to this isolate. Undefined: not yet. */
export function databaseSize(): number | undefined {
  return newest;
}

/** D1 reports the size with the result of every statement. */
export function noteDatabaseSize({ size_after }: Pick<D1Meta, "size_after">): void {
  newest = size_after;
}

export function isDatabaseFull(): boolean {
  return (newest ?? 0) >= LIMITS.databaseFullBytes.value;
}
