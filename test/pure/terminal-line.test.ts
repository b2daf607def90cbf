import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LiveDisplay } from "../../packages/cli/src/deployments/live-display.ts";
import { LiveLog } from "../../packages/cli/src/deployments/live-log.ts";
import { LineJoiner } from "../../packages/cli/src/deployments/log-text.ts";
import { StackNames } from "../../packages/cli/src/deployments/stack-names.ts";
import { shorten, toShownLine } from "../../packages/cli/src/deployments/terminal-line.ts";
import { Output } from "../../packages/cli/src/output.ts";

const STACK = "1CgMoo6Wfj9u5hu6v1REVC";
const RED = "\u001b[31m";
const RESET = "\u001b[0m";

function toRecord(text: string) {
  return { stack_id: STACK, text, offset: 0, time: "2026-11-21T09:30:01.113Z" };
}

describe("a line that returns to its beginning", () => {
  it.each([
    ["10%\r50%\r100%", "100%"],
    ["100%\rDone", "Done"],
    ["Downloading\rDone", "Doneloading"],
    ["Downloading\r\u001b[KDone", "Done"],
    ["Downloading\r\u001b[2K\rDone", "Done"],
    ["Downloading\u001b[2K\u001b[1GDone", "Done"],
    ["abc\u001b[1KX", "   X"],
    ["|\b/\b-\b\\", "\\"],
    ["abc\u001b[2DX", "aXc"],
    ["a\u001b[2CX", "a  X"],
    ["漢字\rab", "ab字"],
    ["漢字\ra", "a 字"],
    ["ab\r漢", "漢"],
    ["漢字\r\u001b[1Ka", "a 字"],
    ["漢字\u001b[2G\u001b[Ka", " a"],
    ["e\u0301\rx", "x"],
    ["50%\r", "50%"],
    ["\r\r50%", "50%"],
    ["plain", "plain"],
    [`${RED}50%${RESET}\r${RED}100%${RESET} ok`, `${RED}100%${RESET} ok`],
    [`${RED}abc${RESET}\rX`, `X${RED}bc${RESET}`],
    ["\u001b[2Ja\rb", "b[2Ja"],
  ])("%j is shown as %j", (text, shown) => {
    expect(toShownLine(text)).toBe(shown);
  });

  it("is shown in the same way after it was shortened, whatever follows", () => {
    const part = fc.constantFrom(
      ...["a", "bc", "漢", "\r", "\b", RED, RESET, "\u001b[1;32m", "\u001b[K", "\u001b[1K"],
      ...["\u001b[2K", "\u001b[5G", "\u001b[3C", "\u001b[2D", " ", "e\u0301"],
    );
    const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(toShownLine(`${shorten(before)}\r${after}`)).toBe(
          toShownLine(`${before}\r${after}`),
        );
      }),
    );
  });

  it("stays one line of the log, however often it is overwritten", () => {
    const joiner = new LineJoiner();
    const printed = Array.from({ length: 20_000 }, (_, at) =>
      joiner.push(toRecord(`\rstep ${at}`)),
    );
    expect(printed.flat()).toEqual([]);
    expect(joiner.begun).toEqual([{ stackId: STACK, text: "step 19999" }]);
    expect(joiner.push(toRecord("\r\n"))).toEqual([{ stackId: STACK, text: "step 19999" }]);
  });

  it("is cut where it is long without being overwritten", () => {
    const joiner = new LineJoiner();
    expect(joiner.push(toRecord(`a\r${"x".repeat(65_535)}`))).toEqual([]);
    expect(joiner.push(toRecord("x"))).toEqual([{ stackId: STACK, text: "x".repeat(65_536) }]);
  });
});

describe("a terminal", () => {
  const names = new StackNames(new Map([[STACK, "web"]]));
  const open = (columns = 20) => {
    const stdout = Object.assign(new PassThrough({ encoding: "utf8" }), {
      isTTY: true,
      columns,
      rows: 10,
    });
    const output = new Output({ env: {}, stdout, stderr: stdout, exit: () => undefined });
    return { output, read: () => String(stdout.read() ?? "") };
  };

  it("overwrites the progress of a log that is followed, and keeps its last state", () => {
    const { output, read } = open();
    const log = new LiveLog(output, names);
    log.push(toRecord("10%"));
    expect(read()).toContain("web | 10%\n");
    log.push(toRecord("\r20%"));
    expect(read()).toContain("\u001b[1A\u001b[Jweb | 20%\n");
    log.push(toRecord(`\r${"=".repeat(40)}`));
    expect(read()).toContain(`web | ${"=".repeat(12)}…\n`);
    log.push(toRecord("\r\u001b[KDone\n"));
    expect(read()).toContain("\u001b[1A\u001b[Jweb | Done\n");
    log.push(toRecord("half"));
    log.pause();
    expect(read()).toContain("\u001b[1A\u001b[J");
    log.flush();
    expect(read()).toContain("web | half\n");
  });

  it("overwrites it above the states of a deployment", () => {
    const { output, read } = open(60);
    const display = new LiveDisplay(output, names, STACK);
    const progress = { stacks: [{ id: STACK, status: "in_progress" as const }], waitingFor: [] };
    display.onStatus({ ...progress, status: "in_progress" });
    display.onLine(toRecord("10%\r20%"));
    display.pause();
    display.resume();
    display.onLine(toRecord("\r30%\n"));
    display.close();
    expect(read()).toMatch(/web \| 30%\n.*Deployment/);
  });
});
