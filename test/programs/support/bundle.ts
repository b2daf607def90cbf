import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { newSecrets } from "../../../packages/server/src/secrets.ts";
import { applyMigrations } from "../../../scripts/lib/migrations.ts";
import {
  CLI_PROGRAM,
  EXECUTOR_PROGRAMS,
  RUNNER_PROGRAM,
  writePrograms,
} from "../../../scripts/lib/program-bundle.ts";
import {
  type Bundle,
  bundle,
  readWorkerSettings,
  start,
  type WorkerSettings,
} from "../../../scripts/lib/workers.ts";
import { killRuntimes, writeRuntimeProgram } from "./runtime-program.ts";

declare module "vitest" {
  export interface ProvidedContext {
    bundle: Bundle;
    workerSettings: WorkerSettings;
    /** A folder with the data of a service after the migrations, for `startService` to copy. */
    migrated: string;
    /** Instead of workerd. */
    runtimeProgram: string;
    /** Where services keep their data: in memory, if there is room for it. */
    dataFolder: string;
    /** Where the first file that needs them puts the packed packages. */
    packedFolder: string;
  }
}

const folder = mkdtempSync(join(tmpdir(), "longshore-service-"));
const runtimes = join(folder, "runtimes");

/**
 * Builds the Worker, the command line, the runner and its executors, and migrates a database, once for all files. The configuration has
 * built the static assets.
 */
export async function setup(project: TestProject): Promise<void> {
  writePrograms([CLI_PROGRAM, RUNNER_PROGRAM, ...EXECUTOR_PROGRAMS]);
  const built = bundle("src/index.ts", folder);
  const migrated = join(folder, "migrated");
  const settings = await readWorkerSettings();
  const worker = await start(built, newSecrets(), { folder: migrated, settings });
  await applyMigrations(worker.d1);
  await worker.stop();
  project.provide("bundle", built);
  project.provide("migrated", migrated);
  project.provide("runtimeProgram", writeRuntimeProgram(runtimes));
  project.provide("dataFolder", tmpdir());
  project.provide("packedFolder", join(folder, "packed"));
  project.provide("workerSettings", settings);
}

/** After the last test. */
export function teardown(): void {
  killRuntimes(runtimes);
  rmSync(folder, { recursive: true });
}
