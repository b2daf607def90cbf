import { setTimeout as sleep } from "node:timers/promises";
import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import {
  allDelivered,
  type Delivery,
  insertDeliveries,
  insertIntegrations,
  KEYRING,
} from "./outbox.ts";
import { type Hanging, type Receiver, startHanging, startReceiver } from "./receiver.ts";
import type { Finding, Row } from "./report.ts";
import { fill, makeSeed, type Seed } from "./seed.ts";
import { pairedRatio, quantile, shuffle, spread } from "./stats.ts";

const EVENTS = 100;
const PACE_MS = 40;
const WARM_UP_ROUNDS = 2;
/** So long the service may take to notice that an endpoint has hung up. */
const QUIET_MS = 250;

/** Who hears of an event beside the endpoint that is measured. */
const COMPANIES = ["nobody", "healthy", "dead"] as const;
type Company = (typeof COMPANIES)[number];

/** Of the time from the ring for an event to its arrival, in milliseconds. */
interface Latency {
  median: number;
  p90: number;
}

interface Stage {
  worker: RunningWorker;
  receiver: Receiver;
  hanging: Hanging;
  seed: Seed;
}

/**
 * How soon events arrive at a healthy endpoint that alone wants them; beside another healthy one; and
 * beside one that never answers, of which the service does not know yet.
 */
export async function measureDeadEndpoint(rounds: number, folder: string): Promise<Finding> {
  const [receiver, hanging, seed] = await Promise.all([
    startReceiver(),
    startHanging(),
    makeSeed(0),
  ]);
  const worker = await start(bundle("src/index.ts", folder), {
    ENCRYPTION_KEYS: KEYRING,
    LEASE_SECRET: "bench",
    ALLOW_INSECURE_WEBHOOKS: "true",
  });
  await fill(worker.d1, seed);
  const run: Record<Company, Latency>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    run.push(await runRound({ worker, receiver, hanging, seed }));
  }
  await worker.stop();
  receiver.close();
  hanging.close();
  return {
    title: `From the ring to the arrival, ${EVENTS} events, one in ${PACE_MS} ms, ${rounds} rounds`,
    rows: compare(run.slice(WARM_UP_ROUNDS)),
  };
}

/** Each company once, in a new random order. */
async function runRound(stage: Stage): Promise<Record<Company, Latency>> {
  const none = { median: 0, p90: 0 };
  const latencies = { nobody: none, healthy: none, dead: none };
  for (const company of shuffle(COMPANIES)) latencies[company] = await measure(stage, company);
  return latencies;
}

async function measure(stage: Stage, company: Company): Promise<Latency> {
  const { worker, receiver, hanging } = stage;
  // They are new each time: the service would remember of a dead one that it is dead.
  const own = await plant(stage, receiver.url);
  const other =
    company === "nobody" ? [] : await plant(stage, (company === "dead" ? hanging : receiver).url);
  const heard = receiver.hear(company === "healthy" ? 2 * EVENTS : EVENTS);
  const due = [
    ...own.map((delivery, at) => ({ delivery, dueMs: at * PACE_MS })),
    ...other.map((delivery, at) => ({ delivery, dueMs: (at + Math.random()) * PACE_MS })),
  ];
  const rungAt = await ringWhenDue(worker, due);
  await heard;
  const latencies = own.map((delivery) => {
    const arrivedAt = receiver.heardAt(`/${delivery.integration}`, delivery.event);
    return (arrivedAt ?? Number.NaN) - (rungAt.get(delivery) ?? Number.NaN);
  });
  if (company === "dead") await bury(stage, other);
  await allDelivered(worker.d1);
  return { median: quantile(latencies, 0.5), p90: quantile(latencies, 0.9) };
}

/** Events that a new integration at a URL wants. */
async function plant({ worker: { d1 }, seed }: Stage, url: string): Promise<Delivery[]> {
  const integrations = await insertIntegrations(d1, seed, { receiver: url, count: 1 });
  return insertDeliveries(d1, seed, { integrations, events: EVENTS });
}

/** Rings for each delivery at its time, counted from now; gives when it did. */
async function ringWhenDue(
  { queue }: RunningWorker,
  due: readonly { delivery: Delivery; dueMs: number }[],
): Promise<Map<Delivery, number>> {
  const rungAt = new Map<Delivery, number>();
  const under: Promise<unknown>[] = [];
  const start = performance.now();
  for (const { delivery, dueMs } of due.toSorted((one, other) => one.dueMs - other.dueMs)) {
    await sleep(Math.max(0, start + dueMs - performance.now()));
    rungAt.set(delivery, performance.now());
    under.push(queue.send({ delivery_id: delivery.id }, { contentType: "json" }));
  }
  await Promise.all(under);
  return rungAt;
}

/** Ends what a dead endpoint has left behind, so that nothing of it burdens the next measurement. */
async function bury(
  { worker: { d1 }, hanging }: Stage,
  [delivery]: readonly Delivery[],
): Promise<void> {
  await hanging.holds(EVENTS);
  await d1
    .prepare("delete from deliveries where integration_id = ?")
    .bind(delivery?.integration)
    .run();
  hanging.letGo();
  await sleep(QUIET_MS);
}

function compare(rounds: readonly Record<Company, Latency>[]): Row[] {
  const of = (company: Company, what: keyof Latency) => rounds.map((round) => round[company][what]);
  const ratio = (one: Company, other: Company, what: keyof Latency) =>
    pairedRatio(of(one, what), of(other, what));
  return [
    {
      what: "beside a dead one / alone, median",
      measured: ratio("dead", "nobody", "median"),
      goal: { bound: "at most", value: 1.1 },
    },
    {
      what: "beside a dead one / beside a healthy one, median",
      measured: ratio("dead", "healthy", "median"),
    },
    { what: "beside a dead one / alone, p90", measured: ratio("dead", "nobody", "p90") },
    ...COMPANIES.flatMap((company) =>
      (["median", "p90"] as const).map((what) => ({
        what: `${NAMES[company]}, ${what} in ms`,
        measured: spread(of(company, what)),
      })),
    ),
  ];
}

const NAMES: Record<Company, string> = {
  nobody: "alone",
  healthy: "beside a healthy one",
  dead: "beside a dead one",
};
