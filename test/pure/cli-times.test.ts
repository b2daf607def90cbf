import type { Command } from "commander";
import { afterAll, describe, expect, it } from "vitest";
import { readTime } from "../../packages/cli/src/local-time.ts";
import { createProgram } from "../../packages/cli/src/program.ts";
import type { CliContext } from "../../packages/cli/src/session.ts";
import { CliUser } from "../programs/support/cli.ts";

const user = new CliUser();

afterAll(() => user.remove());

/** The arguments before the value of each option that takes a time. */
function timeOptions(command: Command, path: readonly string[] = []): string[][] {
  const taken = command.options.filter(({ flags }) => flags.includes("<time>"));
  return [
    ...taken.map(({ long }) => [...path, String(long)]),
    ...command.commands.flatMap((each) => timeOptions(each, [...path, each.name()])),
  ];
}

const OPTIONS = timeOptions(
  createProgram({ output: { stdout: {}, stderr: {} } } as unknown as CliContext),
);

/** The last day of each month of a year without and one with a leap day, and the day after it. */
const MONTHS = [2027, 2028].flatMap((year) =>
  Array.from({ length: 12 }, (_, month) => {
    const days = new Date(year, month + 1, 0).getDate();
    const prefix = `${year}-${String(month + 1).padStart(2, "0")}`;
    return { prefix, days };
  }),
);

describe("a time", () => {
  it.each(MONTHS)("exists up to $prefix-$days", ({ prefix, days }) => {
    for (const rest of ["", " 09:30", "T09:30:00Z", "T09:30:00.000+02:00"]) {
      expect(readTime(`${prefix}-${days}${rest}`)).toBe(
        new Date(`${prefix}-${days}${rest || "T00:00"}`).toISOString(),
      );
      for (let day = days + 1; day <= 31; day += 1) {
        expect(() => readTime(`${prefix}-${day}${rest}`)).toThrow(
          `${prefix}-${day} does not exist: ${prefix} has ${days} days. Write a day of that month.`,
        );
      }
    }
  });

  it.each([
    "2027-13-01",
    "2027-00-10",
    "2027-02-32",
    "2027-02-00",
    "2027-02-28 25:00",
    "tomorrow",
    "",
  ])("is not %j", (text) => {
    expect(() => readTime(text)).toThrow(
      `"${text}" is not a time. Write it as 2026-11-21 or "2026-11-21 09:30".`,
    );
  });

  it("is none that the clocks of the machine skip", () => {
    const zone = process.env["TZ"];
    try {
      process.env["TZ"] = "Europe/Berlin";
      expect(() => readTime("2027-03-28 02:30")).toThrow(
        '"2027-03-28 02:30" does not exist in this machine\'s time zone, which sets its clocks forward.',
      );
      expect(readTime("2027-03-28 03:00")).toBe("2027-03-28T01:00:00.000Z");
      expect(readTime("2027-03-28 01:59")).toBe("2027-03-28T00:59:00.000Z");
      expect(readTime("2027-03-28 02:30Z")).toBe("2027-03-28T02:30:00.000Z");
      expect(readTime("2027-03-27 24:00")).toBe("2027-03-27T23:00:00.000Z");
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });
});

describe("every option that takes a time", () => {
  it("is known to this test", () => {
    expect(OPTIONS).toEqual(
      expect.arrayContaining([
        ["freeze", "--until"],
        ["keys", "create", "--expires"],
        ["audit", "--from"],
      ]),
    );
  });

  it.each(OPTIONS.map((args) => [args.join(" "), args] as const))(
    "%s refuses February 30",
    async (_, args) => {
      const { status, stderr } = await user.run([...args, "2027-02-30"]);
      expect([status, stderr]).toEqual([
        1,
        "2027-02-30 does not exist: 2027-02 has 28 days. Write a day of that month.\n",
      ]);
    },
  );
});
