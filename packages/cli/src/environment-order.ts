interface Placed {
  position?: number;
  created_at: string;
}

/** By their places. Those without one come last, the oldest first. */
export function inOrder<T extends Placed>(environments: readonly T[]): T[] {
  const positionOf = ({ position = Number.POSITIVE_INFINITY }: Placed) => position;
  return environments.toSorted(
    (a, b) => positionOf(a) - positionOf(b) || Date.parse(a.created_at) - Date.parse(b.created_at),
  );
}
