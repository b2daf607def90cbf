import { tzOffset } from "@date-fns/tz/tzOffset";
import { DAY_MS } from "../../../lib/clock.ts";
import { DAYS, type WeeklyWindow, type WindowRule } from "../../projects/access/model.ts";

const MINUTE_MS = 60_000;
/** A week, and a day for windows over midnight. */
const SEARCHED_DAYS = 8;

/** Whether the clock of the time zone is within one of the windows. */
export function isOpen({ time_zone: zone, weekly }: WindowRule, now: number): boolean {
  const local = new Date(toLocal(zone, now));
  const day = local.getUTCDay();
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes();
  return weekly.some((window) => isWithin(window, day, minute));
}

/** The next time at which one opens, on a minute. Null: none does within a week. */
export function nextOpening(rule: WindowRule, now: number): number | null {
  const { time_zone: zone, weekly } = rule;
  const midnight = Math.floor(toLocal(zone, now) / DAY_MS) * DAY_MS;
  const days = Array.from({ length: SEARCHED_DAYS + 1 }, (_, at) => midnight + at * DAY_MS);
  const begins = days.flatMap((day) => weekly.map(({ from }) => day + minuteOf(from) * MINUTE_MS));
  // A change of the clock may pass over a beginning, or go back from after an end.
  const candidates = [
    ...begins.flatMap((local) => toInstants(zone, local)),
    ...days.flatMap((_, at) => findChange(zone, now + at * DAY_MS)),
  ];
  const opening = candidates
    .filter((each) => each > now)
    .sort((one, other) => one - other)
    .find((each) => isOpen(rule, each));
  return opening ?? null;
}

/** The first minute with another offset than at `start`, within a day. */
function findChange(zone: string, start: number): number[] {
  const before = tzOffset(zone, new Date(start));
  let [same, other] = [Math.floor(start / MINUTE_MS), Math.ceil((start + DAY_MS) / MINUTE_MS)];
  if (tzOffset(zone, new Date(other * MINUTE_MS)) === before) return [];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (tzOffset(zone, new Date(middle * MINUTE_MS)) === before) same = middle;
    else other = middle;
  }
  return [other * MINUTE_MS];
}

function isWithin({ days, from, to }: WeeklyWindow, day: number, minute: number): boolean {
  const [start, end] = [minuteOf(from), minuteOf(to)];
  const isOn = (each: number) => days.some((name) => DAYS.indexOf(name) === (each + 7) % 7);
  if (start < end) return isOn(day) && minute >= start && minute < end;
  return (isOn(day) && minute >= start) || (isOn(day - 1) && minute < end);
}

/** The time on the clock of the zone, as if it were UTC. */
function toLocal(zone: string, instant: number): number {
  return instant + tzOffset(zone, new Date(instant)) * MINUTE_MS;
}

/** When the clock may show the local time: a change of the clock lies between the offsets before and after. */
function toInstants(zone: string, local: number): number[] {
  const offsets = [-DAY_MS, DAY_MS].map((away) => tzOffset(zone, new Date(local + away)));
  return [...new Set(offsets)].map((minutes) => local - minutes * MINUTE_MS);
}

function minuteOf(time: string): number {
  const [hours, minutes] = time.split(":");
  return Number(hours) * 60 + Number(minutes);
}

/** As `Monday 09:00 Europe/Berlin`. */
export function describeTime(zone: string, instant: number): string {
  const local = new Date(toLocal(zone, instant));
  const day = DAYS[local.getUTCDay()] ?? "";
  const time = local.toISOString().slice(11, 16);
  return `${day.charAt(0).toUpperCase()}${day.slice(1)} ${time} ${zone}`;
}
