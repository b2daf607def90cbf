import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

/** The packages that users install. */
export const PUBLISHED = ["cli", "client", "runner"];
const FOLDERS = PUBLISHED.map((name) => join(ROOT, "packages", name));

/** Packs the packages that users install, and installs them in an empty folder. */
export function installPackedPackages(folder: string): void {
  npm(folder, "pack", ...FOLDERS);
  installTarballs(folder, folder);
}

/** Installs the packages of one folder in another, which is empty or has them. */
export function installTarballs(packed: string, folder: string): void {
  const tarballs = readdirSync(packed).filter((name) => name.endsWith(".tgz"));
  if (tarballs.length !== PUBLISHED.length) throw new Error(`Packed ${tarballs.join(", ")}.`);
  npm(folder, "init", "-y");
  npm(folder, "install", "--offline", "--no-audit", ...tarballs.map((name) => join(packed, name)));
}

function npm(folder: string, ...args: readonly string[]): void {
  execFileSync("npm", [...args, "--silent"], { cwd: folder });
}
