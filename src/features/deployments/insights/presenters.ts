import { DAY_MS, toTimestamp } from "../../../lib/clock.ts";
import { type Histogram, percentileOf } from "./model.ts";
import type { DayRow, EnvironmentDaysRow } from "./store.ts";

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
