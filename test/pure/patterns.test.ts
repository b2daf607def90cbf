import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import { EMAIL, TEXT } from "../../src/lib/text-patterns.ts";
import { isAmbiguous } from "../programs/support/ambiguity.ts";
import { literalCharacters, starHeight } from "../programs/support/pattern-shape.ts";
import {
  type Pattern,
  SCHEMA_PATTERNS,
  SOURCE_PATTERNS,
  UNUSED_VALUES,
} from "../programs/support/patterns.ts";

/** The patterns with a star height above 1, each with the reason why matching takes linear time. */
const NESTED = new Map([
  [
    String.raw`[^\s"@]@(?:[\w-]+\.)+[a-z]{2}`,
    "A label has no dot, and what precedes the labels ends with the only @.",
  ],
  [
    String.raw`^(?:(?:https?|ssh|git):\/\/)?(?:[^@/\s]+@)?([\w.-]+)(?::\d+(?=\/))?[:/]+([\w.-]+(?:\/[\w.-]+)+)\/*$`,
    "A path segment has no slash.",
  ],
  [
    String.raw`^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$`,
    "A unit has no digit and no dot, and a number follows each.",
  ],
  [
    String.raw`^([a-z]+):([\w.-]+(?:\/[\w.-]+)+)(?:=(.+))?$`,
    "A path segment has no slash and no equals sign.",
  ],
  [
    String.raw`^(\w[\w.-]*(?::\d+)?(?:\/[\w.-]+)*?)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
    "A path segment has no slash, and no colon or @ that begins what follows it.",
  ],
  [String.raw`^[a-z]{2,3}(-[a-z]+)+-\d{1,2}$`, "A word has no hyphen."],
  [
    "^(?:--.*\\n)*CREATE (?:(TRIGGER `\\w+`) [\\s\\S]*?^END;$|(INDEX `\\w+`) .*;$)",
    "A comment has no line break, and ends with one.",
  ],
  [String.raw`^(?:--.*\n)+(?=\n)`, "A comment has no line break, and ends with one."],
  [String.raw`^(?:--.*\n)+`, "A comment has no line break, and ends with one."],
]);

const SHORT = 40;
const LONG = 50_000;

const patternOf = (source: string): Pattern => ({ origin: "this test", source, flags: "u" });

/** A JSON Pointer, as the rules of an environment once checked it. */
const EXPONENTIAL = patternOf(String.raw`^(\/[^\p{Cc}\p{Cs}]*)+$`);
const QUADRATIC = patternOf("^a*a*$");

/**
 * The pattern on which a process was when it had used a second of processor time, if it did. The kernel counts the
 * time and ends the process, so the result does not depend on other work of the machine.
 */
async function findSlow(
  patterns: readonly Pattern[],
  ...lengths: readonly number[]
): Promise<string | undefined> {
  const program = join(ROOT, "test/programs/support/match-repeats.mjs");
  const command = ["-c", 'ulimit -t 1 && exec "$0" "$1"', process.execPath, program];
  const child = spawn("sh", command, { stdio: ["pipe", "pipe", "inherit"] });
  const named = patterns.map((each) => ({ ...each, characters: literalCharacters(each) }));
  child.stdin.end(JSON.stringify({ patterns: named, lengths }));
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (signal) return output.trim().split("\n").at(-1);
  expect(code).toBe(0);
  return undefined;
}

const describePattern = ({ origin, source }: Pattern) => `${origin}: ${source}`;

describe("a pattern of src, packages and scripts", () => {
  it("is read wherever it is written, with the constants that it consists of", () => {
    expect(SOURCE_PATTERNS.length).toBeGreaterThan(250);
    const sources = SOURCE_PATTERNS.map(({ source }) => source);
    expect(sources).toEqual(expect.arrayContaining([EMAIL.source, TEXT.source]));
    expect(UNUSED_VALUES).toEqual([]);
  });

  it("has a star height above 1 only if the reason is listed", () => {
    const nested = [...SOURCE_PATTERNS, ...SCHEMA_PATTERNS].filter((each) => starHeight(each) > 1);
    expect(nested.filter(({ source }) => !NESTED.has(source)).map(describePattern)).toEqual([]);
    const sources = nested.map(({ source }) => source);
    expect([...NESTED.keys()].filter((each) => !sources.includes(each))).toEqual([]);
  });

  it("has no repeated group that can match the same text in two ways", () => {
    expect(SOURCE_PATTERNS.filter(isAmbiguous).map(describePattern)).toEqual([]);
  });

  it(`matches ${SHORT} of each of its characters at once`, async () => {
    expect(await findSlow(SOURCE_PATTERNS, SHORT)).toBeUndefined();
  });
});

describe("a pattern of a schema", () => {
  it("has no repeated group that can match the same text in two ways", () => {
    expect(SCHEMA_PATTERNS.length).toBeGreaterThan(30);
    expect(SCHEMA_PATTERNS.filter(isAmbiguous).map(describePattern)).toEqual([]);
  });

  it("matches a long text of each of its characters within a second", async () => {
    const slow: string[] = [];
    // A process of its own for each, because the second is for one pattern.
    for (const each of SCHEMA_PATTERNS) {
      if ((await findSlow([each], SHORT, LONG)) !== undefined) slow.push(describePattern(each));
    }
    expect(slow).toEqual([]);
  });
});

describe("a slow pattern", () => {
  it("is found by its star height, its ambiguity and the time that it takes", async () => {
    expect([starHeight(EXPONENTIAL), isAmbiguous(EXPONENTIAL)]).toEqual([2, true]);
    expect(await findSlow([QUADRATIC, EXPONENTIAL], SHORT)).toBe(EXPONENTIAL.source);
    expect([starHeight(QUADRATIC), isAmbiguous(QUADRATIC)]).toEqual([1, false]);
    expect(await findSlow([QUADRATIC], SHORT, LONG)).toBe(QUADRATIC.source);
  });

  it.each([
    ["(a*)*", "(-a*)*"],
    ["(a|a)*", "(a|b)*"],
    ["(a|ab|b)*", "(a|ab)*"],
    ["(a*a*-)+", "(a*b*-)+"],
    ["(a*-{1,2})+", "(a+-{1,2})+"],
    ["(a{2,3})+", "(a{2}){3}"],
    ["(-[ab]*|[ab]+=)*", "(-[ab]*|-=)*"],
    ["(?=(a*)*b)", "(?=(ca*)*b)"],
    [String.raw`([\w.]+\.)*`, String.raw`([\w-]+\.)*`],
  ])("is %s, because of its ambiguity, and is not %s", (ambiguous, other) => {
    expect(isAmbiguous(patternOf(ambiguous))).toBe(true);
    expect(isAmbiguous(patternOf(other))).toBe(false);
  });
});
