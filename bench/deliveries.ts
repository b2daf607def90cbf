import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import { wakeConsumers } from "../src/features/notifications/delivery/wake-up.ts";
import {
  DATA,
  type Delivery,
  insertDeliveries,
  insertIntegrations,
  KEYRING,
  newDeliveries,
  SECRET,
  waitUntilDelivered,
} from "./outbox.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { BenchmarkResult, Row } from "./report.ts";
import { makeSeed, migrateAndInsert, type Seed } from "./seed.ts";
import { pairedRatio, shuffle, spread } from "./stats.ts";

const INTEGRATIONS = 10;
const EVENTS = 30;
const DELIVERIES = INTEGRATIONS * EVENTS;
const WARM_UP_ROUNDS = 2;
const TIMESTAMP = "2026-11-21T09:30:00.000Z";
/** Messages per `sendBatch` call. */
const MAXIMUM_BATCH = 100;

const NAMES = ["ours", "idiomatic", "queued", "bare"] as const;
type Name = (typeof NAMES)[number];

/** Makes a Worker send all deliveries; returns the start time. */
type Measurement = () => Promise<number>;

/**
 * Compares the sending of due deliveries by the service, by an idiomatic Worker, by a Worker behind
 * the same queue that only signs and sends, and by that Worker without a queue.
 */
export async function measureDeliveries(rounds: number, folder: string): Promise<BenchmarkResult> {
  const receiver = await startReceiver();
  const seed = await makeSeed(0);
  const [ours, idiomatic, bare] = await startWorkers(receiver, seed, folder);
  const measurements = {
    ours: await sendingOf(ours, receiver, seed, wakeForEachEvent),
    idiomatic: await sendingOf(idiomatic, receiver, seed, enqueueEach),
    queued: () =>
      enqueue(
        bare,
        Array.from({ length: DELIVERIES }, (_, at) => String(at)),
      ),
    bare: () => ask(bare),
  };
  const waitUntilRecorded = async () => {
    for (const { d1 } of [ours, idiomatic]) await waitUntilDelivered(d1);
  };
  const run: Record<Name, number>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    run.push(await runRound(receiver, measurements, waitUntilRecorded));
  }
  await Promise.all([ours, idiomatic, bare].map((worker) => worker.stop()));
  receiver.close();
  return {
    title: `Sending ${DELIVERIES} deliveries, ${rounds} rounds`,
    rows: compare(run.slice(WARM_UP_ROUNDS)),
  };
}

/** Starts each Worker in its own runtime; those with an outbox have the same rows. */
async function startWorkers({ url }: Receiver, seed: Seed, folder: string) {
  const body = { id: seed.project.id, type: "deployments.succeeded", timestamp: TIMESTAMP };
  const target = { RECEIVER: url, SECRET };
  const workers = await Promise.all([
    start(bundle("src/index.ts", folder), {
      ENCRYPTION_KEYS: KEYRING,
      ALLOW_INSECURE_WEBHOOKS: "true",
    }),
    start(bundle("bench/idiomatic-sender.ts", folder), target),
    start(bundle("bench/bare-sender.ts", folder), {
      ...target,
      BODY: JSON.stringify({ ...body, data: JSON.parse(DATA) }),
    }),
  ]);
  for (const { d1 } of workers.slice(0, 2)) await migrateAndInsert(d1, seed);
  return workers;
}

async function sendingOf(
  worker: RunningWorker,
  { url: receiver }: Receiver,
  seed: Seed,
  enqueueAll: (worker: RunningWorker, deliveries: readonly Delivery[]) => Promise<number>,
) {
  const { d1 } = worker;
  const integrations = await insertIntegrations(d1, seed, { receiver, count: INTEGRATIONS });
  return async () => {
    const deliveries = newDeliveries(integrations, EVENTS);
    await insertDeliveries(d1, seed, deliveries);
    return enqueueAll(worker, deliveries);
  };
}

/** Measures each Worker once, in a new random order: received deliveries per second. */
async function runRound(
  receiver: Receiver,
  measurements: Record<Name, Measurement>,
  waitUntilRecorded: () => Promise<void>,
): Promise<Record<Name, number>> {
  const perSecond = { ours: 0, idiomatic: 0, queued: 0, bare: 0 };
  for (const name of shuffle(NAMES)) {
    const received = receiver.waitFor(DELIVERIES);
    const began = await measurements[name]();
    perSecond[name] = DELIVERIES / (((await received) - began) / 1000);
    // Pending writes must not affect the next measurement.
    await waitUntilRecorded();
  }
  return perSecond;
}

/** As the service does after the commit of each event. Returns the start time. */
async function wakeForEachEvent(
  { queue }: RunningWorker,
  deliveries: readonly Delivery[],
): Promise<number> {
  const began = performance.now();
  const byEvent = Map.groupBy(deliveries, ({ event }) => event);
  for (const ofEvent of byEvent.values()) {
    await wakeConsumers(
      queue,
      ofEvent.map(({ id }) => id),
    );
  }
  return began;
}

/** A message for each delivery. Returns the start time. */
async function enqueueEach(
  worker: RunningWorker,
  deliveries: readonly Delivery[],
): Promise<number> {
  return enqueue(
    worker,
    deliveries.map(({ id }) => id),
  );
}

/** Returns the start time. */
async function enqueue({ queue }: RunningWorker, ids: readonly string[]): Promise<number> {
  const began = performance.now();
  for (let at = 0; at < ids.length; at += MAXIMUM_BATCH) {
    await queue.sendBatch(
      ids
        .slice(at, at + MAXIMUM_BATCH)
        .map((delivery_id) => ({ body: { delivery_id, others: [] }, contentType: "json" })),
    );
  }
  return began;
}

async function ask({ url }: RunningWorker): Promise<number> {
  const began = performance.now();
  const { status } = await fetch(new URL(`/?count=${DELIVERIES}`, url));
  if (status !== 204) throw new Error(`The bare Worker answered ${status}`);
  return began;
}

function compare(rounds: readonly Record<Name, number>[]): Row[] {
  const of = (name: Name) => rounds.map((round) => round[name]);
  return [
    { what: "ours / bare, deliveries/s", measured: pairedRatio(of("ours"), of("bare")) },
    {
      what: "ours / idiomatic, deliveries/s",
      measured: pairedRatio(of("ours"), of("idiomatic")),
      goal: { bound: "at least", value: 2, aim: 3 },
    },
    {
      what: "ours / queued, deliveries/s",
      measured: pairedRatio(of("ours"), of("queued")),
      goal: { bound: "at least", value: 0.45, aim: 0.6 },
    },
    { what: "queued / bare, deliveries/s", measured: pairedRatio(of("queued"), of("bare")) },
    ...NAMES.map((name) => ({ what: `${name}, deliveries/s`, measured: spread(of(name)) })),
  ];
}
