import { runBatch } from "../../../db/batch.ts";
import { describeError } from "../../../lib/log.ts";
import { CLAIM_MS, type ClaimedDelivery, claim } from "./claim.ts";
import { type DeliveringContext, deliver } from "./deliver.ts";
import { type Verdict, verdictOf } from "./next-action.ts";
import type { DeliveryMessage } from "./queue.ts";
import { Notice } from "./queue-message.ts";
import type { Patience } from "./slow-endpoints.ts";

/** So long a batch waits for its slowest delivery; what is still under way then goes on alone. */
const WAIT_MS = 250;

export interface ConsumerContext extends DeliveringContext {
  queue: Queue<DeliveryMessage>;
  patience: Patience;
  waitUntil(promise: Promise<unknown>): void;
}

interface Task {
  notice: Notice;
  verdict: Verdict;
  delivery: ClaimedDelivery | undefined;
}

/** What the queue's messages ask for: claims their deliveries together, and sends them side by side. */
export async function consume(
  ctx: ConsumerContext,
  batch: MessageBatch<DeliveryMessage>,
): Promise<void> {
  const notices = batch.messages.map((message) => new Notice(message, ctx.queue));
  const tasks = await claimAll(ctx, notices).catch((error: unknown) => {
    ctx.log("error", "delivery.not_claimed", describeError(error));
    for (const notice of notices) notice.giveBack();
    return [];
  });
  const { patience } = ctx;
  const underWay = new Set<Task>();
  const now = ctx.clock.now();
  const awaited = tasks.flatMap((task) => {
    underWay.add(task);
    const work = patience.watch(carryOut(ctx, task)).finally(() => underWay.delete(task));
    ctx.waitUntil(work);
    const { integrationId = "" } = task.delivery ?? {};
    return patience.isWorthWaiting(integrationId, now) ? [work] : [];
  });
  await noLongerThan(WAIT_MS, Promise.all(awaited));
  for (const { notice, delivery } of underWay) {
    notice.close();
    if (delivery) patience.lose(delivery.integrationId, ctx.clock.now());
  }
}

async function claimAll(ctx: ConsumerContext, notices: readonly Notice[]): Promise<Task[]> {
  const byId = new Map<string, Notice>();
  for (const notice of notices) {
    if (byId.has(notice.deliveryId)) notice.close();
    else byId.set(notice.deliveryId, notice);
  }
  // Whoever cannot open what is sealed must not claim it.
  await ctx.cipher();
  const now = ctx.clock.now();
  const results = await runBatch(ctx.db, claim(ctx.db, [...byId.keys()], now));
  const idsOf = (list: readonly { id: string }[]) => new Set(list.map(({ id }) => id));
  const claimed = { mine: idsOf(results.claimed), waiting: idsOf(results.deferred) };
  const deliveries = new Map(results.deliveries.map((row) => [row.id, row]));
  return [...byId.values()].map((notice) => {
    const delivery = deliveries.get(notice.deliveryId);
    return { notice, delivery, verdict: verdictOf(delivery, claimed, now) };
  });
}

/** Each message is answered by itself: what goes wrong with one is nothing to the others. */
async function carryOut(ctx: ConsumerContext, { notice, verdict, delivery }: Task): Promise<void> {
  try {
    if (verdict === "close" || !delivery) return notice.close();
    if (verdict !== "send") return await notice.putOff(verdict.putOffMs);
    const dueAt = await deliver(ctx, delivery);
    if (dueAt === undefined) return notice.close();
    await notice.putOff(dueAt - ctx.clock.now());
  } catch (error) {
    ctx.log("error", "delivery.not_handled", describeError(error));
    // Not before the claim has lapsed.
    notice.giveBack(CLAIM_MS);
  }
}

async function noLongerThan(ms: number, work: Promise<unknown>): Promise<void> {
  const time = Promise.withResolvers<void>();
  const timer = setTimeout(time.resolve, ms);
  await Promise.race([work, time.promise]);
  clearTimeout(timer);
}
