import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { CLI_PROGRAM, writeProgram } from "../../../scripts/lib/program-bundle.ts";
import { type Bundle, bundle } from "../../../scripts/lib/workers.ts";

declare module "vitest" {
  export interface ProvidedContext {
    bundle: Bundle;
  }
}

const folder = mkdtempSync(join(tmpdir(), "longshore-service-"));

/** Builds the Worker and the command line once for all files. The configuration has built the static assets. */
export function setup(project: TestProject): void {
  writeProgram(CLI_PROGRAM);
  project.provide("bundle", bundle("src/index.ts", folder));
}

export function teardown(): void {
  rmSync(folder, { recursive: true });
}
