import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { PUBLISHED_PACKAGES } from "../../../src/lib/addresses.ts";

const FOLDERS = PUBLISHED_PACKAGES.map((name) => join(ROOT, "packages", name));
const POLL_EVERY_MS = 200;
const SERVER = "/longshore-server-";

/** Packs the packages that users install, and installs them in an empty folder. */
export function installPackedPackages(folder: string): void {
  const packed = packOnce(inject("packedFolder"));
  cpSync(packed, folder, { recursive: true, verbatimSymlinks: true });
}

/** The first file that needs them does it for all, because it takes seconds. The others wait, or take over if it fails. */
function packOnce(folder: string): string {
  const installed = join(folder, "installed");
  const end = join(folder, "end");
  while (!existsSync(end)) {
    try {
      mkdirSync(folder);
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_EVERY_MS);
      continue;
    }
    try {
      mkdirSync(installed);
      npm(folder, "pack", ...FOLDERS);
      installTarballs(folder, installed);
      writeFileSync(end, "");
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
  }
  return installed;
}

/** Installs the packages of one folder in another, which is empty or has them. */
export function installTarballs(packed: string, folder: string): void {
  const tarballs = readdirSync(packed).filter((name) => name.endsWith(".tgz"));
  if (tarballs.length !== PUBLISHED_PACKAGES.length)
    throw new Error(`Packed ${tarballs.join(", ")}.`);
  const paths = tarballs.map((name) => join(packed, name));
  const programs = paths.filter((path) => !path.includes(SERVER));
  npm(folder, "init", "-y");
  npm(folder, "install", "--offline", "--no-audit", ...programs);
  for (const path of paths.filter((each) => !programs.includes(each))) unpackServer(path, folder);
}

/** The package without Miniflare, which npm would look for in the registry. */
function unpackServer(tarball: string, folder: string): void {
  const target = join(folder, "node_modules/@longshore/server");
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components", "1"]);
}

function npm(folder: string, ...args: readonly string[]): void {
  execFileSync("npm", [...args, "--silent"], { cwd: folder });
}
