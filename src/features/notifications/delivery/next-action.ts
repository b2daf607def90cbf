import type { ClaimedDelivery } from "./claim.ts";

/** A message may come so much too early, and waits for the rest of it. */
const EARLY_MS = 5_000;

/** What to do about a message: send its delivery, have it come again, or nothing. */
export type Verdict = "send" | "close" | { putOffMs: number };

/** What the claim has changed: which deliveries are ours, and which have to wait. */
export interface Claimed {
  mine: ReadonlySet<string>;
  waiting: ReadonlySet<string>;
}

/**
 * What a message about a delivery comes to, as it is after the claim. Whatever is closed and still
 * pending is somebody else's, or the sweep's when it comes due.
 */
export function verdictOf(
  delivery: Pick<ClaimedDelivery, "id" | "status" | "dueAt" | "claimedUntil"> | undefined,
  { mine, waiting }: Claimed,
  now: number,
): Verdict {
  if (delivery?.status !== "pending") return "close";
  const { id, dueAt, claimedUntil } = delivery;
  if (mine.has(id)) return "send";
  const putOffMs = dueAt - now;
  if (waiting.has(id)) return { putOffMs };
  const isTaken = claimedUntil !== null && claimedUntil > now;
  return isTaken || putOffMs > EARLY_MS ? "close" : { putOffMs };
}
