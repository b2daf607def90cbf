/** `npm run bench -- NAME`: runs a benchmark and prints its result (docs/performance.md). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { HISTORY_SIZE_OPTIONS, parseHistorySize } from "../scripts/seed/history-size.ts";
import { measureConsole } from "./console.ts";
import { measureDeadEndpoint } from "./dead-endpoint.ts";
import { measureDeliveries } from "./deliveries.ts";
import { measureFairness } from "./fairness.ts";
import { measureGrowth } from "./growth.ts";
import { measureLists } from "./lists.ts";
import { measureLogs } from "./logs.ts";
import { measureMicro } from "./micro.ts";
import { measureNeighbour } from "./neighbour.ts";
import { measureProjectRead } from "./project-read.ts";
import { type BenchmarkResult, isMet, toTable } from "./report.ts";
import { measureServer } from "./server.ts";
import { measureStartup } from "./startup.ts";
import { measureUnits } from "./units.ts";

const ROUNDS = { minimum: 14, default: 40 } as const;
/** A round starts several processes. */
const STARTUP_ROUNDS = { minimum: 7, default: 15 } as const;

const BENCHMARKS: Record<string, (folder: string) => Promise<void>> = {
  "project-read": (folder) => compare(measureProjectRead, folder),
  micro: async (folder) => {
    const { times, comparison } = await measureMicro(readRounds(ROUNDS), folder, values.against);
    process.stdout.write(`\n${times}\n`);
    if (comparison.rows.length > 0) report(comparison);
  },
  startup: async (folder) => {
    report(await measureStartup(readRounds(STARTUP_ROUNDS), folder, values.against));
  },
  deliveries: (folder) => compare(measureDeliveries, folder),
  "dead-endpoint": (folder) => compare(measureDeadEndpoint, folder),
  logs: (folder) => compare(measureLogs, folder),
  fairness: (folder) => compare((_, to) => measureFairness(to), folder),
  growth: async (folder) => {
    report(await measureGrowth(parseCount("rows"), folder));
  },
  neighbour: async (folder) => {
    report(await measureNeighbour(parseCount("seconds"), folder));
  },
  server: async (folder) => {
    process.stdout.write(`\n${await measureServer(folder)}\n`);
  },
  units: (folder) => compare(measureUnits, folder),
  console: async (folder) => report(await measureConsole(folder)),
  lists: async (folder) => {
    process.stdout.write(`\n${await measureLists(parseHistorySize(values), folder)}\n`);
  },
};

async function compare(
  measure: (rounds: number, folder: string) => Promise<BenchmarkResult>,
  folder: string,
): Promise<void> {
  report(await measure(readRounds(ROUNDS), folder));
}

function readRounds({ minimum, default: usual }: typeof ROUNDS | typeof STARTUP_ROUNDS): number {
  return Math.max(
    minimum,
    values.rounds === undefined ? usual : Number.parseInt(values.rounds, 10),
  );
}

/** With `--strict`, a missed goal makes the command exit with 1. */
function report(result: BenchmarkResult): void {
  process.stdout.write(`\n${result.title}\n\n${toTable(result)}\n`);
  if (values.strict && !result.rows.every(isMet)) process.exitCode = 1;
}

function parseCount(name: "rows" | "seconds"): number {
  const text = values[name];
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new Error(`Set --${name} to a whole number; "${text}" is not one.`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    against: { type: "string" },
    rows: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "120" },
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
