import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const FOLDERS = ["docs", "examples", "packages", "scripts", "src", ".github"];
const READABLE = /\.(?:md|ts|tsx|html|json|ya?ml|sh|css)$|\bDockerfile$/;

export interface ShownText {
  file: string;
  text: string;
}

/** What people read or run: docs, workflows, manifests, messages and pages. */
export function readShownTexts(): ShownText[] {
  const roots = readdirSync(ROOT, { withFileTypes: true });
  const files = [
    ...roots.filter((entry) => entry.isFile()).map(({ name }) => name),
    ...FOLDERS.flatMap(filesIn),
  ].filter((name) => READABLE.test(name));
  return files.map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (["node_modules", "dist", ".git"].includes(entry.name)) return [];
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}
