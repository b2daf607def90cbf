import { CliError } from "../errors.ts";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;
/** What a timer of Node can wait for. */
const LONGEST_MS = 2 ** 31 - 1;

/** Parses `90s`, `10m` or `1h30m` into milliseconds. A number alone is seconds. */
export function parseDuration(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * UNIT_MS.s : sumOf(text);
  if (ms !== undefined && ms > 0 && ms <= LONGEST_MS) return ms;
  throw new CliError(
    `"${text}" is not a duration. Write it as 90s, 10m or 1h30m, at most 24 days.`,
  );
}

function sumOf(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  const parts = [...text.matchAll(PART)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit as "s"], 0);
}

/** Such as `1h 5m`, `10m`, `1m 5s` or `0.5s`. */
export function formatDuration(ms: number): string {
  if (ms < UNIT_MS.s) return `${ms / UNIT_MS.s}s`;
  const seconds = Math.floor(ms / UNIT_MS.s);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const parts = [
    [hours, "h"],
    [minutes, "m"],
    [hours === 0 ? seconds % 60 : 0, "s"],
  ] as const;
  return parts.flatMap(([count, unit]) => (count > 0 ? `${count}${unit}` : [])).join(" ");
}
