import { describe, expect, it } from "vitest";
import {
  describeTime,
  isOpen,
  nextOpening,
} from "../../src/features/deployments/conditions/windows.ts";
import type { WindowRule } from "../../src/features/projects/access/model.ts";

const MINUTE_MS = 60_000;
const EVERY_DAY: WindowRule["weekly"][number]["days"] = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one takes far longer than using it. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const found = formats.get(timeZone);
  if (found) return found;
  const parts = { weekday: "long", hour: "2-digit", minute: "2-digit" } as const;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...parts });
  formats.set(timeZone, format);
  return format;
}

/** What a clock on the wall shows, without the code of the service. */
function wallClock(zone: string, instant: number): { day: string; time: string } {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const time = `${parts.get("hour")}:${parts.get("minute")}`;
  return { day: String(parts.get("weekday")).toLowerCase(), time };
}

const DAY_NAMES: readonly string[] = EVERY_DAY;
const dayBefore = (day: string) => DAY_NAMES[(DAY_NAMES.indexOf(day) + 6) % 7];

function isOpenOnTheWall({ time_zone: zone, weekly }: WindowRule, instant: number): boolean {
  const { day, time } = wallClock(zone, instant);
  return weekly.some(({ days, from, to }) => {
    const names: readonly string[] = days;
    if (from < to) return names.includes(day) && from <= time && time < to;
    return (
      (names.includes(day) && from <= time) || (names.includes(String(dayBefore(day))) && time < to)
    );
  });
}

const daily = (zone: string, from: string, to: string): WindowRule => ({
  time_zone: zone,
  weekly: [{ days: EVERY_DAY, from, to }],
});

/** The changes of the clock in 2026: the hour that is passed over, and the one that occurs twice. */
const ZONES = [
  { zone: "Europe/Berlin", forward: "2026-03-29T01:00Z", back: "2026-10-25T01:00Z" },
  { zone: "America/New_York", forward: "2026-03-08T07:00Z", back: "2026-11-01T06:00Z" },
  // By half an hour, on the other half of the Earth.
  { zone: "Australia/Lord_Howe", forward: "2026-10-03T15:30Z", back: "2026-04-04T15:00Z" },
];

const WINDOWS: [from: string, to: string][] = [
  ["02:00", "03:00"],
  ["02:15", "02:45"],
  ["01:30", "02:10"],
  ["22:00", "04:00"],
  ["09:00", "09:00"],
];

describe.each(ZONES)("in $zone", ({ zone, forward, back }) => {
  it.each(WINDOWS)("a window from %s to %s follows the clock over both changes", (from, to) => {
    const rule = daily(zone, from, to);
    for (const change of [forward, back].map((text) => Date.parse(text))) {
      const start = change - 26 * 60 * MINUTE_MS;
      const minutes = Array.from({ length: 52 * 60 }, (_, at) => start + at * MINUTE_MS);
      const open = minutes.map((each) => isOpenOnTheWall(rule, each));
      expect(minutes.map((each) => isOpen(rule, each))).toEqual(open);
      for (let at = 0; at < minutes.length / 2; at += 31) {
        if (open[at]) continue;
        const next = open.indexOf(true, at);
        const found = nextOpening(rule, minutes[at] ?? 0);
        expect(found && new Date(found).toISOString()).toBe(
          new Date(minutes[next] ?? 0).toISOString(),
        );
      }
    }
  });
});

describe("a window", () => {
  it("over midnight belongs to the day on which it begins", () => {
    const rule: WindowRule = {
      time_zone: "Europe/Berlin",
      weekly: [{ days: ["friday"], from: "22:00", to: "02:00" }],
    };
    const at = (text: string) => isOpen(rule, Date.parse(`${text}+01:00`));
    // The 4th of December 2026 is a Friday.
    expect(["2026-12-04T21:59", "2026-12-04T22:00", "2026-12-05T01:59"].map(at)).toEqual([
      false,
      true,
      true,
    ]);
    expect(["2026-12-05T02:00", "2026-12-04T01:00", "2026-12-05T22:30"].map(at)).toEqual([
      false,
      false,
      false,
    ]);
    const next = nextOpening(rule, Date.parse("2026-12-05T02:00+01:00"));
    expect(next).toBe(Date.parse("2026-12-11T22:00+01:00"));
    expect(describeTime("Europe/Berlin", next ?? 0)).toBe("Friday 22:00 Europe/Berlin");
  });

  it("opens first where several are", () => {
    const rule: WindowRule = {
      time_zone: "Asia/Kolkata",
      weekly: [
        { days: ["monday", "thursday"], from: "14:00", to: "16:30" },
        { days: ["wednesday"], from: "00:00", to: "23:59" },
      ],
    };
    const next = nextOpening(rule, Date.parse("2026-12-01T12:00Z"));
    expect(next).toBe(Date.parse("2026-12-02T00:00+05:30"));
  });
});
