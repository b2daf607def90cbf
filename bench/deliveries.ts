import { bundle, type RunningWorker, start } from "../scripts/lib/workers.ts";
import {
  allDelivered,
  DATA,
  insertDeliveries,
  insertIntegrations,
  KEYRING,
  SECRET,
} from "./outbox.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Finding, Row } from "./report.ts";
import { fill, makeSeed, type Seed } from "./seed.ts";
import { pairedRatio, shuffle, spread } from "./stats.ts";

const INTEGRATIONS = 10;
const EVENTS = 30;
const DELIVERIES = INTEGRATIONS * EVENTS;
const WARM_UP_ROUNDS = 2;
const TIMESTAMP = "2026-11-21T09:30:00.000Z";
/** What a queue takes in one call. */
const RINGS = 100;

const NAMES = ["ours", "idiomatic", "queued", "bare"] as const;
type Name = (typeof NAMES)[number];

/** Has a Worker send all deliveries; gives the time at which it was asked to. */
type Lap = () => Promise<number>;

/**
 * Deliveries that are due, sent by the service; by what one would write first; by a Worker behind the
 * same queue that only signs and sends; and by that Worker without a queue.
 */
export async function measureDeliveries(rounds: number, folder: string): Promise<Finding> {
  const receiver = await startReceiver();
  const seed = await makeSeed(0);
  const [ours, idiomatic, bare] = await startFleet(receiver, seed, folder);
  const laps = {
    ours: await sendingOf(ours, receiver, seed),
    idiomatic: await sendingOf(idiomatic, receiver, seed),
    queued: () =>
      ring(
        bare,
        Array.from({ length: DELIVERIES }, (_, at) => String(at)),
      ),
    bare: () => ask(bare),
  };
  const settled = async () => {
    for (const { d1 } of [ours, idiomatic]) await allDelivered(d1);
  };
  const run: Record<Name, number>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    run.push(await runRound(receiver, laps, settled));
  }
  await Promise.all([ours, idiomatic, bare].map((worker) => worker.stop()));
  receiver.close();
  return {
    title: `Sending ${DELIVERIES} deliveries, ${rounds} rounds`,
    rows: compare(run.slice(WARM_UP_ROUNDS)),
  };
}

/** Each in a runtime of its own; those that have an outbox with the same rows. */
async function startFleet({ url }: Receiver, seed: Seed, folder: string) {
  const body = { id: seed.project.id, type: "deployments.succeeded", timestamp: TIMESTAMP };
  const target = { RECEIVER: url, SECRET };
  const fleet = await Promise.all([
    start(bundle("src/index.ts", folder), {
      ENCRYPTION_KEYS: KEYRING,
      LEASE_SECRET: "bench",
      ALLOW_INSECURE_WEBHOOKS: "true",
    }),
    start(bundle("bench/idiomatic-sender.ts", folder), target),
    start(bundle("bench/bare-sender.ts", folder), {
      ...target,
      BODY: JSON.stringify({ ...body, data: JSON.parse(DATA) }),
    }),
  ]);
  for (const { d1 } of fleet.slice(0, 2)) await fill(d1, seed);
  return fleet;
}

async function sendingOf(worker: RunningWorker, { url: receiver }: Receiver, seed: Seed) {
  const { d1 } = worker;
  const integrations = await insertIntegrations(d1, seed, { receiver, count: INTEGRATIONS });
  return async () => {
    const deliveries = await insertDeliveries(d1, seed, { integrations, events: EVENTS });
    return ring(
      worker,
      deliveries.map(({ id }) => id),
    );
  };
}

/** Each Worker once, in a new random order; deliveries in a second, as the receiver saw them. */
async function runRound(
  receiver: Receiver,
  laps: Record<Name, Lap>,
  settled: () => Promise<void>,
): Promise<Record<Name, number>> {
  const perSecond = { ours: 0, idiomatic: 0, queued: 0, bare: 0 };
  for (const name of shuffle(NAMES)) {
    const heard = receiver.hear(DELIVERIES);
    const began = await laps[name]();
    perSecond[name] = DELIVERIES / (((await heard) - began) / 1000);
    // What is still to be recorded must not burden the next one.
    await settled();
  }
  return perSecond;
}

/** Puts all of them into the queue. */
async function ring({ queue }: RunningWorker, ids: readonly string[]): Promise<number> {
  const began = performance.now();
  for (let at = 0; at < ids.length; at += RINGS) {
    await queue.sendBatch(
      ids
        .slice(at, at + RINGS)
        .map((delivery_id) => ({ body: { delivery_id }, contentType: "json" })),
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
    },
    { what: "ours / queued, deliveries/s", measured: pairedRatio(of("ours"), of("queued")) },
    { what: "queued / bare, deliveries/s", measured: pairedRatio(of("queued"), of("bare")) },
    ...NAMES.map((name) => ({ what: `${name}, deliveries/s`, measured: spread(of(name)) })),
  ];
}
