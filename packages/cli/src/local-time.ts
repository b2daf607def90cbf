import { CliError } from "./errors.ts";

/** A timestamp of the API as `YYYY-MM-DD HH:MM:SS` in the time zone of the machine. */
export function toLocalTime(timestamp: string): string;
export function toLocalTime(timestamp: string | undefined): string | undefined;
export function toLocalTime(timestamp: string | undefined): string | undefined {
  if (timestamp === undefined) return undefined;
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return timestamp;
  const pad = (value: number) => String(value).padStart(2, "0");
  const date = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join("-");
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(pad).join(":")}`;
}

/** Reads `2026-11-21`, `2026-11-21 09:30` and ISO 8601. Without a zone, the time is local. */
export function readTime(text: string): string {
  const [, date, rest = ""] = /^(\d{4}-\d\d-\d\d)(.*)$/.exec(text) ?? [];
  const time = new Date(rest === "" ? `${text}T00:00` : text);
  if (date === undefined || Number.isNaN(time.getTime())) {
    throw new CliError(`"${text}" is not a time. Write it as 2026-11-21 or "2026-11-21 09:30".`);
  }
  requireDate(date);
  const [wallClock] = /^[T ]\d\d:\d\d$/.exec(rest) ?? [];
  const isSkipped = wallClock !== undefined && !isAt(time, wallClock.slice(1));
  if (!isSkipped) return time.toISOString();
  throw new CliError(
    `"${text}" does not exist in this machine's time zone, which sets its clocks forward. Write another time.`,
  );
}

/** JavaScript takes February 30 for a day in March. */
function requireDate(date: string): void {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (day <= days) return;
  throw new CliError(
    `${date} does not exist: ${date.slice(0, -3)} has ${days} days. Write a day of that month.`,
  );
}

/** Midnight is also 24:00 of the day before. */
function isAt(time: Date, wallClock: string): boolean {
  const pad = (value: number) => String(value).padStart(2, "0");
  const shown = `${pad(time.getHours())}:${pad(time.getMinutes())}`;
  return shown === wallClock.replace("24:00", "00:00");
}
