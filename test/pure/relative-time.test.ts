import { afterEach, describe, expect, it } from "vitest";
import { formatRelative } from "../../packages/console/src/format.ts";

const zone = process.env["TZ"];

afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

/** What the console says at a time about another one, in a time zone. Both are on its clock, or have an offset. */
function say(timeZone: string, now: string, time: string): string {
  process.env["TZ"] = timeZone;
  return formatRelative(new Date(time).toISOString(), Date.parse(now));
}

describe("a relative time", () => {
  it.each([
    ["2026-11-27T09:00", "2026-11-28T08:59", "in 23 hours"],
    ["2026-11-27T09:00", "2026-11-28T09:00", "tomorrow"],
    ["2026-11-28T10:00", "2026-11-30T09:00", "in 2 days"],
    ["2026-11-28T23:59", "2026-11-30T09:00", "in 2 days"],
    ["2026-11-29T00:00", "2026-11-30T09:00", "tomorrow"],
    ["2026-11-29T09:01", "2026-11-30T09:00", "in 23 hours"],
    ["2026-11-29T23:50", "2026-11-30T00:10", "in 20 minutes"],
    ["2026-11-27T18:00", "2026-11-30T09:00", "in 3 days"],
    ["2026-11-30T09:00", "2026-11-28T23:59", "2 days ago"],
    ["2026-11-30T09:00", "2026-11-29T00:00", "yesterday"],
    ["2026-11-30T09:00", "2026-11-29T09:01", "23 hours ago"],
  ])("counts dates from a day on, and hours before: at %s, %s is %s", (now, time, text) => {
    expect(say("Europe/Berlin", now, time)).toBe(text);
  });

  it.each([
    ["Europe/Berlin", "2026-03-28T09:30", "2026-03-29T09:00", "in 22 hours"],
    ["Europe/Berlin", "2026-03-28T09:00", "2026-03-30T09:00", "in 2 days"],
    ["Europe/Berlin", "2026-03-28T23:30", "2026-03-30T00:15", "in 23 hours"],
    ["Europe/Berlin", "2026-03-28T23:00", "2026-03-30T00:15", "in 2 days"],
    ["Europe/Berlin", "2026-10-24T09:30", "2026-10-25T09:00", "tomorrow"],
    ["Europe/Berlin", "2026-10-25T00:05", "2026-10-25T23:55", "in 24 hours"],
    ["America/New_York", "2026-10-31T09:30", "2026-11-02T09:00", "in 2 days"],
  ])("knows days of 23 and 25 hours: in %s at %s, %s is %s", (timeZone, now, time, text) => {
    expect(say(timeZone, now, time)).toBe(text);
  });

  it("is by the dates where the reader is", () => {
    const [now, time] = ["2026-11-28T21:00Z", "2026-11-29T23:30Z"];
    expect(say("UTC", now, time)).toBe("tomorrow");
    expect(say("Europe/Berlin", now, time)).toBe("in 2 days");
  });

  it.each([
    ["2027-01-31T10:00", "2027-03-02T11:00", "in 2 months"],
    ["2027-01-02T10:00", "2027-02-01T11:00", "next month"],
    ["2027-01-01T10:00", "2027-01-31T11:00", "in 30 days"],
    ["2026-12-31T10:00", "2028-01-01T11:00", "in 2 years"],
    ["2027-01-01T10:00", "2028-01-01T11:00", "next year"],
    ["2028-01-01T10:00", "2028-12-31T11:00", "in 11 months"],
  ])("counts months and years of the calendar, too: at %s, %s is %s", (now, time, text) => {
    expect(say("Europe/Berlin", now, time)).toBe(text);
  });
});
