/**
 * `npm run release`: lists the addresses that a release needs. With a version, checks the checkout, gives it the
 * version, dates the changelog, and prints what a person still does. Commits, tags and publishes nothing.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dateRelease, isNotReleased } from "./lib/changelog.ts";
import { CommandError, readCommandLine, runCommand } from "./lib/command.ts";
import { readRelease, writeRelease } from "./lib/release.ts";
import { describeAddresses, describeNextSteps } from "./lib/release-message.ts";
import { ROOT } from "./lib/wrangler.ts";

const USAGE = "Usage: npm run release [-- VERSION], where VERSION is like 1.2.0";
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const CHANGELOG = join(ROOT, "CHANGELOG.md");

await runCommand(async () => {
  const { positionals } = readCommandLine({}, USAGE);
  const [version, ...others] = positionals;
  if (version === undefined) {
    console.log(describeAddresses());
    return 0;
  }
  if (others.length > 0 || !VERSION.test(version)) throw new CommandError(USAGE, 2);
  requireReleasable();
  const changelog = readFileSync(CHANGELOG, "utf8");
  requireNext(version, changelog);
  const dated = dateRelease(changelog, version, new Date().toISOString().slice(0, 10));
  writeFileSync(CHANGELOG, dated);
  writeRelease(version);
  console.log(describeNextSteps(version));
  return 0;
});

function requireReleasable(): void {
  const branch = git("rev-parse", "--abbrev-ref", "HEAD");
  if (branch !== "main") {
    throw new CommandError(`A release is made on main, and this is ${branch}: git switch main.`);
  }
  const changes = git("status", "--porcelain");
  if (changes !== "") {
    throw new CommandError(`Commit or remove these changes first:\n${changes}`);
  }
}

/** The current version is the next one as long as the changelog describes it as not released. */
function requireNext(version: string, changelog: string): void {
  if (git("tag", "--list", `v${version}`) !== "") {
    throw new CommandError(
      `${version} is released: the tag v${version} exists. Use a later version.`,
    );
  }
  const current = readRelease();
  const order = version.localeCompare(current, "en", { numeric: true });
  if (order > 0 || (order === 0 && isNotReleased(changelog, version))) return;
  throw new CommandError(
    `The version is ${current} already. Use a later one, or tag this commit if it is ${version}.`,
  );
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  if (status === 0) return stdout.trimEnd();
  throw new CommandError(`git ${args.join(" ")} failed: ${error?.message ?? stderr.trim()}`);
}
