import { runBatch } from "../../../db/batch.ts";
import { BoundedMap } from "../../../lib/bounded-map.ts";
import { describeError } from "../../../lib/log.ts";
import { CLAIM_MS, type ClaimedDelivery, claim } from "./claim.ts";
import { type DeliveryMessage, MessageHandle } from "./queue-message.ts";
import { type RecordingContext, recordAttempt } from "./record.ts";
import { type SendingContext, send } from "./send.ts";

/** A batch waits this long for its slowest delivery, which then continues in the background. */
const BATCH_WAIT_MS = 250;
/** A message may arrive this much before its delivery is due, and is then retried. */
const EARLY_MS = 5_000;

export interface ConsumerContext extends SendingContext, RecordingContext {
  queue: Queue<DeliveryMessage>;
  slowEndpoints: SlowEndpoints;
  waitUntil(promise: Promise<unknown>): void;
}

interface Task {
  message: MessageHandle;
  action: NextAction;
  delivery: ClaimedDelivery | undefined;
}

export async function consume(
  ctx: ConsumerContext,
  batch: MessageBatch<DeliveryMessage>,
): Promise<void> {
  const messages = batch.messages.map((message) => new MessageHandle(message, ctx.queue));
  const tasks = await claimAll(ctx, messages).catch((error: unknown) => {
    ctx.log("error", "delivery.not_claimed", describeError(error));
    for (const message of messages) message.nack();
    return [];
  });
  const { slowEndpoints } = ctx;
  const inProgress = new Set<Task>();
  const now = ctx.clock.now();
  const awaited = tasks.flatMap((task) => {
    inProgress.add(task);
    const work = slowEndpoints.track(handle(ctx, task)).finally(() => inProgress.delete(task));
    ctx.waitUntil(work);
    const { integrationId = "" } = task.delivery ?? {};
    return slowEndpoints.shouldAwait(integrationId, now) ? [work] : [];
  });
  await settledWithin(BATCH_WAIT_MS, Promise.all(awaited));
  for (const { message, delivery } of inProgress) {
    message.ack();
    if (delivery) slowEndpoints.markSlow(delivery.integrationId, ctx.clock.now());
  }
}

async function claimAll(ctx: ConsumerContext, messages: readonly MessageHandle[]): Promise<Task[]> {
  const byId = new Map<string, MessageHandle>();
  for (const message of messages) {
    if (byId.has(message.deliveryId)) message.ack();
    else byId.set(message.deliveryId, message);
  }
  // Throws before the claim if the deployment cannot decrypt URLs.
  await ctx.cipher();
  const now = ctx.clock.now();
  const results = await runBatch(ctx.db, claim(ctx.db, [...byId.keys()], now));
  const idsOf = (rows: readonly { id: string }[]) => new Set(rows.map(({ id }) => id));
  const result = { claimed: idsOf(results.claimed), deferred: idsOf(results.deferred) };
  const deliveries = new Map(results.deliveries.map((row) => [row.id, row]));
  return [...byId.values()].map((message) => {
    const delivery = deliveries.get(message.deliveryId);
    return { message, delivery, action: nextAction(delivery, result, now) };
  });
}

export type NextAction = "send" | "ack" | { retryAfterMs: number };

export interface ClaimResult {
  claimed: ReadonlySet<string>;
  deferred: ReadonlySet<string>;
}

/**
 * If a message is acknowledged while its delivery is pending, another consumer sends it, or the
 * sweep enqueues it.
 */
export function nextAction(
  delivery: Pick<ClaimedDelivery, "id" | "status" | "dueAt" | "claimedUntil"> | undefined,
  { claimed, deferred }: ClaimResult,
  now: number,
): NextAction {
  if (delivery?.status !== "pending") return "ack";
  const { id, dueAt, claimedUntil } = delivery;
  if (claimed.has(id)) return "send";
  const retryAfterMs = dueAt - now;
  if (deferred.has(id)) return { retryAfterMs };
  const isClaimed = claimedUntil !== null && claimedUntil > now;
  return isClaimed || retryAfterMs > EARLY_MS ? "ack" : { retryAfterMs };
}

/** An error affects no other delivery. */
async function handle(ctx: ConsumerContext, { message, action, delivery }: Task): Promise<void> {
  try {
    if (action === "ack" || !delivery) return message.ack();
    if (action !== "send") return await message.retryAfter(action.retryAfterMs);
    const retryAt = await recordAttempt(ctx, delivery, await send(ctx, delivery));
    if (retryAt === undefined) return message.ack();
    await message.retryAfter(retryAt - ctx.clock.now());
  } catch (error) {
    ctx.log("error", "delivery.not_handled", describeError(error));
    // Before the claim has expired, a retry would do nothing.
    message.nack(CLAIM_MS);
  }
}

async function settledWithin(ms: number, work: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, ms);
  await Promise.race([work, timeout.promise]);
  clearTimeout(timer);
}

const SLOW_FOR_MS = 60_000;
const MAX_SLOW_ENDPOINTS = 1_000;
/** With this many requests in progress, batches wait for slow endpoints too. */
const MAX_IN_PROGRESS = 500;

/**
 * Further batches do not wait for these integrations. Each isolate has its own; an empty one costs
 * a few short waits.
 */
export class SlowEndpoints {
  readonly #slowUntil = new BoundedMap<string, number>(MAX_SLOW_ENDPOINTS);
  #inProgress = 0;

  shouldAwait(integrationId: string, now: number): boolean {
    const isSlow = (this.#slowUntil.get(integrationId) ?? 0) > now;
    return !isSlow || this.#inProgress >= MAX_IN_PROGRESS;
  }

  markSlow(integrationId: string, now: number): void {
    this.#slowUntil.set(integrationId, now + SLOW_FOR_MS);
  }

  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#inProgress += 1;
    try {
      return await work;
    } finally {
      this.#inProgress -= 1;
    }
  }
}
