import { PassThrough } from "node:stream";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "../../packages/cli/src/deployments/duration.ts";
import { findRollback } from "../../packages/cli/src/deployments/find-rollback.ts";
import { type FrameRow, renderFrame } from "../../packages/cli/src/deployments/live-frame.ts";
import { LiveLines } from "../../packages/cli/src/deployments/live-lines.ts";
import { LineJoiner, toSafeLine } from "../../packages/cli/src/deployments/log-text.ts";
import { toPatchLines } from "../../packages/cli/src/deployments/patch-lines.ts";
import { buildPatch } from "../../packages/cli/src/deployments/set-patch.ts";
import type { Schemas } from "../../packages/client/src/index.ts";

describe("a rollback", () => {
  /** The newest first. */
  async function* listOf(statuses: readonly string[]) {
    for (const [at, text] of statuses.entries()) {
      const [status, started] = text.split(" ");
      yield { id: `${at}`, status, ...(started && { started_at: "" }) } as Schemas["Deployment"];
    }
  }
  const endless = (status: string) => Array.from({ length: 600 }, () => status);

  it.each([
    [
      ["succeeded started", "failed started", "succeeded started"],
      ["0", "2"],
    ],
    [
      ["failed started", "succeeded started"],
      ["0", "1"],
    ],
    [
      ["queued", "superseded", "succeeded started"],
      ["0", "2"],
    ],
    // What has never started has changed nothing.
    [
      ["failed", "canceled", "succeeded started", "succeeded started"],
      ["2", "3"],
    ],
    [["succeeded started", "failed started"], undefined],
    [["failed", "succeeded started"], undefined],
    [[], undefined],
    [["succeeded started", ...endless("failed started"), "succeeded started"], undefined],
  ])("goes back to the last success before what has started or waits: %j", async (all, ids) => {
    const found = await findRollback(listOf(all));
    expect(found && [found.current.id, found.previous.id]).toEqual(ids);
  });
});

