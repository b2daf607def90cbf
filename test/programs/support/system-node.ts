import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const OLDEST = [20, 12] as const;

/** Node as the user has installed it, not the one of the repository. Empty if there is none that packages support. */
export function findSystemNode(): [] | [path: string] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const own = folders.filter((each) => !each.includes("node_modules"));
  const found = own.map((each) => join(each, "node")).find((file) => existsSync(file));
  return found !== undefined && isSupported(versionOf(found)) ? [found] : [];
}

export function versionOf(node: string): string {
  return execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
