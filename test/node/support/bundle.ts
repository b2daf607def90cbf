import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { CLI_PROGRAM, writeProgram } from "../../../scripts/lib/program-bundle.ts";
import { type Bundle, bundle } from "../../../scripts/lib/workers.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

declare module "vitest" {
  export interface ProvidedContext {
    bundle: Bundle;
  }
}

const folder = mkdtempSync(join(tmpdir(), "longshore-service-"));

/** Builds the console, the Worker and the command line once for all files. */
export function setup(project: TestProject): void {
  execFileSync("npm", ["run", "-s", "build:console"], { cwd: ROOT, stdio: "inherit" });
  writeProgram(CLI_PROGRAM);
  project.provide("bundle", bundle("src/index.ts", folder));
}

export function teardown(): void {
  rmSync(folder, { recursive: true });
}
