/** Runs a benchmark and prints what it found; docs/performance.md says how to read it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureDeliveries } from "./deliveries.ts";
import { measureProjectRead } from "./project-read.ts";
import { type Finding, isMet, toTable } from "./report.ts";

const FEWEST_ROUNDS = 14;

const BENCHMARKS: Record<string, (rounds: number, folder: string) => Promise<Finding>> = {
  "project-read": measureProjectRead,
  deliveries: measureDeliveries,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "40" },
    strict: { type: "boolean", default: false },
  },
});
const [name = "project-read"] = positionals;
const measure = BENCHMARKS[name];
if (!measure) throw new Error(`There is no benchmark "${name}": ${Object.keys(BENCHMARKS)}`);
const rounds = Math.max(FEWEST_ROUNDS, Number.parseInt(values.rounds, 10));
const folder = mkdtempSync(join(tmpdir(), "longshore-bench-"));
try {
  const finding = await measure(rounds, folder);
  process.stdout.write(`\n${finding.title}\n\n${toTable(finding)}\n`);
  if (values.strict && !finding.rows.every(isMet)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
