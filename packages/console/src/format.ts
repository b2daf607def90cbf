import { toPlainJson, toPlainText } from "../../cli/src/plain-text.ts";

/** For text that other people have written. */
export { toPlainJson as showHiddenInJson, toPlainText as showHidden };

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Names in one text. One that is written from right to left does not change the order of what is beside it. */
export function joinNames(names: readonly string[], separator: string): string {
  const shown = names.map(toPlainText);
  return shown
    .map((name) => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name))
    .join(separator);
}

/** Such as "AL" of "Ada Lovelace", and "R" of "runner". Letters and digits only. */
export function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [first, last] = [words.at(0), words.length > 1 ? words.at(-1) : undefined];
  return [first, last].map((word) => Array.from(word ?? "")[0]?.toUpperCase() ?? "").join("");
}

const UNITS = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const fullDay = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
});
const decimal = new Intl.NumberFormat("en");

/** Such as "3 minutes ago", or "in 2 days". From a day on, by the calendar: on Saturday, Monday is in 2 days. */
export function formatRelative(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) < size) continue;
    const count = CALENDAR[unit]?.(new Date(time), new Date(now)) ?? Math.trunc(seconds / size);
    // A day and an hour may be on one date, where clocks are set back.
    if (count !== 0) return relative.format(count, unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(seconds, "second");
}

/** How many years, months or dates the first time is after the second, on the clock of the browser. */
const CALENDAR: Partial<Record<(typeof UNITS)[number][0], (time: Date, now: Date) => number>> = {
  year: (time, now) => time.getFullYear() - now.getFullYear(),
  month: (time, now) => monthOf(time) - monthOf(now),
  day: (time, now) => Math.round((midnightOf(time) - midnightOf(now)) / 86_400_000),
};

function monthOf(time: Date): number {
  return time.getFullYear() * 12 + time.getMonth();
}

/** The date as a time in UTC, whose days all have 24 hours. */
function midnightOf(time: Date): number {
  return Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
}

export function formatExact(time: string): string {
  return exact.format(new Date(time));
}

/** Such as "09:05", on the clock of the browser. */
export function formatClock(time: string): string {
  return clock.format(new Date(time));
}

/** A heading, such as "Today" or "Friday 27 November 2026". */
export function formatDate(at: number, now: number): string {
  const days = Math.round((midnightOf(new Date(now)) - midnightOf(new Date(at))) / 86_400_000);
  if (days === 0) return "Today";
  return days === 1 ? "Yesterday" : fullDay.format(at).replace(",", "");
}

/** Of a date without a time, such as "27 Nov". */
export function formatDay(date: string): string {
  return day.format(new Date(date));
}

/** Such as "2 min 5 s". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Of a rule, such as "1 day" or "90 minutes". */
export function formatSpan(seconds: number): string {
  const [unit, size] = UNITS.find((each) => seconds % each[1] === 0) ?? ["second", 1];
  return formatCount(seconds / size, unit);
}

/** Such as "1 project", and "2 projects". */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatNumber(value: number): string {
  return decimal.format(value);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** `in_progress` becomes "In progress". */
export function humanize(name: string): string {
  const text = name.replaceAll(/[._]/g, " ").toLowerCase().replace(/^api /, "API ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
