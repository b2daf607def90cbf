import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { DatabaseAddress } from "../database/database-worker.ts";

/** What commands of the same user need to reach a server that runs. */
export interface RuntimeFile {
  database: DatabaseAddress;
}

const ONLY_OWNER = 0o600;

export function writeRuntimeFile(file: string, content: RuntimeFile): void {
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(content), { mode: ONLY_OWNER });
}

/** Undefined: no server has left one. */
export function readRuntimeFile(file: string): RuntimeFile | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

export function removeRuntimeFile(file: string): void {
  rmSync(file, { force: true });
}
