import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./wrangler.ts";

export const DIST = join(ROOT, "dist");
/** The `directory` of `[assets]` in wrangler.toml. */
export const ASSETS_FOLDER = join(DIST, "assets");
const CONSOLE = "/console/";
/** Not an asset: the digests of what the assets were built from. */
const STAMP = join(DIST, "assets.json");

/** What each part is built from. A folder stands for all of its files. */
const SOURCES = {
  console: [
    "package-lock.json",
    "packages/console",
    "packages/client/src",
    "packages/cli/src",
    "src/lib",
  ],
  pages: ["package-lock.json", "docs", "packages/reference", "scripts/lib", "src"],
} as const;

type Part = keyof typeof SOURCES;
type Stamp = Partial<Record<Part, string>>;

/** Builds the parts of the assets whose sources have changed. Several processes may do so at once. */
export async function buildAssets(): Promise<void> {
  const stamp = readStamp();
  const current = { console: digestSources(SOURCES.console), pages: digestSources(SOURCES.pages) };
  if (stamp.console !== current.console) replaceFiles(buildConsole(), isOfConsole);
  if (stamp.pages !== current.pages) {
    // Loading the app takes a second.
    const { renderPageAssets } = await import("./page-assets.ts");
    replaceFiles(await renderPageAssets(), (path) => !isOfConsole(path));
  }
  if (stamp.console !== current.console || stamp.pages !== current.pages) {
    writeAtomically(STAMP, JSON.stringify(current));
  }
}

function isOfConsole(path: string): boolean {
  return path.startsWith(CONSOLE);
}

/** Without files, every part is to be built. */
function readStamp(): Stamp {
  try {
    statSync(join(ASSETS_FOLDER, "_headers"));
    statSync(join(ASSETS_FOLDER, CONSOLE, "index.html"));
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return {};
  }
}

export function digestSources(sources: readonly string[]): string {
  const hash = createHash("sha256");
  for (const source of sources) {
    for (const file of listFiles(join(ROOT, source))) {
      hash
        .update(`${relative(ROOT, file)}\0`)
        .update(readFileSync(file))
        .update("\0");
    }
  }
  return hash.digest("hex");
}

function listFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/\/(node_modules|dist)\//.test(file.slice(path.length)))
    .toSorted();
}

function buildConsole(): Map<string, Buffer> {
  mkdirSync(DIST, { recursive: true });
  const folder = mkdtempSync(join(DIST, "console-"));
  try {
    const vite = join(ROOT, "node_modules/vite/bin/vite.js");
    const args = [
      "build",
      join(ROOT, "packages/console"),
      "--outDir",
      folder,
      "--logLevel",
      "warn",
    ];
    execFileSync(process.execPath, [vite, ...args], { cwd: ROOT, stdio: "inherit" });
    const files = listFiles(folder);
    return new Map(
      files.map((file) => [join(CONSOLE, file.slice(folder.length)), readFileSync(file)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the files, and deletes the others of the same part. */
function replaceFiles(
  files: ReadonlyMap<string, string | Buffer>,
  isOfPart: (path: string) => boolean,
): void {
  mkdirSync(ASSETS_FOLDER, { recursive: true });
  for (const [path, content] of files) writeAtomically(join(ASSETS_FOLDER, path), content);
  const found = listFiles(ASSETS_FOLDER).map((file) => file.slice(ASSETS_FOLDER.length));
  const old = found.filter((path) => isOfPart(path) && !files.has(path));
  for (const path of old) rmSync(join(ASSETS_FOLDER, path), { force: true });
}

/** A server that reads the file gets the old content or the new one. `wrangler dev` restarts after each write. */
function writeAtomically(file: string, content: string | Buffer): void {
  if (hasContent(file, content)) return;
  mkdirSync(dirname(file), { recursive: true });
  const temporary = join(DIST, `.${process.pid}.tmp`);
  writeFileSync(temporary, content);
  renameSync(temporary, file);
}

function hasContent(file: string, content: string | Buffer): boolean {
  try {
    return readFileSync(file).equals(Buffer.from(content));
  } catch {
    return false;
  }
}
