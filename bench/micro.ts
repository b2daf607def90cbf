import { createHash } from "node:crypto";
import { join } from "node:path";
import { ROOT } from "../scripts/lib/wrangler.ts";
import { build, recordCheckout, startReplay } from "./micro/checkout.ts";
import { OPERATION_NAMES, type OperationName, type Operations } from "./micro/operations.ts";
import type { RawOperation } from "./micro/raw-worker.ts";
import { type BenchmarkResult, type Row, renderTable } from "./report.ts";
import { pairedRatio, type Spread, shuffle, spread } from "./stats.ts";
import type { Workerd } from "./workerd.ts";

/** In a round, the Workers take turns as often with each operation. */
const TURNS = 3;
const MICROSECONDS_PER_TURN = 30_000;
/** The request around the calls of a turn takes about a millisecond, which is part of the result. */
const MINIMUM_CALLS = 25;
/** V8 has optimized the code after about a thousand calls of an operation. */
const WARM_UP = { rounds: 10, calls: 35 } as const;
const ALL = "all ten";

/** `other` is the service of another checkout. */
type Name = "ours" | "raw" | "other";
/** Microseconds of processor time per call. */
type Round = ReadonlyMap<string, number>;

/**
 * Measures the processor time of a call of the bundled service, and of a Worker that does the minimum,
 * with bindings that answer at once.
 * @param against The folder of another checkout, to compare with.
 */
export async function measureMicro(
  rounds: number,
  folder: string,
  against?: string,
): Promise<{ times: string; comparison: BenchmarkResult }> {
  const workers = await startWorkers(folder, against);
  try {
    let warm: Round = new Map();
    for (let round = 0; round < WARM_UP.rounds; round += 1) {
      warm = await runRound(workers, () => WARM_UP.calls);
    }
    const callsOf = (operation: OperationName) =>
      Math.max(MINIMUM_CALLS, Math.ceil(MICROSECONDS_PER_TURN / timeOf(warm, "ours", operation)));
    const run: Round[] = [];
    for (let round = 0; round < rounds; round += 1) run.push(await runRound(workers, callsOf));
    const title = `Processor time with bindings that answer at once, ${rounds} rounds`;
    const rows = against === undefined ? [] : compare(run);
    return { times: renderTimes(run, workers.has("other")), comparison: { title, rows } };
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.stop()));
  }
}

async function startWorkers(
  folder: string,
  against: string | undefined,
): Promise<ReadonlyMap<Name, Workerd>> {
  const start = async (root: string, to: string) => {
    const service = await recordCheckout(root, to);
    const bindings = { ...service.settings, OPERATIONS: service.operations };
    return { ...service, worker: await startReplay(root, service.source, bindings) };
  };
  const ours = await start(ROOT, folder);
  const raw = await startReplay(ROOT, build("raw-worker.ts"), {
    OPERATIONS: ours.operations,
    ...toRawBindings(ours.operations),
  });
  const workers = new Map<Name, Workerd>([
    ["ours", ours.worker],
    ["raw", raw],
  ]);
  if (against !== undefined) {
    workers.set("other", (await start(against, join(folder, "other"))).worker);
  }
  return workers;
}

/** The same statements, calls and replies as of the recorded service. */
function toRawBindings(operations: Operations) {
  const all = Object.values(operations);
  const entries = all.map(({ request: { method, path }, recording }): [string, RawOperation] => {
    const { trips, calls, status, body } = recording;
    const [pathname] = path.split("?");
    return [`${method} ${pathname}`, { trips, calls, status, reply: JSON.parse(body || "null") }];
  });
  const digests = all.map(({ request: { headers } }) =>
    createHash("sha256")
      .update(headers["x-api-key"] ?? "")
      .digest("hex"),
  );
  return { RAW: Object.fromEntries(entries), DIGESTS: [...new Set(digests)] };
}

/** Each operation, in a new random order. */
async function runRound(
  workers: ReadonlyMap<Name, Workerd>,
  callsOf: (operation: OperationName) => number,
): Promise<Round> {
  const times = new Map<string, number>();
  for (const operation of shuffle(OPERATION_NAMES)) {
    const calls = callsOf(operation);
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const [name, worker] of shuffle([...workers])) {
        const time = (await measure(worker, operation, calls)) / (TURNS * calls);
        const what = `${name} ${operation}`;
        times.set(what, (times.get(what) ?? 0) + time);
      }
    }
  }
  for (const name of workers.keys()) {
    const sum = OPERATION_NAMES.reduce((all, each) => all + timeOf(times, name, each), 0);
    times.set(`${name} ${ALL}`, sum / OPERATION_NAMES.length);
  }
  return times;
}

/** The microseconds of all calls. */
async function measure(worker: Workerd, operation: OperationName, calls: number): Promise<number> {
  const query = new URLSearchParams({ operation, count: String(calls) });
  const before = worker.cpuMicroseconds();
  const response = await fetch(new URL(`/bench/replay?${query}`, worker.url), { method: "POST" });
  if (!response.ok) throw new Error(`${operation}: ${response.status} ${await response.text()}`);
  return worker.cpuMicroseconds() - before;
}

type What = OperationName | typeof ALL;

function timeOf(round: Round, name: Name, what: What): number {
  return round.get(`${name} ${what}`) ?? Number.NaN;
}

function overheads(run: readonly Round[], name: Name, what: What): number[] {
  return run.map((round) => timeOf(round, name, what) - timeOf(round, "raw", what));
}

function newToOld(run: readonly Round[], what: What): Spread {
  return pairedRatio(overheads(run, "ours", what), overheads(run, "other", what));
}

/** Medians in microseconds per call, as a Markdown table. */
function renderTimes(run: readonly Round[], hasOther: boolean): string {
  const median = (values: readonly number[]) => spread(values).median.toFixed(0);
  const head = ["µs per call", "ours", "raw", "ours − raw"];
  const rows = [...OPERATION_NAMES, ALL as What].map((what) => {
    const time = (name: Name) => median(run.map((round) => timeOf(round, name, what)));
    const cells = [what, time("ours"), time("raw"), median(overheads(run, "ours", what))];
    if (!hasOther) return cells;
    const { median: ratio, lower, upper } = newToOld(run, what);
    const quartiles = `${lower.toFixed(2)} to ${upper.toFixed(2)}`;
    const old = [time("other"), median(overheads(run, "other", what))];
    return [...cells, ...old, ratio.toFixed(3), quartiles];
  });
  const others = hasOther ? ["other", "other − raw", "new / old", "quartiles"] : [];
  return renderTable([...head, ...others], rows);
}

function compare(run: readonly Round[]): Row[] {
  return [
    {
      what: "(ours − raw), new / old, read of a project",
      measured: newToOld(run, "read a project"),
    },
    {
      what: "(ours − raw), new / old, ten operations",
      measured: newToOld(run, ALL),
      goal: { bound: "at most", value: 1.1 },
    },
  ];
}
