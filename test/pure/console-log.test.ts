import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cutLine,
  PLAIN,
  parseAnsi,
  toPlainLine,
} from "../../packages/console/src/log-view/ansi.ts";
import {
  findLines,
  LogLines,
  linesOfStack,
  step,
} from "../../packages/console/src/log-view/log-lines.ts";

const ESC = "\u001b";
const textOf = (line: string) =>
  parseAnsi(line)
    .spans.map(({ text }) => text)
    .join("");

/** Characters that a terminal or a browser would obey, and others. */
const hostileLine = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ESC,
        `${ESC}[`,
        `${ESC}[31m`,
        `${ESC}[1;38;5;200m`,
        `${ESC}[48;2;300;;m`,
        `${ESC}]8;;http://x${ESC}\\`,
        `${ESC}P`,
        "\u009b31m",
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\r",
        "\b",
        "<b>",
        "m",
        ";",
      ),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(""));

describe("a line with escape sequences", () => {
  it("has no control character and no character that hides or reorders text, whatever it is", () => {
    fc.assert(
      fc.property(hostileLine, (line) => {
        const refused =
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be gone.
          /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
        expect(textOf(line)).not.toMatch(refused);
        expect(toPlainLine(line)).toBe(textOf(line));
        for (const { text, classes } of parseAnsi(line).spans) {
          expect(text).not.toBe("");
          expect(classes).toMatch(/^[a-z -]*$/);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps text without escape sequences as it is", () => {
    const text = '<img src=x onerror="alert(1)">\tÄ 你好 👩‍💻'.replace("\u200d", "");
    expect(parseAnsi(text).spans).toEqual([{ text, classes: "" }]);
  });

  it.each([
    [`${ESC}[31mred`, "ansi-red"],
    [`${ESC}[91mred`, "ansi-bright-red"],
    [`${ESC}[1;4;32mx`, "ansi-bold ansi-underline ansi-green"],
    [`${ESC}[42mx`, "ansi-on-green"],
    [`${ESC}[104mx`, "ansi-on-bright-blue"],
    [`${ESC}[38;5;9mx`, "ansi-bright-red"],
    [`${ESC}[38;5;46mx`, "ansi-bright-green"],
    [`${ESC}[38;2;0;0;130mx`, "ansi-blue"],
    [`${ESC}[38;5;240mx`, "ansi-bright-black"],
    [`${ESC}[38:2::0:0:130mx`, "ansi-blue"],
    [`${ESC}[48:5:9;4mx`, "ansi-underline ansi-on-bright-red"],
    [`${ESC}[31m${ESC}[39mx`, ""],
    [`${ESC}[1;2;3m${ESC}[22mx`, "ansi-italic"],
    [`${ESC}[31;1m${ESC}[mx`, ""],
    [`${ESC}[31;0;3mx`, "ansi-italic"],
  ])("shows %j with the classes %j", (line, classes) => {
    expect(parseAnsi(line).spans).toEqual([{ text: line.includes("red") ? "red" : "x", classes }]);
  });

  it("leaves out other sequences with their contents", () => {
    const line = `a${ESC}[2Jb${ESC}]0;title\u0007c${ESC}]8;;http://x${ESC}\\d${ESC}Pq${ESC}\\e${ESC}(Bf`;
    expect(textOf(line)).toBe("abcdef");
  });

  it("shows what follows a sequence without an end", () => {
    expect(textOf(`a${ESC}]0;the rest of the line`)).toBe("a0;the rest of the line");
  });

  it("is cut without a part of a sequence at its end", () => {
    const line = `${"x".repeat(8)}${ESC}[31mred`;
    expect([9, 10, 12, 13, 14].map((length) => textOf(cutLine(line, length)))).toEqual([
      "xxxxxxxx",
      "xxxxxxxx",
      "xxxxxxxx",
      "xxxxxxxx",
      "xxxxxxxxr",
    ]);
    expect(cutLine("short", 9)).toBe("short");
  });

  it("has only what a progress bar shows last", () => {
    expect(textOf("10 %\r50 %\r100 %\r")).toBe("100 %");
  });

  it("takes work in proportion to its length", () => {
    // Quadratic work on a megabyte would take hours, and the test would time out.
    for (const part of [ESC, `${ESC}[`, `${ESC}]`, `${ESC}[1`, "\r", "\u202e", `${ESC}P`]) {
      const line = part.repeat(1_000_000 / part.length);
      expect(textOf(line).length).toBeLessThanOrEqual(6 * line.length);
    }
    expect(textOf(`${ESC}[${"1;".repeat(500_000)}x`)).toHaveLength(0);
  });
});

describe("the lines of a log", () => {
  const record = (offset: number, text: string, stack_id = "web") => ({
    offset,
    text,
    stack_id,
    time: `2026-11-23T09:00:00.${String(offset).padStart(3, "0")}Z`,
  });

  it("are numbered, and ignore what a reconnected stream repeats", () => {
    const lines = new LogLines();
    for (const each of [
      record(0, "a\n"),
      record(2, "b\r\n"),
      record(0, "a\n"),
      record(2, "b\r\n"),
    ]) {
      lines.add(each);
    }
    expect(lines.all.map(({ number, text }) => [number, text])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  it("join records without a line break, also if another stack prints in between", () => {
    const lines = new LogLines();
    lines.add(record(0, "one "));
    lines.add(record(4, "other "));
    lines.add(record(10, "of worker\n", "worker"));
    lines.add(record(20, "end\n"));
    expect(lines.all.map(({ number, stackId, text }) => [number, stackId, text])).toEqual([
      [1, "web", "one other end"],
      [2, "worker", "of worker"],
    ]);
    expect(lines.all[0]?.time).toMatch(/000Z$/);
  });

  it("keep the style of earlier lines of their stack", () => {
    const lines = new LogLines();
    lines.add(record(0, `${ESC}[31mred\n`));
    lines.add(record(10, "plain\n", "worker"));
    lines.add(record(20, "still red\n"));
    const [first, second, third] = lines.all;
    expect([first?.style, second?.style]).toEqual([PLAIN, PLAIN]);
    expect(third?.style.color).toBe("red");
  });

  it("begin another line after a megabyte without a line break", () => {
    const lines = new LogLines();
    const part = "x".repeat(65_536);
    for (let at = 0; at < 20; at += 1) lines.add(record(at * part.length, part));
    expect(lines.all.map(({ text }) => text.length)).toEqual([1_048_576, 4 * 65_536]);
  });

  it("are found by text without colors, by stack and by errors, and begin again at the other end", () => {
    const lines = new LogLines();
    const texts = [
      "Building",
      `a ${ESC}[31mFAI${ESC}[0mLED step`,
      "no errors here",
      "terror",
      "fatal: x",
    ];
    texts.forEach((text, at) => {
      lines.add(record(at, `${text}\n`, at % 2 ? "worker" : "web"));
    });
    const numbers = (found: readonly { number: number }[]) => found.map(({ number }) => number);
    expect(numbers(findLines(lines.all, "failed"))).toEqual([2]);
    expect(findLines(lines.all, "")).toEqual([]);
    const errors = lines.all.filter(({ isError }) => isError);
    expect(numbers(errors)).toEqual([2, 5]);
    expect(numbers(linesOfStack(lines.all, "web"))).toEqual([1, 3, 5]);
    expect(linesOfStack(lines.all, "")).toHaveLength(5);
    expect(step(errors, 0, "next")?.number).toBe(2);
    expect(step(errors, 3, "next")?.number).toBe(5);
    expect(step(errors, 5, "next")?.number).toBe(2);
    expect(step(errors, 2, "previous")?.number).toBe(5);
    expect(step([], 2, "next")).toBe(undefined);
  });
});
