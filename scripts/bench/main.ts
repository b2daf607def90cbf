/** Runs the benchmarks and prints what they found; docs/performance.md says how to read it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureProjectRead } from "./project-read.ts";
import { isMet, toTable } from "./report.ts";

const BENCHMARKS = [measureProjectRead];
const FEWEST_ROUNDS = 14;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "40" },
    strict: { type: "boolean", default: false },
  },
});
const rounds = Math.max(FEWEST_ROUNDS, Number.parseInt(values.rounds, 10));
const folder = mkdtempSync(join(tmpdir(), "longshore-bench-"));
try {
  for (const measure of BENCHMARKS) {
    const finding = await measure(rounds, folder);
    process.stdout.write(`\n${finding.title}\n\n${toTable(finding)}\n`);
    if (values.strict && !finding.rows.every(isMet)) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
