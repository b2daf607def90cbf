export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A request's clock: what it stores and what it shows are of one time, so that a repeat shows the same. */
export function stoppedClock(clock: Clock): Clock {
  const now = clock.now();
  return { now: () => now };
}

/** Never negative, although a clock may go back between the two times. */
export function durationMs(from: number, to: number): number {
  return Math.max(0, to - from);
}

export const DAY_MS = 86_400_000;
/** The day of the newest timestamp, and its text up to the `T`: a page has many timestamps of few days. */
let lastDay: { start: number; text: string } = { start: Number.NaN, text: "" };

/** RFC 3339 in UTC with milliseconds and `Z`, the format of all timestamps on the wire. */
export function toTimestamp(milliseconds: number): string {
  let timeOfDay = milliseconds - lastDay.start;
  if (!(timeOfDay >= 0 && timeOfDay < DAY_MS)) {
    const text = new Date(milliseconds).toISOString();
    const start = Math.floor(milliseconds / DAY_MS) * DAY_MS;
    lastDay = { start, text: text.slice(0, -"00:00:00.000Z".length) };
    return text;
  }
  const hours = Math.floor(timeOfDay / 3_600_000);
  timeOfDay %= 3_600_000;
  const minutes = Math.floor(timeOfDay / 60_000);
  timeOfDay %= 60_000;
  const seconds = Math.floor(timeOfDay / 1_000);
  return `${lastDay.text}${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(seconds)}.${threeDigits(timeOfDay % 1_000)}Z`;
}

/**
 * When something was last used, which is stored to the hour: never before its creation.
 * @returns Undefined: never.
 */
export function toLastUse(row: {
  createdAt: number;
  lastUsedAt: number | null;
}): string | undefined {
  const { createdAt, lastUsedAt } = row;
  return lastUsedAt === null ? undefined : toTimestamp(Math.max(createdAt, lastUsedAt));
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function threeDigits(value: number): string {
  return value < 100 ? `0${twoDigits(value)}` : `${value}`;
}
