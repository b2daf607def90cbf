import type { Schemas } from "../../../../client/src/index.ts";

type Day = Schemas["DayInsights"];

/**
 * The four numbers of DORA (https://dora.dev/guides/dora-metrics-four-keys/), as far as Longshore can see them: a change
 * is known to it from the request of its deployment on, not from its commit. Undefined: nothing to count.
 */
export interface Dora {
  /** Successes in seven days. */
  weeklySuccesses: number;
  /** From 0 to 1, of what succeeded or failed. */
  failureRate: number | undefined;
  /** From the request to the end of a typical deployment. */
  leadSeconds: number | undefined;
  /** From the end of the first failure to the next success, on average. */
  recoverySeconds: number | undefined;
}

/** @param count How many days there are, also those without a deployment. */
export function measure(days: readonly Day[], count: number): Dora {
  const succeeded = sumOf(days, (day) => day.succeeded);
  const judged = succeeded + sumOf(days, (day) => day.failed);
  const recoveries = sumOf(days, (day) => day.recoveries);
  const recovered = sumOf(days, (day) => day.recoveries * (day.recovery_seconds ?? 0));
  const queued = typical(days, (day) => day.queued_seconds?.median);
  const run = typical(days, (day) => day.run_seconds?.median);
  return {
    weeklySuccesses: (succeeded / count) * 7,
    failureRate: judged === 0 ? undefined : (judged - succeeded) / judged,
    leadSeconds: run === undefined ? undefined : (queued ?? 0) + run,
    recoverySeconds: recoveries === 0 ? undefined : recovered / recoveries,
  };
}

export function sumOf(days: readonly Day[], read: (day: Day) => number): number {
  return days.reduce((sum, day) => sum + read(day), 0);
}

/** How many deployments ended that day, whatever their outcome. */
export function totalOf({ succeeded, failed, canceled, superseded }: Day): number {
  return succeeded + failed + canceled + superseded;
}

/** The median of the days' medians, where a day counts as often as it has deployments. */
export function typical(
  days: readonly Day[],
  read: (day: Day) => number | undefined,
): number | undefined {
  const values = days
    .flatMap((day) => {
      const value = read(day);
      return value === undefined ? [] : Array.from({ length: totalOf(day) }, () => value);
    })
    .toSorted((a, b) => a - b);
  return values[Math.floor((values.length - 1) / 2)];
}
