import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "../command-error.ts";
import { fullDisk } from "./full-disk.ts";

const ONLY_OWNER = 0o700;

/** Everything that a server keeps. */
export interface DataFolder {
  path: string;
  /** The folder in which workerd keeps databases, objects and their logs. */
  state: string;
  /** Nothing else is written to, not even the system's folder for temporary files. */
  temporary: string;
  /** Copies of the database from before each upgrade. */
  copies: string;
  secretsFile: string;
  lockFile: string;
  /** Says that there is a database. */
  stampFile: string;
  /** How other commands reach the running server. */
  runtimeFile: string;
  /** Has the ID of workerd's process. */
  processFile: string;
}

export function describeFolder(path: string): DataFolder {
  // `endAbandonedProcess` compares the folder with the paths of open files, which have no links.
  const folder = existsSync(path) ? realpathSync(path) : resolve(path);
  return {
    path: folder,
    state: join(folder, "state"),
    temporary: join(folder, "tmp"),
    copies: join(folder, "copies"),
    secretsFile: join(folder, "secrets.env"),
    lockFile: join(folder, "lock.sqlite"),
    stampFile: join(folder, "longshore.json"),
    runtimeFile: join(folder, "runtime.json"),
    processFile: join(folder, "workerd.pid"),
  };
}

/** Creates the folder, or checks that this user may keep data in it. */
export function openDataFolder(path: string): DataFolder {
  try {
    mkdirSync(path, { recursive: true, mode: ONLY_OWNER });
    const folder = describeFolder(path);
    requireOwner(folder.path);
    accessSync(folder.path, constants.R_OK | constants.W_OK | constants.X_OK);
    mkdirSync(folder.state, { recursive: true, mode: ONLY_OWNER });
    return folder;
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(describe(path, error));
  }
}

/** What root or another user writes there, the folder's owner can't open afterwards. */
function requireOwner(path: string): void {
  const user = process.getuid?.();
  const { uid } = statSync(path);
  if (user === undefined || user === uid) return;
  throw new CommandError(
    `${path} belongs to user ${uid}, and this process runs as user ${user}. Run it as user ${uid}, or give the ` +
      `folder away: chown -R ${user} ${path}`,
  );
}

function describe(path: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  if (code === "ENOSPC") return fullDisk(path);
  if (code === "ENOTDIR" || code === "EEXIST")
    return `${path} is not a folder. Use another for --data.`;
  return `Cannot write ${path} (${code}). Make it writable for this user, or use another folder for --data.`;
}
