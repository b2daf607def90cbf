import { LIMITS } from "./limits.ts";

let newest: number | undefined;

/** The size of the database in bytes, as D1 has reported it last to this isolate. Undefined: not yet. */
export function databaseSize(): number | undefined {
  return newest;
}

/** D1 reports the size with the result of every statement. */
export function noteDatabaseSize({ size_after }: Pick<D1Meta, "size_after">): void {
  newest = size_after;
}

export const DATABASE_STATUSES = ["ok", "filling", "full"] as const;
export type DatabaseStatus = (typeof DATABASE_STATUSES)[number];

/** From `full` on, nothing can be added. */
export function databaseStatus(): DatabaseStatus {
  const size = newest ?? 0;
  if (size >= LIMITS.databaseFullBytes.value) return "full";
  return size >= LIMITS.databaseWarningBytes.value ? "filling" : "ok";
}

export function isDatabaseFull(): boolean {
  return databaseStatus() === "full";
}
