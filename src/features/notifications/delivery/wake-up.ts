import { LIMITS } from "../../../lib/limits.ts";

/**
 * Wakes a consumer, which sends what is due. The database decides what that is: the deliveries only
 * tell whose turn is first.
 */
export interface DeliveryMessage {
  delivery_id: string;
  /** Further deliveries. */
  others: string[];
}

export function deliveryIdsOf({ delivery_id, others }: DeliveryMessage): string[] {
  return [delivery_id, ...others];
}

/** The most messages of one `sendBatch` (Cloudflare Queues, limits). */
const SEND_BATCH = 100;
/** The longest delay of a message (Cloudflare Queues, limits). */
const MAX_DELAY_SECONDS = 43_200;

/** One consumer for as many deliveries as it sends at once. */
export async function wakeConsumers(
  queue: Queue<DeliveryMessage>,
  deliveryIds: readonly string[],
): Promise<void> {
  const connections = LIMITS.deliveryConnections.value;
  const messages = chunksOf(deliveryIds, connections).flatMap((ids) => toMessages(ids));
  await sendMessages(queue, messages);
}

export interface WakeUp {
  deliveryId: string;
  delayMs: number;
}

/** One message for each second in which something is due. */
export async function scheduleWakeUps(
  queue: Queue<DeliveryMessage>,
  wakeUps: readonly WakeUp[],
): Promise<void> {
  const bySecond = Map.groupBy(wakeUps, ({ delayMs }) => toSeconds(delayMs));
  const messages = [...bySecond].flatMap(([delaySeconds, due]) =>
    toMessages(
      due.map(({ deliveryId }) => deliveryId),
      delaySeconds,
    ),
  );
  await sendMessages(queue, messages);
}

function toMessages(
  [delivery_id, ...others]: readonly string[],
  delaySeconds = 0,
): MessageSendRequest<DeliveryMessage>[] {
  return delivery_id === undefined ? [] : [{ body: { delivery_id, others }, delaySeconds }];
}

function chunksOf(ids: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, at) =>
    ids.slice(at * size, (at + 1) * size),
  );
}

function toSeconds(delayMs: number): number {
  return Math.min(Math.max(Math.ceil(delayMs / 1_000), 0), MAX_DELAY_SECONDS);
}

async function sendMessages(
  queue: Queue<DeliveryMessage>,
  messages: readonly MessageSendRequest<DeliveryMessage>[],
): Promise<void> {
  for (let at = 0; at < messages.length; at += SEND_BATCH) {
    await queue.sendBatch(messages.slice(at, at + SEND_BATCH));
  }
}
