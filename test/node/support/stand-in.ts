import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { buildSync } from "esbuild";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

type Tool = "docker" | "kubectl";

/** Puts the stand-in of a tool into a folder, where it keeps its state. Returns a `PATH` with which it is found first. */
export function installStandIn(tool: Tool, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const node = `"${process.execPath}" "${bundleOf(tool)}"`;
  const text = `#!/bin/sh\nSTAND_IN_FOLDER="${folder}" exec ${node} "$@"\n`;
  writeFileSync(join(folder, tool), text, { mode: 0o755 });
  return `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
}

const bundles = new Map<Tool, string>();

/** In one file of JavaScript, which starts four times faster: a test calls a tool up to a thousand times. */
function bundleOf(tool: Tool): string {
  const known = bundles.get(tool);
  if (known) return known;
  const outfile = join(mkdtempSync(join(tmpdir(), "stand-in-")), `${tool}.mjs`);
  buildSync({
    entryPoints: [join(ROOT, `test/node/support/${tool}-stand-in.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  bundles.set(tool, outfile);
  return outfile;
}
