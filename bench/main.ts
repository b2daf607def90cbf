/** Runs a benchmark and prints what it found; docs/performance.md says how to read it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { HISTORY_SIZE_OPTIONS, parseHistorySize } from "../scripts/seed/history-size.ts";
import { measureDeadEndpoint } from "./dead-endpoint.ts";
import { measureDeliveries } from "./deliveries.ts";
import { measureLists } from "./lists.ts";
import { measureProjectRead } from "./project-read.ts";
import { type Finding, isMet, toTable } from "./report.ts";

const FEWEST_ROUNDS = 14;

const BENCHMARKS: Record<string, (folder: string) => Promise<void>> = {
  "project-read": (folder) => compare(measureProjectRead, folder),
  deliveries: (folder) => compare(measureDeliveries, folder),
  "dead-endpoint": (folder) => compare(measureDeadEndpoint, folder),
  lists: async (folder) => {
    process.stdout.write(`\n${await measureLists(parseHistorySize(values), folder)}\n`);
  },
};

/** Measures one thing against another in turns, and says whether the goals are met. */
async function compare(
  measure: (rounds: number, folder: string) => Promise<Finding>,
  folder: string,
): Promise<void> {
  const rounds = Math.max(FEWEST_ROUNDS, Number.parseInt(values.rounds, 10));
  const finding = await measure(rounds, folder);
  process.stdout.write(`\n${finding.title}\n\n${toTable(finding)}\n`);
  if (values.strict && !finding.rows.every(isMet)) process.exitCode = 1;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "40" },
    strict: { type: "boolean", default: false },
    ...HISTORY_SIZE_OPTIONS,
  },
});
const [name = "project-read"] = positionals;
const measure = BENCHMARKS[name];
if (!measure) throw new Error(`There is no benchmark "${name}": ${Object.keys(BENCHMARKS)}`);
const folder = mkdtempSync(join(tmpdir(), "longshore-bench-"));
try {
  await measure(folder);
} finally {
  rmSync(folder, { recursive: true });
}
