import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./support/fixture.ts";

/** Linux limits an environment variable to this. */
const MAX_ARG_STRLEN = 131_072;
/** Signals that are closer together count as one. */
const ANOTHER_SIGNAL_MS = 1_500;
const HANGS = "exec sleep 600";
/** Keeps the patch of each run on a line of its own. */
const READS_PATCH = 'cat "$LONGSHORE_PATCH_FILE" >> patches; echo >> patches';
const SHOWS_PATCH_FILE =
  'echo "$LONGSHORE_PATCH_FILE" >> paths; ls -l "$LONGSHORE_PATCH_FILE" | cut -c1-10 >> modes; ' +
  'ls -ld "$(dirname "$LONGSHORE_PATCH_FILE")" | cut -c1-10 >> modes';
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };
/** Applies to an empty configuration only. */
const ONLY_IF_EMPTY = [
  { op: "test", path: "", value: {} },
  { op: "add", path: "/region", value: "eu" },
];

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

describe.concurrent("the patch that the reference runner executes", () => {
  it("is based on the configuration that the deployment before it has left", async (context) => {
    const { place, run } = await stage.prepare(context);
    const stack_ids = place.stackIds.slice(0, 1);
    const add = (value: number) => [{ op: "add", path: "/replicas", value }];
    const first = await place.deploy({ stack_ids, queue: "fifo", patch: add(1) });
    const second = await place.deploy({ stack_ids, queue: "fifo", patch: add(2) });
    expect(second.data.patch).toEqual(add(2));
    const runner = run(READS_PATCH);
    expect((await place.verdict(first.id)).status).toBe("succeeded");
    expect((await place.verdict(second.id)).status).toBe("succeeded");
    const patches = runner.read("patches").map((line) => JSON.parse(line));
    expect(patches).toEqual([
      [{ op: "add", path: "/replicas", value: 1 }],
      [{ op: "add", path: "/replicas", value: 2, old_value: 1 }],
    ]);
  });

  it("is whole, however large, in a file that only its user can read", async (context) => {
    const { place, run } = await stage.prepare(context);
    const patch = [{ op: "add", path: "/blob", value: "x".repeat(MAX_ARG_STRLEN) }];
    const { id } = await place.deploy({ patch });
    const runner = run(`${READS_PATCH}; ${SHOWS_PATCH_FILE}`, "--once");
    expect(await runner.exited).toBe(0);
    expect(await place.verdict(id)).toEqual(SUCCEEDED);
    expect(runner.read("patches").map((line) => JSON.parse(line))).toEqual([patch, patch]);
    const modes = ["-rw-------", "drwx------"];
    expect(runner.read("modes")).toEqual([...modes, ...modes]);
  });

  it("leaves the disk with the deployment, however that ends", async (context) => {
    const { place, run } = await stage.prepare(context);
    const runner = run(`${SHOWS_PATCH_FILE}; [ -e go ]`);
    const { id: failing } = await place.deploy();
    expect((await place.verdict(failing)).status).toBe("failed");
    runner.make("go");
    const { id } = await place.deploy();
    expect((await place.verdict(id)).status).toBe("succeeded");
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    const folders = runner.read("paths").map(dirname);
    expect(new Set(folders).size).toBe(2);
    expect(folders.filter(existsSync)).toEqual([]);
  });

  it("leaves the disk when a third signal ends the runner at once", async (context) => {
    // The report after the first signal is held: the work does not end before the third one.
    const { place, run } = await stage.prepare(context, async (verb, times) => {
      if (verb === "stacks" && times === 2) await runner.exited;
      return false;
    });
    const runner = run(`${SHOWS_PATCH_FILE}; ${HANGS}`);
    await place.deploy();
    await runner.hasWritten("modes", 2);
    runner.signal("SIGTERM");
    await sleep(ANOTHER_SIGNAL_MS);
    const [path = ""] = runner.read("paths");
    expect(existsSync(path)).toBe(true);
    runner.signal("SIGTERM");
    await sleep(ANOTHER_SIGNAL_MS);
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(1);
    expect(existsSync(dirname(path))).toBe(false);
  });

  it("is an empty list for a deployment without one", async (context) => {
    const { place, run } = await stage.prepare(context);
    await place.deploy();
    const runner = run(READS_PATCH, "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.read("patches")).toEqual(["[]", "[]"]);
  });

  it("is reported as a conflict where it does not apply, and the next deployment is run", async (context) => {
    const said: string[] = [];
    const { place, run } = await stage.prepare(context, (verb, times) => {
      said.push(verb);
      // So that the start of each deployment is repeated, the refused one too.
      return verb === "start" && times === 1;
    });
    const stack_ids = place.stackIds.slice(0, 1);
    const deploy = (patch: object[]) => place.deploy({ stack_ids, queue: "fifo", patch });
    const { id: first } = await deploy(ONLY_IF_EMPTY);
    const { id: conflicting } = await deploy(ONLY_IF_EMPTY);
    const { id: next } = await deploy([{ op: "add", path: "/replicas", value: 3 }]);
    const runner = run(READS_PATCH);
    expect((await place.verdict(first)).status).toBe("succeeded");
    const { status, stacks } = await place.verdict(conflicting);
    expect(status).toBe("failed");
    expect(stacks).toEqual([expect.stringContaining("skipped: patch_conflict: operation 0")]);
    expect((await place.verdict(next)).status).toBe("succeeded");
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    expect(runner.runs.map(({ deployment }) => deployment)).toEqual([first, next]);
    expect(runner.output).toContain("The deployment has failed. patch_conflict: operation 0");
    expect(runner.output).toContain(`Deployment ${conflicting}: failed with patch_conflict.`);
    expect(runner.output).not.toContain("lost");
    const work = ["variables", "stacks", "stacks", "complete"];
    const deployed = ["claims", "start", "start", ...work];
    const expected = [...deployed, "claims", "start", "start", ...deployed];
    expect(said.slice(0, expected.length)).toEqual(expected);
  });

  it("ends a runner with 1 where it does not apply, with --once", async (context) => {
    const { place, run } = await stage.prepare(context);
    const deploy = () => place.deploy({ queue: "fifo", patch: ONLY_IF_EMPTY });
    const { id: first } = await deploy();
    const { id: conflicting } = await deploy();
    expect(await run("true", "--once").exited).toBe(0);
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(1);
    expect((await place.read(first)).status).toBe("succeeded");
    expect((await place.read(conflicting)).status).toBe("failed");
    expect(runner.output).toContain(`Deployment ${conflicting}: failed with patch_conflict.`);
    expect(runner.runs).toEqual([]);
  });
});
