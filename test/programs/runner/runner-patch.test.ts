import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";

/** Maximum size of an environment variable on Linux, in bytes. */
const MAX_ARG_STRLEN = 131_072;
const SLEEPS = "exec sleep 600";
/** Appends the patch of each run as one line. */
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

const fixture = RunnerFixture.use();

describe.concurrent("the patch that the reference runner executes", () => {
  it("is complete at any size, in a file that only its user can read", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const patch = [{ op: "add", path: "/blob", value: "x".repeat(MAX_ARG_STRLEN) }];
    const { id } = await project.deploy({ patch });
    const runner = run(`${READS_PATCH}; ${SHOWS_PATCH_FILE}`, "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    expect(runner.read("patches").map((line) => JSON.parse(line))).toEqual([patch, patch]);
    const modes = ["-rw-------", "drwx------"];
    expect(runner.read("modes")).toEqual([...modes, ...modes]);
  });

  it("is deleted from disk when a third signal ends the runner immediately", async (context) => {
    // The report after the first signal is delayed, so the runner is still working at the third.
    const { project, run } = await fixture.prepare(context, async (verb, times) => {
      if (verb === "stacks" && times >= 2) await runner.exited;
      return false;
    });
    const runner = run(`${SHOWS_PATCH_FILE}; ${SLEEPS}`);
    await project.deploy();
    await runner.waitForLines("modes", 2);
    runner.signal("SIGTERM");
    await runner.waitForOutput("SIGTERM: ending.");
    const [path = ""] = runner.read("paths");
    expect(existsSync(path)).toBe(true);
    await runner.passSameSignal();
    runner.signal("SIGTERM");
    await runner.waitForOutput("SIGTERM: ending at once.");
    await runner.passSameSignal();
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(1);
    expect(existsSync(dirname(path))).toBe(false);
  });

  it("is an empty list for a deployment without one", async (context) => {
    const { project, run } = await fixture.prepare(context);
    await project.deploy();
    const runner = run(READS_PATCH, "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.read("patches")).toEqual(["[]", "[]"]);
  });

  it("is reported as a conflict if it does not apply, and the next deployment runs", async (context) => {
    const requests: string[] = [];
    const { project, run } = await fixture.prepare(context, (verb, times) => {
      if (verb !== "heartbeat") requests.push(verb);
      // Drops the reply to the first start of each deployment, so that the runner repeats it.
      return verb === "start" && times === 1;
    });
    const stack_ids = project.stackIds.slice(0, 1);
    const deploy = (patch: object[]) => project.deploy({ stack_ids, queue: "fifo", patch });
    const { id: first } = await deploy(ONLY_IF_EMPTY);
    const { id: conflicting } = await deploy(ONLY_IF_EMPTY);
    const { id: next } = await deploy([{ op: "add", path: "/replicas", value: 3 }]);
    const runner = run(READS_PATCH);
    expect((await project.waitForEnd(first)).status).toBe("succeeded");
    const { status, stacks } = await project.waitForEnd(conflicting);
    expect(status).toBe("failed");
    expect(stacks).toEqual([expect.stringContaining("skipped: patch_conflict: operation 0")]);
    expect((await project.waitForEnd(next)).status).toBe("succeeded");
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    expect(runner.runs.map(({ deployment }) => deployment)).toEqual([first, next]);
    expect(runner.output).toContain("The deployment has failed. patch_conflict: operation 0");
    expect(runner.output).toContain(`Deployment ${conflicting}: failed with patch_conflict.`);
    expect(runner.output).not.toContain("lost");
    const work = ["variables", "stacks", "stacks", "complete"];
    const deployed = ["claims", "start", "start", ...work];
    const expected = [...deployed, "claims", "start", "start", ...deployed];
    expect(requests.slice(0, expected.length)).toEqual(expected);
  });

  it("makes a runner with --once exit with 1 if it does not apply", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const deploy = () => project.deploy({ queue: "fifo", patch: ONLY_IF_EMPTY });
    const { id: first } = await deploy();
    const { id: conflicting } = await deploy();
    expect(await run("true", "--once").exited).toBe(0);
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(1);
    expect((await project.read(first)).status).toBe("succeeded");
    expect((await project.read(conflicting)).status).toBe("failed");
    expect(runner.output).toContain(`Deployment ${conflicting}: failed with patch_conflict.`);
    expect(runner.runs).toEqual([]);
  });
});
