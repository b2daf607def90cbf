import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

/** Puts the stand-in of a tool into a folder, where it keeps its state. Returns a `PATH` with which it is found first. */
export function installStandIn(tool: "docker" | "kubectl", folder: string): string {
  mkdirSync(folder, { recursive: true });
  const program = join(ROOT, `test/node/support/${tool}-stand-in.ts`);
  const node = `"${process.execPath}" --experimental-strip-types --disable-warning=ExperimentalWarning`;
  const text = `#!/bin/sh\nSTAND_IN_FOLDER="${folder}" exec ${node} "${program}" "$@"\n`;
  writeFileSync(join(folder, tool), text, { mode: 0o755 });
  return `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
}
