import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NPM_SCOPE, REPOSITORY, RUNNER_IMAGE } from "../../src/lib/addresses.ts";
import { ROOT } from "./wrangler.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const write = (path: string, text: string) => writeFileSync(join(ROOT, path), text);

/** The version after what names a package, a packed file, the image, the action or a tag of Longshore. */
export const DOCUMENTED_VERSION = new RegExp(
  `(?<=${NPM_SCOPE}/\\w+@|${NPM_SCOPE.slice(1)}-\\w+-|${RUNNER_IMAGE}:|` +
    `${REPOSITORY}@COMMIT # v|pack\\.ts \\w+ v)\\d+\\.\\d+\\.\\d+`,
  "g",
);

/** Has the version that the Worker names in its requests. */
const VERSION_FILE = "src/lib/version.ts";

/** The version of this checkout. */
export function readRelease(): string {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  return version;
}

/** Gives the version to every package, to the lockfile, to the Worker, and to the docs. */
export function writeRelease(version: string): void {
  const lock = JSON.parse(read("package-lock.json"));
  lock.version = version;
  for (const folder of listPackages(lock)) {
    const path = join(folder, "package.json");
    write(path, read(path).replace(/(?<="version": ")[^"]*/, version));
    lock.packages[folder].version = version;
  }
  write("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
  write(VERSION_FILE, read(VERSION_FILE).replace(/(?<=VERSION = ")[^"]*/, version));
  for (const page of readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })) {
    if (!page.endsWith(".md")) continue;
    const path = join("docs", page);
    const text = read(path);
    const changed = text.replaceAll(DOCUMENTED_VERSION, version);
    if (changed !== text) write(path, changed);
  }
}

/** The folders of the workspaces, and an empty text for the root. */
function listPackages({ packages }: { packages: Record<string, object> }): string[] {
  return Object.keys(packages).filter((path) => !/(^|\/)node_modules\//.test(path));
}
