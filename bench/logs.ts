import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import { insertAttempts, LEASE_SECRET, type SeededAttempt } from "./log-seed.ts";
import { type LogTarget, logOfBareObject, logOfService } from "./log-target.ts";
import type { BenchmarkResult, Goal, Row } from "./report.ts";
import { makeSeed, migrateAndInsert } from "./seed.ts";
import { pairedRatio, quantile, shuffle, spread } from "./stats.ts";

const KIB = 1024;
const MEGABYTE = 1_000_000;
const CONCURRENT_LOGS = 100;
/** The window of one organization would refuse the appends of all logs. */
const ORGANIZATIONS = 4;
const WARM_UP_ROUNDS = 2;

const LINES = 50;
/** Between two lines; longer than any pace of the notifications to one follower. */
const LINE_INTERVAL_MS = 10;
const SMALL = { appends: 200, bytes: KIB } as const;
const LARGE = { appends: 24, bytes: 256 * KIB } as const;
/** In each round; 40 rounds remain below the limits of a token and of the size of a log. */
const CONCURRENT = { appends: 20, bytes: 4 * KIB } as const;

const NAMES = ["ours", "bare"] as const;
type Name = (typeof NAMES)[number];

interface Measurement {
  /** From the request with a line to its arrival at the follower, in milliseconds. */
  latencies: number[];
  smallPerSecond: number;
  largeMegabytesPerSecond: number;
  concurrentPerSecond: number;
}

interface Fixture {
  /** A new log in each round. */
  single: LogTarget[];
  concurrent: LogTarget[];
}

/**
 * Compares the logs of the service with a bare Durable Object that only appends and relays: the
 * throughput of appends, and the time from a printed line to a follower.
 */
export async function measureLogs(rounds: number, folder: string): Promise<BenchmarkResult> {
  const [ours, bare] = await Promise.all([
    start(bundle("src/index.ts", folder), { LEASE_SECRET }),
    start(bundle("bench/bare-log.ts", folder), {}),
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT_LOGS });
  const fixtures = {
    ours: await prepareService(agent, ours, WARM_UP_ROUNDS + rounds),
    bare: prepareBareObject(agent, bare, WARM_UP_ROUNDS + rounds),
  };
  const run: Record<Name, Measurement>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    run.push(await runRound(fixtures, round));
  }
  agent.destroy();
  await Promise.all([ours.stop(), bare.stop()]);
  return {
    title: `Logs beside a bare object, ${rounds} rounds`,
    rows: compare(run.slice(WARM_UP_ROUNDS)),
  };
}

async function prepareService(
  agent: Agent,
  { url, d1 }: RunningWorker,
  singles: number,
): Promise<Fixture> {
  const seeds = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => makeSeed(1)));
  await migrateAndInsert(d1, ...seeds);
  const logs = async (count: number) => {
    const targets: LogTarget[] = [];
    for (const seed of seeds) {
      const share = Math.ceil(count / ORGANIZATIONS);
      const toLog = (attempt: SeededAttempt) =>
        logOfService(agent, url, attempt, seed.keys[0]?.key ?? "");
      targets.push(...(await insertAttempts(d1, seed, share)).map(toLog));
    }
    return targets;
  };
  return { single: await logs(singles), concurrent: await logs(CONCURRENT_LOGS) };
}

function prepareBareObject(agent: Agent, { url }: RunningWorker, singles: number): Fixture {
  const logs = (kind: string, length: number) =>
    Array.from({ length }, (_, at) => logOfBareObject(agent, url, `${kind}-${at}`));
  return { single: logs("single", singles), concurrent: logs("concurrent", CONCURRENT_LOGS) };
}

