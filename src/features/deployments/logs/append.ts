/** What decides how a log takes further bytes. */
export interface Appendable {
  /** The number of bytes that the runner has sent and the log has kept. */
  size: number;
  /** The number of bytes that the log keeps at most. */
  limit: number;
  /** Whether the log keeps no more bytes. */
  isFull: boolean;
  isSealed: boolean;
}

export type AppendPlan =
  /** Bytes before `offset` are missing. */
  | { kind: "gap"; nextOffset: number }
  | { kind: "sealed" }
  | {
      kind: "accepted";
      nextOffset: number;
      /** How many bytes of the request the log already has. */
      skipped: number;
      /** How many of the following bytes the log keeps. */
      kept: number;
    };

/**
 * Plans how a log takes `length` bytes at `offset`. Bytes that it has are skipped, so that a repeat
 * changes nothing; a full log discards what follows, so that a runner need not know the limit.
 */
export function planAppend(
  { size, limit, isFull, isSealed }: Appendable,
  { offset, length }: { offset: number; length: number },
): AppendPlan {
  const end = offset + length;
  if (end <= size) return accept({ nextOffset: size, skipped: length });
  if (isSealed) return { kind: "sealed" };
  if (isFull) return accept({ nextOffset: end, skipped: length });
  if (offset > size) return { kind: "gap", nextOffset: size };
  const skipped = size - offset;
  const kept = Math.max(0, Math.min(length - skipped, limit - size));
  return accept({ nextOffset: end, skipped, kept });
}

function accept(plan: { nextOffset: number; skipped: number; kept?: number }): AppendPlan {
  return { kind: "accepted", kept: 0, ...plan };
}
