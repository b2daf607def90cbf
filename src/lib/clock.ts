/** The time, as a parameter: milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC with milliseconds and `Z`, as every time stamp on the wire. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
