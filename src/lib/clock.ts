export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC with milliseconds and `Z`, the format of all timestamps on the wire. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
