import { MAXIMUM_BUNDLE_KB } from "../scripts/lib/bundle-gate.ts";
import { type Bundle, bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import { load, type Sample } from "./load.ts";
import type { BenchmarkResult, Row } from "./report.ts";
import { makeSeed, migrateAndInsert, projectRead, type Seed } from "./seed.ts";
import { pairedRatio, quantile, type Spread, shuffle, spread } from "./stats.ts";

const ENTRIES = {
  ours: "src/index.ts",
  raw: "bench/raw-worker.ts",
  idiomatic: "bench/idiomatic-worker.ts",
  noOp: "bench/no-op-worker.ts",
  withAssets: "src/index.ts",
} as const;

type Name = keyof typeof ENTRIES;
const NAMES = Object.keys(ENTRIES) as Name[];

/** Below the rate limit of 100 per minute and key; one more request warms up each key. */
const REQUESTS_PER_KEY = 90;
const SEQUENTIAL_KEYS = 1;
const CONCURRENT_KEYS = 4;
const KEYS_PER_ROUND = SEQUENTIAL_KEYS + CONCURRENT_KEYS;
const CONCURRENT_CONNECTIONS = 16;
const WARM_UP_ROUNDS = 2;
/**
 * 3 × 5 × 91 requests, below the rate limit of an organization (16 times that of a key), so that a
 * fast machine is not rate limited.
 */
const ROUNDS_PER_ORGANIZATION = 3;
const KILOBYTE = 1000;

/** The measurements of one Worker in one round. */
interface Measurement {
  /** Median latency over one connection, in milliseconds. */
  p50: number;
  /** Responses per second over 16 connections. */
  perSecond: number;
}

type Round = Record<Name, Measurement>;

/**
 * Compares a warm read of a project by the service, by the minimal Worker, by an idiomatic Worker, by a Worker
 * that does nothing, and by the service with its static assets. The others run without assets.
 */
export async function measureProjectRead(rounds: number, folder: string): Promise<BenchmarkResult> {
  const seeds = await makeSeeds(WARM_UP_ROUNDS + rounds);
  const bundles = forEachName((name) => bundle(ENTRIES[name], folder));
  const workers = await startWorkers(bundles, seeds);
  const run: Round[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    const seed = seeds[Math.floor(round / ROUNDS_PER_ORGANIZATION)];
    if (!seed) throw new Error(`Round ${round} has no organization`);
    run.push(await runRound(workers, seed, round % ROUNDS_PER_ORGANIZATION));
  }
  await Promise.all(NAMES.map((name) => workers[name].stop()));
  return {
    title: `Read of a project with a warm key, ${rounds} rounds`,
    rows: [...compare(run.slice(WARM_UP_ROUNDS)), ...describe(run.slice(WARM_UP_ROUNDS), bundles)],
  };
}

function makeSeeds(rounds: number): Promise<Seed[]> {
  const length = Math.ceil(rounds / ROUNDS_PER_ORGANIZATION);
  const keys = ROUNDS_PER_ORGANIZATION * KEYS_PER_ROUND;
  return Promise.all(Array.from({ length }, () => makeSeed(keys)));
}

/** Starts each Worker in its own runtime, with the same rows in its database. */
async function startWorkers(
  bundles: Record<Name, Bundle>,
  seeds: readonly Seed[],
): Promise<Record<Name, RunningWorker>> {
  const reads = seeds.map((seed) => ({ seed, ...projectRead(seed) }));
  const projects = reads.map(({ seed: { project }, parameters }) => [
    project.id,
    { parameters, organizationId: project.organizationId },
  ]);
  const bindings = { SQL: reads[0]?.sql ?? "", PROJECTS: Object.fromEntries(projects) };
  const workers = forEachName((name) =>
    start(bundles[name], bindings, { assets: name === "withAssets" }),
  );
  const [ours, raw, idiomatic, noOp, withAssets] = await Promise.all([
    workers.ours,
    workers.raw,
    workers.idiomatic,
    workers.noOp,
    workers.withAssets,
  ]);
  for (const { d1 } of [ours, raw, idiomatic, withAssets]) await migrateAndInsert(d1, ...seeds);
  return { ours, raw, idiomatic, noOp, withAssets };
}

/** Measures all Workers over one connection, then over 16, in a new order and with new keys. */
async function runRound(
  workers: Record<Name, RunningWorker>,
  seed: Seed,
  round: number,
): Promise<Round> {
  const path = `/v1/projects/${seed.project.id}`;
  const first = round * KEYS_PER_ROUND;
  const keys = seed.keys.slice(first, first + KEYS_PER_ROUND).map(({ key }) => key);
  const measurements = forEachName(() => ({ p50: 0, perSecond: 0 }));
  for (const name of shuffle(NAMES)) {
    const sample = await sampleWarm(
      new URL(path, workers[name].url),
      keys.slice(0, SEQUENTIAL_KEYS),
      1,
    );
    measurements[name].p50 = quantile(sample.latencies, 0.5);
  }
  for (const name of shuffle(NAMES)) {
    const sample = await sampleWarm(
      new URL(path, workers[name].url),
      keys.slice(SEQUENTIAL_KEYS),
      CONCURRENT_CONNECTIONS,
    );
    measurements[name].perSecond = sample.perSecond;
  }
  return measurements;
}

/**
 * Asks once with each key, so that the isolate knows it, and then measures. The keys take turns by
 * the burst, as callers do: a limiter saves its count every 200 ms at most, so it does so rarely.
 */
async function sampleWarm(url: URL, keys: readonly string[], connections: number): Promise<Sample> {
  await load(url, keys, 1);
  const bursts = keys.flatMap((key) => Array.from({ length: REQUESTS_PER_KEY }, () => key));
  return load(url, bursts, connections);
}

function compare(rounds: readonly Round[]): Row[] {
  const ratio = (of: Name, to: Name, what: keyof Measurement): Spread =>
    pairedRatio(
      rounds.map((round) => round[of][what]),
      rounds.map((round) => round[to][what]),
    );
  return [
    {
      what: "ours / raw, p50 at 1 connection",
      measured: ratio("ours", "raw", "p50"),
      goal: { bound: "at most", value: 1.08, aim: 1.05 },
    },
    {
      what: "ours / raw, requests/s at 16 connections",
      measured: ratio("ours", "raw", "perSecond"),
      goal: { bound: "at least", value: 0.93, aim: 0.96 },
    },
    {
      what: "idiomatic / ours, p50 at 1 connection",
      measured: ratio("idiomatic", "ours", "p50"),
      goal: { bound: "at least", value: 1.4 },
    },
    {
      what: "ours / idiomatic, requests/s at 16 connections",
      measured: ratio("ours", "idiomatic", "perSecond"),
    },
    { what: "ours / no-op, p50 at 1 connection", measured: ratio("ours", "noOp", "p50") },
    {
      what: "with assets / ours, p50 at 1 connection",
      measured: ratio("withAssets", "ours", "p50"),
    },
    {
      what: "with assets / ours, requests/s at 16 connections",
      measured: ratio("withAssets", "ours", "perSecond"),
    },
  ];
}

/** Absolute numbers, which depend on the machine, and the bundle size. */
function describe(rounds: readonly Round[], bundles: Record<Name, Bundle>): Row[] {
  const measure = (name: Name, what: keyof Measurement) =>
    spread(rounds.map((round) => round[name][what]));
  return [
    ...NAMES.map((name) => ({ what: `${name}, p50 in ms`, measured: measure(name, "p50") })),
    ...NAMES.map((name) => ({ what: `${name}, requests/s`, measured: measure(name, "perSecond") })),
    {
      what: "bundle, KB after gzip",
      measured: bundles.ours.compressed / KILOBYTE,
      goal: { bound: "at most", value: MAXIMUM_BUNDLE_KB, aim: 200 },
    },
  ];
}

function forEachName<Value>(make: (name: Name) => Value): Record<Name, Value> {
  return {
    ours: make("ours"),
    raw: make("raw"),
    idiomatic: make("idiomatic"),
    noOp: make("noOp"),
    withAssets: make("withAssets"),
  };
}
