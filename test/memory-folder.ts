import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const PREFIX = "longshore-tests-";

/**
 * A folder of this run in `parent`, a file system in memory. Undefined unless it has room for this run
 * and for all others that have a folder there, which may not have filled it yet.
 * @param needed In bytes, for each run.
 */
export function claimFolder(parent: string, needed: number, pid = process.pid): string | undefined {
  try {
    // First, so that of two runs that start together, each counts the other.
    const folder = mkdtempSync(join(parent, `${PREFIX}${pid}-`));
    // A test runs a program as another user, in a folder of this one.
    chmodSync(folder, 0o711);
    const runs = readdirSync(parent).filter((name) => name.startsWith(PREFIX) && isRunning(name));
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize >= needed * runs.length) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // Not every system has such a file system, or lets everyone write to it.
  }
  return undefined;
}

function isRunning(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name.slice(PREFIX.length), 10), 0);
  } catch (error) {
    // Of another user: it exists.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
