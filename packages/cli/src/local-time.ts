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
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = new Date(isDate ? `${text}T00:00` : text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time.getTime())) return time.toISOString();
  throw new CliError(`"${text}" is not a time. Write it as 2026-11-21 or "2026-11-21 09:30".`);
}
