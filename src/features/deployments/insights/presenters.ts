import { DAY_MS, toTimestamp } from "../../../lib/clock.ts";
import type { DayRow, EnvironmentDaysRow } from "./store.ts";

/** How many durations are in a bucket, by its number from 0 to 63: below 1 s, then three for each doubling. */
type Histogram = Readonly<Record<string, number>>;

const BUCKETS_OF_DOUBLING = 3;

/**
 * The duration that a share of all are not longer than, by nearest rank, as the middle of its bucket in seconds.
 * Undefined: there are none.
 */
function percentileOf(histogram: Histogram, share: number): number | undefined {
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

export function presentEnvironmentInsights(row: EnvironmentDaysRow) {
  return {
    id: row.id,
    name: row.name,
    position: row.position ?? undefined,
    days: (JSON.parse(row.days) as DayRow[]).map(presentDay),
    created_at: toTimestamp(row.createdAt),
  };
}

function presentDay({ day, queued, run, recoveries, recoveryMs, ...outcomes }: DayRow) {
  const { succeeded, failed } = outcomes;
  const judged = succeeded + failed;
  return {
    date: toTimestamp(day * DAY_MS).slice(0, 10),
    ...outcomes,
    failure_rate: judged > 0 ? Math.round((1000 * failed) / judged) / 1000 : undefined,
    queued_seconds: presentDurations(queued),
    run_seconds: presentDurations(run),
    recoveries,
    recovery_seconds: recoveries > 0 ? Math.round(recoveryMs / recoveries / 1000) : undefined,
  };
}

function presentDurations(json: string) {
  const histogram = JSON.parse(json) as Histogram;
  const median = percentileOf(histogram, 0.5);
  const p95 = percentileOf(histogram, 0.95);
  return median === undefined || p95 === undefined ? undefined : { median, p95 };
}
