import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ASSETS_FOLDER } from "./assets.ts";
import { readMigrations } from "./migrations.ts";
import { SERVER_PROGRAM, writeProgram } from "./program-bundle.ts";
import { ensureWorker, WORKER_FOLDER } from "./worker-build.ts";

/** Writes everything that the package of the server contains beside its manifest. */
export async function writeServerPackage(): Promise<void> {
  const { folder } = SERVER_PROGRAM;
  await ensureWorker();
  replaceFolder(WORKER_FOLDER, join(folder, "worker"));
  replaceFolder(ASSETS_FOLDER, join(folder, "assets"));
  writeMigrations(join(folder, "migrations"));
  writeProgram(SERVER_PROGRAM);
}

function replaceFolder(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
}

/** The SQL files, and none of drizzle-kit's own. */
function writeMigrations(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, sql } of readMigrations()) writeFileSync(join(folder, name), sql);
}
