import { setTimeout as sleep } from "node:timers/promises";
import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import type { IssuedKey } from "../src/auth/credentials.ts";
import { wakeConsumers } from "../src/features/notifications/delivery/wake-up.ts";
import {
  type Delivery,
  insertDeliveries,
  insertIntegrations,
  KEYRING,
  newDeliveries,
  waitUntilDelivered,
} from "./outbox.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { BenchmarkResult } from "./report.ts";
import { insertSeed, makeSeed, migrateAndInsert, type Seed } from "./seed.ts";
import { spread } from "./stats.ts";

const FLOOD = 10_000;
/** Deliveries of one INSERT. */
const CHUNK = 1_000;
const PING_INTERVAL_MS = 250;
const MOST_PINGS = 100;
const WRITERS = 12;
const DUE = 1_000;
/** Below the limit of a key. */
const WRITES_OF_KEY = 90;

/** Deliveries, and writes beside them. */
interface WriterResult {
  perSecond: number;
  writesPerSecond: number;
}

interface Fixture {
  worker: RunningWorker;
  receiver: Receiver;
}

/**
 * Measures the time from the write of a delivery of one organization to its arrival while another
 * organization's flood is sent, and the deliveries per second while many writers write events.
 */
export async function measureFairness(folder: string): Promise<BenchmarkResult> {
  const [receiver, flooding, other] = await Promise.all([
    startReceiver(),
    makeSeed(WRITERS),
    makeSeed(0),
  ]);
  const worker = await start(bundle("src/index.ts", folder), {
    ENCRYPTION_KEYS: KEYRING,
    ALLOW_INSECURE_WEBHOOKS: "true",
  });
  await migrateAndInsert(worker.d1, flooding);
  await insertSeed(worker.d1, other);
  const fixture = { worker, receiver };
  const { perSecond, writesPerSecond } = await measureWriters(fixture, flooding);
  const pings = await measurePings(fixture, flooding, other);
  await worker.stop();
  receiver.close();
  return {
    title: `Beside ${FLOOD} deliveries of another organization; with ${WRITERS} writers`,
    rows: [
      {
        what: "from write to arrival beside the flood, ms",
        measured: spread(pings.latencies),
        goal: { bound: "at most", value: 2_000 },
      },
      { what: "deliveries measured", measured: pings.latencies.length },
      { what: "the flood, deliveries/s", measured: pings.floodPerSecond },
      {
        what: "with concurrent writers, deliveries/s",
        measured: perSecond,
        goal: { bound: "at least", value: 100 },
      },
      { what: "their writes/s", measured: writesPerSecond },
    ],
  };
}

/** Sends deliveries that are due while each writer changes the project as often as its key may. */
async function measureWriters({ worker, receiver }: Fixture, seed: Seed): Promise<WriterResult> {
  const target = { receiver: receiver.url, count: 1 };
  const due = newDeliveries(await insertIntegrations(worker.d1, seed, target), DUE);
  await insertDeliveries(worker.d1, seed, due);
  const received = receiver.waitFor(DUE);
  let isSending = true;
  let writes = 0;
  const writeWith = async ({ key }: IssuedKey) => {
    for (let times = 0; isSending && times < WRITES_OF_KEY; times++) {
      await changeProject(worker.url, seed, key);
      writes += 1;
    }
  };
  const writers = seed.keys.map(writeWith);
  const began = performance.now();
  await wakeConsumers(
    worker.queue,
    due.map(({ id }) => id),
  );
  const seconds = ((await received) - began) / 1_000;
  const writesPerSecond = writes / seconds;
  isSending = false;
  await Promise.all(writers);
  await waitUntilDelivered(worker.d1);
  return { perSecond: DUE / seconds, writesPerSecond };
}

async function changeProject(url: URL, { project }: Seed, key: string): Promise<void> {
  const { id, defaultEnvironmentId } = project;
  const { status } = await fetch(new URL(`/v1/projects/${id}`, url), {
    method: "PUT",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      default_environment_id: defaultEnvironmentId,
      description: crypto.randomUUID(),
    }),
  });
  if (status !== 200) throw new Error(`A writer got ${status}`);
}

async function measurePings({ worker, receiver }: Fixture, flooding: Seed, other: Seed) {
  const target = { receiver: receiver.url, count: 1 };
  const flood = newDeliveries(await insertIntegrations(worker.d1, flooding, target), FLOOD);
  const pings = newDeliveries(await insertIntegrations(worker.d1, other, target), MOST_PINGS);
  void receiver.waitFor(Number.POSITIVE_INFINITY);
  for (let at = 0; at < FLOOD; at += CHUNK) {
    await insertDeliveries(worker.d1, flooding, flood.slice(at, at + CHUNK));
  }
  const began = performance.now();
  await wakeConsumers(
    worker.queue,
    flood.map(({ id }) => id),
  );
  const writtenAt = new Map<Delivery, number>();
  const arrivedAt = ({ integration, event }: Delivery) =>
    receiver.receivedAt(`/${integration}`, event);
  const isFlooded = () => flood.some((delivery) => arrivedAt(delivery) === undefined);
  for (const ping of pings) {
    if (!isFlooded()) break;
    writtenAt.set(ping, performance.now());
    await writeDelivery(worker, other, ping);
    await sleep(PING_INTERVAL_MS);
  }
  while (isFlooded()) await sleep(PING_INTERVAL_MS);
  const floodPerSecond = FLOOD / ((performance.now() - began) / 1_000);
  const latencies = [...writtenAt].map(
    ([ping, at]) => (arrivedAt(ping) ?? Number.POSITIVE_INFINITY) - at,
  );
  return { latencies, floodPerSecond };
}

async function writeDelivery({ d1, queue }: RunningWorker, seed: Seed, delivery: Delivery) {
  await insertDeliveries(d1, seed, [delivery]);
  await wakeConsumers(queue, [delivery.id]);
}
