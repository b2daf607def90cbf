import { setTimeout as sleep } from "node:timers/promises";
import { newSecrets } from "../packages/server/src/secrets.ts";
import { applyMigrations } from "../scripts/lib/migrations.ts";
import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import { Caller } from "./neighbour/caller.ts";
import { type Counts, newFlood } from "./neighbour/flood.ts";
import type { BenchmarkResult, Row } from "./report.ts";
import { insertSeed, makeSeed, type Seed } from "./seed.ts";
import { quantile } from "./stats.ts";

const KEYS = 20;
/** Between two requests of one key or token. */
const PAUSE_MS = 100;
/** Of the other organization: its requests stay below the limits of its keys. */
const PROBE_KEYS = 8;
const PROBE_PAUSE_MS = 200;
const GOALS = { median: 1.5, slow: 3, megabytesPerMinute: 20 } as const;

/** In milliseconds. */
interface Latencies {
  reads: number[];
  writes: number[];
}

interface Phase extends Latencies {
  counts: Counts;
}

/**
 * Measures what another organization notices while one sends the most expensive requests that it may, with
 * 20 keys and 5 runner tokens, compared with as many requests that are refused: on a machine where all
 * share the processor, those show what is not the database.
 */
export async function measureNeighbour(seconds: number, folder: string): Promise<BenchmarkResult> {
  const secrets = newSecrets();
  const worker = await start(bundle("bench/neighbour/database-worker.ts", folder), secrets);
  const origin = { DATABASE_ORIGIN: worker.url.href };
  const remote = await start(bundle("bench/neighbour/remote-worker.ts", folder), {
    ...secrets,
    ...origin,
  });
  try {
    await applyMigrations(worker.d1);
    const [flooding, other] = await Promise.all([makeSeed(KEYS), makeSeed(PROBE_KEYS)]);
    await insertSeed(worker.d1, flooding);
    await insertSeed(worker.d1, other);
    const flood = await newFlood(callersOf(remote, flooding), worker.d1);
    const probe = (send: (signal: AbortSignal) => Promise<Counts>) =>
      runPhase(send, seconds, callersOf(worker, other), other);
    const refused = await probe((signal) => flood.sendRefused(PAUSE_MS, signal));
    const before = await megabytesOf(worker);
    const worst = await probe((signal) => flood.sendWorst(PAUSE_MS, signal));
    const growth = ((await megabytesOf(worker)) - before) / (seconds / 60);
    return {
      title: `Beside the flood of another organization, ${seconds} s`,
      rows: [
        ...compare("reads", refused.reads, worst.reads),
        ...compare("writes", refused.writes, worst.writes),
        {
          what: "growth of the database, MB a minute",
          measured: growth,
          goal: { bound: "at most", value: GOALS.megabytesPerMinute },
        },
        { what: "requests of the flood, admitted", measured: worst.counts.admitted },
        { what: "requests of the flood, refused", measured: worst.counts.refused },
        { what: "requests that are all refused, in comparison", measured: refused.counts.refused },
      ],
    };
  } finally {
    await Promise.all([worker.stop(), remote.stop()]);
  }
}

function callersOf({ url }: RunningWorker, { keys }: Seed): Caller[] {
  return keys.map(({ key }) => new Caller(url, key));
}

async function runPhase(
  send: (signal: AbortSignal) => Promise<Counts>,
  seconds: number,
  callers: readonly Caller[],
  { project }: Seed,
): Promise<Phase> {
  const { signal } = { signal: AbortSignal.timeout(seconds * 1_000) };
  const flood = send(signal);
  const latencies: Latencies = { reads: [], writes: [] };
  const path = `/v1/projects/${project.id}`;
  for (let at = 0; !signal.aborted; at += 1) {
    const caller = callers[at % callers.length];
    if (!caller) break;
    const isWrite = at % 3 === 0;
    const body = { description: `Description ${at}` };
    const { status, milliseconds } = await (isWrite
      ? caller.send("PATCH", path, body)
      : caller.send("GET", path));
    if (status !== 200) throw new Error(`The other organization got ${status}`);
    latencies[isWrite ? "writes" : "reads"].push(milliseconds);
    await sleep(PROBE_PAUSE_MS);
  }
  return { ...latencies, counts: await flood };
}

function compare(what: string, refused: readonly number[], worst: readonly number[]): Row[] {
  const ratio = (p: number) => quantile(worst, p) / quantile(refused, p);
  return [
    { what: `${what}, median in ms beside refusals`, measured: quantile(refused, 0.5) },
    { what: `${what}, median in ms beside the flood`, measured: quantile(worst, 0.5) },
    { what: `${what}, 95th percentile in ms beside refusals`, measured: quantile(refused, 0.95) },
    { what: `${what}, 95th percentile in ms beside the flood`, measured: quantile(worst, 0.95) },
    {
      what: `${what}, ratio of the medians`,
      measured: ratio(0.5),
      goal: { bound: "at most", value: GOALS.median },
    },
    {
      what: `${what}, ratio of the 95th percentiles`,
      measured: ratio(0.95),
      goal: { bound: "at most", value: GOALS.slow },
    },
  ];
}

async function megabytesOf({ d1 }: RunningWorker): Promise<number> {
  const { meta } = await d1.prepare("select 1").run();
  return meta.size_after / 1_000_000;
}
