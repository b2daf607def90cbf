/** How many durations are in a bucket, by its number from 0 to 63: below 1 s, then three for each doubling. */
export type Histogram = Readonly<Record<string, number>>;

const BUCKETS_OF_DOUBLING = 3;

/**
 * The duration that a share of all are not longer than, by nearest rank, as the middle of its bucket in seconds.
 * Undefined: there are none.
 */
export function percentileOf(histogram: Histogram, share: number): number | undefined {
  // Keys that are integers are in their order.
  const buckets = Object.entries(histogram);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let rank = Math.ceil(share * total);
  const found = buckets.find(([, count]) => {
    rank -= count;
    return rank <= 0;
  });
  return found && middleOf(Number(found[0]));
}

function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / BUCKETS_OF_DOUBLING));
}