/** Takes each measurement of both, in a new random order. */
async function runRound(
  fixtures: Record<Name, Fixture>,
  round: number,
): Promise<Record<Name, Measurement>> {
  const singleOf = (name: Name) => {
    const log = fixtures[name].single[round];
    if (!log) throw new Error(`Round ${round} has no log`);
    return log;
  };
  const latencies = await measureEach((name) => measureLatencies(singleOf(name)));
  const small = await measureEach((name) => measureAppends([singleOf(name)], SMALL));
  const large = await measureEach((name) => measureAppends([singleOf(name)], LARGE));
  const all = await measureEach((name) => measureAppends(fixtures[name].concurrent, CONCURRENT));
  const toMeasurement = (name: Name): Measurement => ({
    latencies: latencies[name],
    smallPerSecond: small[name],
    largeMegabytesPerSecond: (large[name] * LARGE.bytes) / MEGABYTE,
    concurrentPerSecond: all[name],
  });
  return { ours: toMeasurement("ours"), bare: toMeasurement("bare") };
}

async function measureEach<Value>(
  measure: (name: Name) => Promise<Value>,
): Promise<Record<Name, Value>> {
  const values = new Map<Name, Value>();
  for (const name of shuffle(NAMES)) values.set(name, await measure(name));
  return { ours: values.get("ours") as Value, bare: values.get("bare") as Value };
}

/** One line after the other: each is sent after the one before has arrived. */
async function measureLatencies(log: LogTarget): Promise<number[]> {
  await log.append(Buffer.from("The first append creates the log.\n"));
  const follower = await log.follow();
  const latencies: number[] = [];
  for (let number = 0; number < LINES; number++) {
    const line = `Line ${number} of ${LINES}: ${"creating the bucket, ".repeat(4)}`;
    const began = performance.now();
    const arrived = follower.waitFor(line);
    await log.append(Buffer.from(`${line}\n`));
    latencies.push((await arrived) - began);
    await sleep(LINE_INTERVAL_MS);
  }
  follower.close();
  return latencies;
}

/** Appends per second over all logs, each of which gets one append after the other. */
async function measureAppends(
  logs: readonly LogTarget[],
  { appends, bytes }: { appends: number; bytes: number },
): Promise<number> {
  const chunk = Buffer.alloc(bytes, "Creating the bucket, which takes a while.\n");
  const began = performance.now();
  await Promise.all(
    logs.map(async (log) => {
      for (let count = 0; count < appends; count++) await log.append(chunk);
    }),
  );
  return (logs.length * appends) / ((performance.now() - began) / 1000);
}

type Figure = (measurement: Measurement) => number;

const latencyAt =
  (p: number): Figure =>
  ({ latencies }) =>
    quantile(latencies, p);

const FIGURES: { what: string; of: Figure; goal: Goal }[] = [
  {
    what: "ms from line to follower, median",
    of: latencyAt(0.5),
    goal: { bound: "at most", value: 2 },
  },
  {
    what: "one log, appends/s of 1 KiB",
    of: ({ smallPerSecond }) => smallPerSecond,
    goal: { bound: "at least", value: 0.5 },
  },
  {
    what: "one log, MB/s in appends of 256 KiB",
    of: ({ largeMegabytesPerSecond }) => largeMegabytesPerSecond,
    goal: { bound: "at least", value: 0.5 },
  },
  {
    what: `${CONCURRENT_LOGS} logs, appends/s of 4 KiB`,
    of: ({ concurrentPerSecond }) => concurrentPerSecond,
    goal: { bound: "at least", value: 0.45 },
  },
];

function compare(rounds: readonly Record<Name, Measurement>[]): Row[] {
  const figures = (name: Name, of: Figure) => rounds.map((round) => of(round[name]));
  const slowest = (name: Name) =>
    quantile(
      rounds.flatMap((round) => round[name].latencies),
      0.99,
    );
  return [
    ...FIGURES.map(({ what, of, goal }) => ({
      what: `ours / bare, ${what}`,
      measured: pairedRatio(figures("ours", of), figures("bare", of)),
      goal,
    })),
    {
      what: "ours / bare, ms from line to follower, p99",
      measured: slowest("ours") / slowest("bare"),
    },
    ...NAMES.flatMap((name) => [
      ...FIGURES.map(({ what, of }) => ({
        what: `${name}, ${what}`,
        measured: spread(figures(name, of)),
      })),
      { what: `${name}, ms from line to follower, p99`, measured: slowest(name) },
    ]),
  ];
}
