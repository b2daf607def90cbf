/** `npm run bench -- NAME`: runs a benchmark and prints its result (docs/performance.md). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { HISTORY_SIZE_OPTIONS, parseHistorySize } from "../scripts/seed/history-size.ts";
import { measureDeadEndpoint } from "./dead-endpoint.ts";
import { measureDeliveries } from "./deliveries.ts";
import { measureFairness } from "./fairness.ts";
import { measureLists } from "./lists.ts";
import { measureProjectRead } from "./project-read.ts";
import { type BenchmarkResult, isMet, toTable } from "./report.ts";

const MINIMUM_ROUNDS = 14;

const BENCHMARKS: Record<string, (folder: string) => Promise<void>> = {
  "project-read": (folder) => compare(measureProjectRead, folder),
  deliveries: (folder) => compare(measureDeliveries, folder),
  "dead-endpoint": (folder) => compare(measureDeadEndpoint, folder),
  fairness: (folder) => compare((_, to) => measureFairness(to), folder),
  lists: async (folder) => {
    process.stdout.write(`\n${await measureLists(parseHistorySize(values), folder)}\n`);
  },
};

/** With `--strict`, exits with 1 if a goal is not met. */
async function compare(
  measure: (rounds: number, folder: string) => Promise<BenchmarkResult>,
  folder: string,
): Promise<void> {
  const rounds = Math.max(MINIMUM_ROUNDS, Number.parseInt(values.rounds, 10));
  const result = await measure(rounds, folder);
  process.stdout.write(`\n${result.title}\n\n${toTable(result)}\n`);
  if (values.strict && !result.rows.every(isMet)) process.exitCode = 1;
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
if (!measure)
  throw new Error(`No benchmark "${name}". Choose one of ${Object.keys(BENCHMARKS).join(", ")}.`);
const folder = mkdtempSync(join(tmpdir(), "longshore-bench-"));
try {
  await measure(folder);
} finally {
  rmSync(folder, { recursive: true });
}
