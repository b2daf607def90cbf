import { setTimeout as sleep } from "node:timers/promises";
import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import { wakeConsumers } from "../src/features/notifications/delivery/wake-up.ts";
import { systemClock } from "../src/lib/clock.ts";
import {
  type Delivery,
  insertDeliveries,
  insertIntegrations,
  KEYRING,
  newDeliveries,
  waitUntilDelivered,
} from "./outbox.ts";
import {
  type Receiver,
  startReceiver,
  startUnresponsiveEndpoint,
  type UnresponsiveEndpoint,
} from "./receiver.ts";
import type { BenchmarkResult, Row } from "./report.ts";
import { makeSeed, migrateAndInsert, type Seed } from "./seed.ts";
import { pairedRatio, quantile, shuffle, spread } from "./stats.ts";

const EVENTS = 100;
const INTERVAL_MS = 40;
/** Longer than the insertion of all deliveries takes. */
const INSERT_MS = 1_000;
/** A message must not arrive before its delivery is due. */
const DUE_MARGIN_MS = 1;
const WARM_UP_ROUNDS = 2;
/** Time for the service to notice closed connections. */
const CLOSE_DELAY_MS = 250;

/** The second endpoint that receives the same events. */
const NEIGHBORS = ["none", "healthy", "dead"] as const;
type Neighbor = (typeof NEIGHBORS)[number];

/** Time from when a delivery is due to its arrival, in milliseconds. */
interface Latency {
  median: number;
  p90: number;
}

interface Fixture {
  worker: RunningWorker;
  receiver: Receiver;
  unresponsive: UnresponsiveEndpoint;
  seed: Seed;
}

/**
 * Measures the latency to a healthy endpoint: alone, beside another healthy one, and beside one that
 * never answers and that the service does not yet know to be slow.
 */
export async function measureDeadEndpoint(
  rounds: number,
  folder: string,
): Promise<BenchmarkResult> {
  const [receiver, unresponsive, seed] = await Promise.all([
    startReceiver(),
    startUnresponsiveEndpoint(),
    makeSeed(0),
  ]);
  const worker = await start(bundle("src/index.ts", folder), {
    ENCRYPTION_KEYS: KEYRING,
    ALLOW_INSECURE_WEBHOOKS: "true",
  });
  await migrateAndInsert(worker.d1, seed);
  const run: Record<Neighbor, Latency>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    run.push(await runRound({ worker, receiver, unresponsive, seed }));
  }
  await worker.stop();
  receiver.close();
  unresponsive.close();
  return {
    title: `From due time to arrival, ${EVENTS} events, one in ${INTERVAL_MS} ms, ${rounds} rounds`,
    rows: compare(run.slice(WARM_UP_ROUNDS)),
  };
}

/** Measures each neighbor once, in a new random order. */
async function runRound(fixture: Fixture): Promise<Record<Neighbor, Latency>> {
  const zero = { median: 0, p90: 0 };
  const latencies = { none: zero, healthy: zero, dead: zero };
  for (const neighbor of shuffle(NEIGHBORS)) latencies[neighbor] = await measure(fixture, neighbor);
  return latencies;
}

async function measure(fixture: Fixture, neighbor: Neighbor): Promise<Latency> {
  const { worker, receiver, unresponsive } = fixture;
  // New integrations each time, because the service remembers unresponsive ones.
  const own = await newEvents(fixture, receiver.url);
  const other =
    neighbor === "none"
      ? []
      : await newEvents(fixture, (neighbor === "dead" ? unresponsive : receiver).url);
  const received = receiver.waitFor(neighbor === "healthy" ? 2 * EVENTS : EVENTS);
  const due = [
    ...own.map((delivery, at) => ({ delivery, dueMs: at * INTERVAL_MS })),
    ...other.map((delivery, at) => ({ delivery, dueMs: (at + Math.random()) * INTERVAL_MS })),
  ];
  const dueAt = await sendWhenDue(fixture, due);
  await received;
  const latencies = own.map((delivery) => {
    const arrivedAt = receiver.receivedAt(`/${delivery.integration}`, delivery.event);
    return (arrivedAt ?? Number.NaN) - (dueAt.get(delivery) ?? Number.NaN);
  });
  if (neighbor === "dead") await discard(fixture, other);
  await waitUntilDelivered(worker.d1);
  return { median: quantile(latencies, 0.5), p90: quantile(latencies, 0.9) };
}

/** Inserts a new integration; returns the deliveries that it will get. */
async function newEvents({ worker: { d1 }, seed }: Fixture, url: string): Promise<Delivery[]> {
  const integrations = await insertIntegrations(d1, seed, { receiver: url, count: 1 });
  return newDeliveries(integrations, EVENTS);
}

/**
 * Inserts all deliveries, and wakes the service for each at its due time, counted from soon after.
 * Returns the due times. Writes of the benchmark in the meantime would delay the receiver, which is
 * in this process.
 */
async function sendWhenDue(
  { worker: { d1, queue }, seed }: Fixture,
  due: readonly { delivery: Delivery; dueMs: number }[],
): Promise<Map<Delivery, number>> {
  const start = performance.now() + INSERT_MS;
  const offset = systemClock.now() - performance.now();
  const dueAt = new Map(due.map(({ delivery, dueMs }) => [delivery, start + dueMs]));
  const wallClock = new Map([...dueAt].map(([delivery, at]) => [delivery, Math.ceil(at + offset)]));
  await insertDeliveries(d1, seed, [...dueAt.keys()], wallClock);
  const sends: Promise<unknown>[] = [];
  for (const [delivery, at] of [...dueAt].toSorted(([, one], [, other]) => one - other)) {
    await sleep(Math.max(0, at + DUE_MARGIN_MS - performance.now()));
    sends.push(wakeConsumers(queue, [delivery.id]));
  }
  await Promise.all(sends);
  return dueAt;
}

/** Deletes the deliveries to the dead endpoint, so that they do not affect the next measurement. */
async function discard(
  { worker: { d1 }, unresponsive }: Fixture,
  [delivery]: readonly Delivery[],
): Promise<void> {
  await unresponsive.waitForRequests(1);
  await d1
    .prepare("delete from deliveries where integration_id = ?")
    .bind(delivery?.integration)
    .run();
  unresponsive.closeAll();
  await sleep(CLOSE_DELAY_MS);
}

function compare(rounds: readonly Record<Neighbor, Latency>[]): Row[] {
  const of = (neighbor: Neighbor, what: keyof Latency) =>
    rounds.map((round) => round[neighbor][what]);
  const ratio = (one: Neighbor, other: Neighbor, what: keyof Latency) =>
    pairedRatio(of(one, what), of(other, what));
  return [
    {
      what: "beside a dead one / alone, median",
      measured: ratio("dead", "none", "median"),
      goal: { bound: "at most", value: 1.1 },
    },
    {
      what: "beside a dead one / beside a healthy one, median",
      measured: ratio("dead", "healthy", "median"),
    },
    {
      what: "beside a dead one / alone, p90",
      measured: ratio("dead", "none", "p90"),
      goal: { bound: "at most", value: 1.3 },
    },
    ...NEIGHBORS.flatMap((neighbor) =>
      (["median", "p90"] as const).map((what) => ({
        what: `${NAMES[neighbor]}, ${what} in ms`,
        measured: spread(of(neighbor, what)),
      })),
    ),
  ];
}

const NAMES: Record<Neighbor, string> = {
  none: "alone",
  healthy: "beside a healthy one",
  dead: "beside a dead one",
};
