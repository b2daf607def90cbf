import type { RuntimeLine } from "./runtime.ts";

const FULL = "SQLITE_FULL";
const ONCE_EVERY_MS = 60_000;

/**
 * Says what to do about a full disk once a minute, instead of the runtime's lines with stacks, of which each request has one.
 * Returns undefined for a line that is not logged.
 */
export function explainFullDisk(folder: string): (line: RuntimeLine) => RuntimeLine | undefined {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (line) => {
    if (!line.message.includes(FULL)) return line;
    if (Date.now() - saidAt < ONCE_EVERY_MS) return undefined;
    saidAt = Date.now();
    const message = `The disk of ${folder} is full: requests fail until you free some space. Nothing acknowledged is lost.`;
    return { level: "error", message };
  };
}
