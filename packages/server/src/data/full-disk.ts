import { statfsSync } from "node:fs";
import { CommandError } from "../command-error.ts";
import type { RuntimeLine } from "../runtime/runtime.ts";

const FULL = "SQLITE_FULL";
const ONCE_EVERY_MS = 60_000;
/** SQLite and workerd report an I/O error of a file beside the database if less is free. */
const LEAST_BYTES = 512 * 1024;

/**
 * Replaces the runtime's lines about a full disk, two with a stack for each request, by one sentence a minute.
 * Returns undefined for a line that is not logged.
 */
export function fullDiskNotice(folder: string): (line: RuntimeLine) => RuntimeLine | undefined {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (line) => {
    if (!line.message.includes(FULL)) return line;
    if (Date.now() - saidAt < ONCE_EVERY_MS) return undefined;
    saidAt = Date.now();
    const message = `The disk of ${folder} is full: requests fail until you free some space. Nothing that was acknowledged is lost.`;
    return { level: "error", message };
  };
}

/** Returns the error of a start, or, on a full disk, one that says what to do. */
export function explainFullDisk(error: unknown, folder: string): unknown {
  if (error instanceof CommandError || !isFull(folder)) return error;
  return new CommandError(fullDisk(folder));
}

export function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < LEAST_BYTES;
}

export function fullDisk(path: string): string {
  return `The disk of ${path} is full. Nothing was changed. Free some space and start again.`;
}