describe("the patch of --set", () => {
  it.each([
    ["replicas=3", { op: "replace", path: "/replicas", value: 3 }],
    ["name=a=b c", { op: "replace", path: "/name", value: "a=b c" }],
    ['name="3"', { op: "replace", path: "/name", value: "3" }],
    ["name=", { op: "replace", path: "/name", value: "" }],
    ["none=null", { op: "replace", path: "/none", value: null }],
    ["hosts.0.port=80", { op: "replace", path: "/hosts/0/port", value: 80 }],
    ["hosts.0.tls=true", { op: "add", path: "/hosts/0/tls", value: true }],
    ["hosts.1.port=81", { op: "add", path: "/hosts/1", value: { port: 81 } }],
    ["hosts.-={}", { op: "add", path: "/hosts/-", value: {} }],
    ["a.b.c=[1]", { op: "add", path: "/a", value: { b: { c: [1] } } }],
    ["a/b~c.0=x", { op: "add", path: "/a~1b~0c", value: { 0: "x" } }],
    ["a\\.b.c=1", { op: "add", path: "/a.b", value: { c: 1 } }],
    ["constructor.name=1", { op: "add", path: "/constructor", value: { name: 1 } }],
  ])("%s is one operation", (text, operation) => {
    const configuration = { replicas: 1, name: "x", none: null, hosts: [{ port: 1 }] };
    expect(buildPatch(configuration, [], [text])).toEqual([operation]);
  });

  it("makes each operation for what those before it leave, and treats __proto__ as any key", () => {
    const patch = [{ op: "add", path: "/a", value: {} }] as const;
    const built = buildPatch({}, patch, [
      "a.__proto__.x=1",
      "a.__proto__.x=2",
      "l.-=1",
      "n.m.-.x=1",
      "l=[]",
      "l.-=1",
    ]);
    expect(JSON.stringify(built)).toBe(
      '[{"op":"add","path":"/a","value":{}},' +
        '{"op":"add","path":"/a/__proto__","value":{"x":1}},' +
        '{"op":"replace","path":"/a/__proto__/x","value":2},' +
        '{"op":"add","path":"/l","value":[1]},' +
        '{"op":"add","path":"/n","value":{"m":[{"x":1}]}},' +
        '{"op":"replace","path":"/l","value":[]},' +
        '{"op":"add","path":"/l/-","value":1}]',
    );
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it.each([
    ["hosts.5=1", "hosts is a list of 1. Name an element by its index, or a new one by -."],
    ["hosts.first=1", "hosts is a list of 1."],
    ["none.a=1", "none is null, which has no members. Set none itself."],
    ["a", "Write --set as path=value"],
    [".a=1", "Write --set as path=value"],
  ])("%s is refused", (text, message) => {
    expect(() => buildPatch({ hosts: [1], none: null }, [], [text])).toThrow(message);
  });

  it("says which operation of --patch does not apply", () => {
    const patch = [{ op: "remove", path: "/b" }] as const;
    expect(() => buildPatch({}, patch, ["a=1"])).toThrow("The patch does not apply: operation 0:");
    expect(buildPatch({}, patch)).toEqual(patch);
  });
});

describe("the diff of a patch", () => {
  it("has the old values that the service has recorded", () => {
    const lines = toPatchLines([
      { op: "replace", path: "/a", value: { b: 1 }, old_value: null },
      { op: "add", path: "/c\u202e", value: "\u001b[2J" },
      { op: "remove", path: "/d", old_value: [1] },
      { op: "remove", path: "/e" },
      { op: "test", path: "/f", value: 0 },
      { op: "move", path: "/g", from: "/h", old_value: 2 },
      { op: "copy", path: "/i", from: "/g" },
    ]);
    expect(lines.map(({ sign, text }) => `${sign} ${text}`)).toEqual([
      "- /a null",
      '+ /a {"b":1}',
      '+ /c\\u202e "\\u001b[2J"',
      "- /d [1]",
      "- /e",
      "  /f must be 0",
      "- /g 2",
      "+ /g (moved from /h)",
      "+ /i (copied from /g)",
    ]);
  });
});

describe("the text of a log", () => {
  const hostile =
    "\u001b[1;31mred\u001b[0m \u001b[2J\u001b]8;;http://x\u0007link\u009b5A\u202ea\tb\r";

  it("keeps colours only where they are shown, and ends them with the line", () => {
    const rest = " \\x1b[2J\\x1b]8;;http://x\\x07link\\x9b5A\\u202ea\tb\\x0d";
    expect(toSafeLine(hostile, { hasColors: false })).toBe(`red${rest}`);
    expect(toSafeLine(hostile, { hasColors: true })).toBe(
      `\u001b[1;31mred\u001b[0m${rest}\u001b[0m`,
    );
    expect(toSafeLine("plain", { hasColors: true })).toBe("plain");
  });

  it("joins the records of a line, also when those of two stacks alternate", () => {
    const joiner = new LineJoiner();
    const push = (stack_id: string, text: string) =>
      joiner.push({ stack_id, text, offset: 0, time: "2026-11-21T09:30:01.113Z" });
    expect(push("a", "Crea")).toEqual([]);
    expect(push("b", "Done\r\n")).toEqual([{ stackId: "b", text: "Done" }]);
    expect(push("a", "ting\n")).toEqual([{ stackId: "a", text: "Creating" }]);
    expect(push("b", "no end")).toEqual([]);
    expect(push("a", "x".repeat(70_000))).toHaveLength(1);
    expect(joiner.flush()).toEqual([{ stackId: "b", text: "no end" }]);
    expect(joiner.flush()).toEqual([]);
  });
});

describe("durations", () => {
  it.each([
    ["90", 90_000, "1m 30s"],
    ["90s", 90_000, "1m 30s"],
    ["1h30m", 5_400_000, "1h 30m"],
    ["0.5m", 30_000, "30s"],
    ["500ms", 500, "0.5s"],
  ])("%s are %i ms, %s", (text, ms, shown) => {
    expect(parseDuration(text)).toBe(ms);
    expect(formatDuration(ms)).toBe(shown);
  });

  it.each(["", "0", "-5s", "5 s", "10d", "1e3", "1h-5m", "900000h", "ms"])(
    "%j is refused",
    (text) => {
      expect(() => parseDuration(text)).toThrow("is not a duration. Write it as 90s, 10m or 1h30m");
    },
  );
});

describe("the live view", () => {
  const title: FrameRow = {
    name: "Deployment 1CgMoo6Wfj9u5hu6v1REVC",
    status: "in_progress",
    elapsedMs: 65_432,
  };
  const stacks: FrameRow[] = [
    { name: "web", status: "succeeded", elapsedMs: 12_000 },
    { name: "データベース", status: "in_progress", elapsedMs: 900 },
    { name: "worker-with-a-long-name", status: "pending" },
  ];
  const at = (columns: number, rows: number) =>
    renderFrame(title, stacks, { columns, rows, tick: 0 }).map(({ text }) => text);

  it("has a line for the deployment and each stack", () => {
    expect(at(80, 24)).toEqual([
      "⠋ Deployment 1CgMoo6Wfj9u5hu6v1REVC  in_progress  1m 5s",
      "  ✔ web                      succeeded    12s",
      "  ⠋ データベース             in_progress  0s",
      "  · worker-with-a-long-name  pending",
    ]);
  });

  it("has no line that is wider than the terminal, and leaves out times and ends of names", () => {
    expect(at(24, 24)).toEqual([
      "⠋ Deploym…  in_progress",
      "✔ web       succeeded",
      "⠋ データ…   in_progress",
      "· worker-…  pending",
    ]);
    expect(at(10, 24).map((text) => text.length)).toEqual([9, 9, 6, 9]);
  });

  it("has what a queued deployment waits for below its line, at the width of the terminal", () => {
    const notes = ["It starts after another has ended.", "データベース is-one-word-that-is-wider"];
    const queued: FrameRow = { name: "Deployment 1", status: "queued" };
    const lines = renderFrame(queued, stacks.slice(0, 1), {
      columns: 26,
      rows: 24,
      tick: 0,
      notes,
    });
    expect(lines.map(({ text }) => text)).toEqual([
      "· Deploym…  queued",
      "  It starts after another",
      "  has ended.",
      "  データベース",
      "  is-one-word-that-is-wi…",
      "✔ web       succeeded",
    ]);
    expect(renderFrame(queued, stacks, { columns: 80, rows: 7, tick: 0, notes })).toHaveLength(6);
  });

  it.each([
    [80, 8, 3],
    [80, 5, 3],
    [80, 3, 3],
    [80, 1, 3],
    [4, 10, 3],
    [2, 6, 0],
    [80, 6, 1],
  ])(
    "has fewer lines than a terminal of %i columns and %i rows, with %i stacks and long notes",
    (columns, rows, count) => {
      const notes = Array.from(
        { length: 9 },
        (_, at) => `It waits for ${at}, and for a long time.`,
      );
      const queued: FrameRow = { name: "Deployment 1", status: "queued" };
      const frame = renderFrame(queued, stacks.slice(0, count), { columns, rows, tick: 0, notes });
      const lines = frame.map(({ text }) => text);
      expect(lines.length).toBe(Math.max(1, rows - 1));
      for (const line of lines) expect(stringWidth(line)).toBeLessThan(columns);
    },
  );

  it("says that notes are cut, and keeps a stack below them", () => {
    const notes = ["It starts after another.", "It needs a pool.", "It needs a runner."];
    const queued: FrameRow = { name: "Deployment 1", status: "queued" };
    const lines = renderFrame(queued, stacks, { columns: 80, rows: 6, tick: 0, notes });
    expect(lines.map(({ text }) => text)).toEqual([
      "· Deployment 1  queued",
      "  It starts after another.",
      "  It needs a pool.…",
      "  ⠋ データベース  in_progress  0s",
      "    and 2 more",
    ]);
  });

  it("shows the stacks in progress if the terminal is not high enough for all", () => {
    expect(at(80, 4)).toEqual([
      "⠋ Deployment 1CgMoo6Wfj9u5hu6v1REVC  in_progress  1m 5s",
      "  ⠋ データベース  in_progress  0s",
      "    and 2 more",
    ]);
  });
});

/** What a terminal shows of a frame. When it becomes narrower, it breaks its lines. */
class Screen {
  readonly stream = Object.assign(new PassThrough({ encoding: "utf8" }), { columns: 80 });
  #rows: string[] = [""];

  get rows(): string[] {
    this.#apply(this.stream.read() ?? "");
    return this.#rows;
  }

  narrowTo(columns: number): void {
    const broken = new RegExp(`.{1,${columns}}`, "g");
    this.#rows = this.rows.flatMap((row) => row.match(broken) ?? [""]);
    this.stream.columns = columns;
  }

  #apply(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
    for (const [part, count, command] of text.matchAll(/\x1b\[\??(\d*)([A-Za-z])|\n|[^\x1b\n]+/g)) {
      if (command === "A") this.#rows.splice(-1 - Number(count));
      else if (command === "J") this.#rows.push("");
      else if (part === "\n") this.#rows.push("");
      else if (command === undefined)
        this.#rows.push(`${this.#rows.pop()}${part.replace("\r", "")}`);
    }
  }
}

describe("the last lines of a terminal", () => {
  it("are replaced, after the lines that stay", () => {
    const screen = new Screen();
    const frame = new LiveLines(screen.stream);
    frame.draw(["· web", "· worker"]);
    expect(screen.rows).toEqual(["· web", "· worker", ""]);
    frame.draw(["⠋ web"], ["web | one", "", "web | 漢字"]);
    expect(screen.rows).toEqual(["web | one", "", "web | 漢字", "⠋ web", ""]);
    frame.erase();
    expect(screen.rows).toEqual(["web | one", "", "web | 漢字", ""]);
    frame.draw(["✔ web"]);
    frame.keep();
    frame.draw(["· api"]);
    expect(screen.rows.slice(3)).toEqual(["✔ web", "· api", ""]);
  });

  it("are written only when they change", () => {
    const screen = new Screen();
    const frame = new LiveLines(screen.stream);
    frame.draw(["one", "two"]);
    expect(screen.stream.read()).not.toBeNull();
    frame.draw(["one", "two"]);
    expect(screen.stream.read()).toBeNull();
    frame.draw(["one", "two"], ["log"]);
    expect(screen.stream.read()).toContain("log\n");
  });

  it.each([
    [40, 1],
    [20, 1],
    [19, 2],
    [10, 2],
    [9, 3],
  ])("are erased from a terminal that has become %i columns wide", (columns, rows) => {
    const screen = new Screen();
    const frame = new LiveLines(screen.stream);
    frame.draw(["x".repeat(20), ""], ["kept"]);
    screen.narrowTo(columns);
    expect(screen.rows).toHaveLength(1 + rows + 2);
    frame.draw(["short"]);
    expect(screen.rows).toEqual(["kept", "short", ""]);
  });
});
