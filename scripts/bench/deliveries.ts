import { DATA, insertDeliveries, insertIntegrations, KEYRING, SECRET, settle } from "./outbox.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Finding, Row } from "./report.ts";
import { fill, makeSeed, type Seed } from "./seed.ts";
import { pairedRatio, shuffle, spread } from "./stats.ts";
import { bundle, type RunningWorker, start } from "./workers.ts";

const INTEGRATIONS = 10;
const EVENTS = 30;
const DELIVERIES = INTEGRATIONS * EVENTS;
const WARM_UP_ROUNDS = 2;
/** What a queue takes in one call. */
const RINGS = 100;

const NAMES = ["ours", "queued", "bare"] as const;
type Name = (typeof NAMES)[number];

/** Has a Worker send all deliveries; gives the time at which it was asked to. */
type Lap = () => Promise<number>;

/**
 * Deliveries that are due, sent by the service; by a Worker behind the same queue that only signs and
 * sends; and by that Worker without a queue.
 */
export async function measureDeliveries(rounds: number, folder: string): Promise<Finding> {
  const receiver = await startReceiver();
  const seed = await makeSeed(0);
  const ours = await startOurs(receiver, seed, folder);
  const bare = await startBare(receiver, folder);
  const integrations = await insertIntegrations(ours.d1, seed, {
    receiver: receiver.url,
    count: INTEGRATIONS,
  });
  const laps = {
    ours: async () =>
      ring(ours, await insertDeliveries(ours.d1, seed, { integrations, events: EVENTS })),
    queued: () => ring(bare, Array.from({ length: DELIVERIES }, String)),
    bare: () => ask(bare),
  };
  const run: Record<Name, number>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    run.push(await runRound(receiver, laps, () => settle(ours.d1)));
  }
  await Promise.all([ours.stop(), bare.stop()]);
  receiver.close();
  return {
    title: `Sending ${DELIVERIES} deliveries, ${rounds} rounds`,
    rows: compare(run.slice(WARM_UP_ROUNDS)),
  };
}

async function startOurs(receiver: Receiver, seed: Seed, folder: string): Promise<RunningWorker> {
  const bindings = {
    ENCRYPTION_KEYS: KEYRING,
    LEASE_SECRET: "bench",
    ALLOW_INSECURE_WEBHOOKS: String(receiver.url.startsWith("http:")),
  };
  const worker = await start(bundle("src/index.ts", folder), bindings);
  await fill(worker.d1, seed);
  return worker;
}

function startBare({ url }: Receiver, folder: string): Promise<RunningWorker> {
  const timestamp = new Date(0).toISOString();
  const BODY = `{"id":"1C4dSLTQ9wKmCkmG3EtMZp","type":"deployments.succeeded","timestamp":"${timestamp}","data":${DATA}}`;
  return start(bundle("scripts/bench/bare-sender.ts", folder), { RECEIVER: url, SECRET, BODY });
}

/** Each Worker once, in a new random order; deliveries in a second, as the receiver saw them. */
async function runRound(
  receiver: Receiver,
  laps: Record<Name, Lap>,
  settled: () => Promise<void>,
): Promise<Record<Name, number>> {
  const perSecond = { ours: 0, queued: 0, bare: 0 };
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
    { what: "ours / queued, deliveries/s", measured: pairedRatio(of("ours"), of("queued")) },
    { what: "queued / bare, deliveries/s", measured: pairedRatio(of("queued"), of("bare")) },
    ...NAMES.map((name) => ({ what: `${name}, deliveries/s`, measured: spread(of(name)) })),
  ];
}
