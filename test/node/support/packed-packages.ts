import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const PACKAGES = ["cli", "client"].map((name) => join(ROOT, "packages", name));

/** Packs the packages that users install, and installs them in an empty folder. */
export function installPackedPackages(folder: string): void {
  const npm = (...args: string[]) => execFileSync("npm", [...args, "--silent"], { cwd: folder });
  npm("init", "-y");
  npm("pack", ...PACKAGES);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  if (tarballs.length !== PACKAGES.length) throw new Error(`Packed ${tarballs.join(", ")}.`);
  npm("install", "--offline", "--no-audit", ...tarballs.map((name) => `./${name}`));
}
