/** `npm run bench -- NAME`: runs a benchmark and prints its result (docs/performance.md). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { HISTORY_SIZE_OPTIONS, parseHistorySize } from "../scripts/seed/history-size.ts";
import { measureDeliveries } from "./deliveries.ts";
import { measureLists } from "./lists.ts";
import { measureMicro } from "./micro.ts";
import { measureNeighbour } from "./neighbour.ts";
import { measureProjectRead } from "./project-read.ts";
import { type BenchmarkResult, isMet, toTable } from "./report.ts";
import { measureServer } from "./server.ts";
import { measureStartup } from "./startup.ts";

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
  neighbour: async (folder) => {
    report(await measureNeighbour(readSeconds(), folder));
  },
  server: async (folder) => {
    process.stdout.write(`\n${await measureServer(folder)}\n`);
  },
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

function readSeconds(): number {
  const { seconds } = values;
  if (/^[1-9]\d{0,7}$/.test(seconds)) return Number(seconds);
  throw new Error(`Set --seconds to a whole number; "${seconds}" is not one.`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    against: { type: "string" },
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
