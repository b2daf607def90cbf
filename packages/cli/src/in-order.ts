export interface Placed {
  position?: number;
  created_at: string;
}

/** Environments or stacks by their positions. Those without one come last, the oldest first. */
export function inOrder<T extends Placed>(rows: readonly T[]): T[] {
  const positionOf = ({ position = Number.POSITIVE_INFINITY }: Placed) => position;
  return rows.toSorted(
    (a, b) => positionOf(a) - positionOf(b) || Date.parse(a.created_at) - Date.parse(b.created_at),
  );
}
