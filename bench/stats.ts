/** The median and the quartiles of several measurements. */
export interface Spread {
  median: number;
  lower: number;
  upper: number;
}

/** The `p` quantile (0 to 1), linearly interpolated. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = p * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export function spread(values: readonly number[]): Spread {
  return {
    median: quantile(values, 0.5),
    lower: quantile(values, 0.25),
    upper: quantile(values, 0.75),
  };
}

/** The ratio in each round, so that variations of the machine's speed cancel out. */
export function pairedRatio(
  numerators: readonly number[],
  denominators: readonly number[],
): Spread {
  return spread(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)));
}

/** Returns a copy in random order (Fisher–Yates). */
export function shuffle<Item>(items: readonly Item[]): Item[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(Math.random() * rest.length), 1));
}
