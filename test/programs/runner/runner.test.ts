import { describe, expect, it } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import { RunnerProcess } from "../support/runner-process.ts";

/** Silence after which a runner counts as lost. */
const LOST_AFTER_MS = 360_000;
const SLEEPS = "exec sleep 600";
const WAITS = "until [ -e go ]; do sleep 0.1; done";
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };

const fixture = RunnerFixture.use();

describe.concurrent("the reference runner", () => {
  it("runs the command once for each stack, in order, with the variables and source of the deployment", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const stack_ids = project.stackIds.toReversed();
    const source = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };
    const { id } = await project.deploy({ stack_ids, source });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    const environment = { deployment: id, greeting: "good 'morning'" };
    expect(runner.runs).toMatchObject(stack_ids.map((stack) => ({ ...environment, stack })));
    expect(runner.runs.map((each) => JSON.parse(each.source))).toEqual([source, source]);
    expect(runner.output).not.toContain("morning");
  });

  it("stops at the first command that fails, and does not run later stacks", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run("exit 3", "--once");
    expect(await runner.exited).toBe(1);
    expect(await project.waitForEnd(id)).toEqual({
      status: "failed",
      stacks: ["failed: The command ended with 3.", 'skipped: Not started because "first" failed.'],
    });
    expect(runner.runs.map(({ stack }) => stack)).toEqual(project.stackIds.slice(0, 1));
  });

  it("executes one deployment with --once, and leaves the next one queued", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy({ queue: "fifo" });
    const { id: next } = await project.deploy({ queue: "fifo" });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.runs.map(({ deployment }) => deployment)).toEqual([id, id]);
    expect((await project.read(next)).status).toBe("queued");
  });

  it("waits for the turn of one deployment, and exits with its outcome and not another's", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy({ queue: "fifo" });
    const { id: next } = await project.deploy({ queue: "fifo" });
    const waiting = run("exit 4", "--once", "--deployment", next);
    const first = run("true", "--once", "--deployment", id);
    expect([await first.exited, await waiting.exited]).toEqual([0, 1]);
    expect(first.runs.map(({ deployment }) => deployment)).toEqual([id, id]);
    expect(waiting.runs.map(({ deployment }) => deployment)).toEqual([next]);
    const ended = [
      run("true", "--once", "--deployment", id),
      run("true", "--once", "--deployment", next),
    ];
    expect(await Promise.all(ended.map(({ exited }) => exited))).toEqual([0, 1]);
    await ended[1]?.waitForOutput("The deployment has ended: it is failed.");
    const endless = run("true", "--deployment", id);
    expect(await endless.exited).toBe(2);
  });

  it("repeats requests without a reply, and runs no command twice", async (context) => {
    const lost: string[] = [];
    const { project, run } = await fixture.prepare(context, (verb, times) => {
      if (verb === "heartbeat") return false;
      // The two reports of a stack are the same call to the proxy.
      if (times <= 2) lost.push(verb);
      return times <= 2;
    });
    const { id } = await project.deploy();
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    expect(runner.runs.map(({ stack }) => stack)).toEqual(project.stackIds);
    const calls = ["claims", "start", "variables", "stacks", "stacks", "complete"];
    expect(lost).toEqual(calls.flatMap((verb) => [verb, verb]));
    const attempts = "select count(*) as n from attempts where deployment_id = ?";
    expect(await fixture.service.d1.prepare(attempts).bind(id).first("n")).toBe(1);
  });

  it("continues when an unreachable server is back", async (context) => {
    const { project, proxy, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(WAITS, "--once");
    await runner.waitForRuns(1);
    await proxy.close();
    runner.make("go");
    await runner.waitForOutput("ECONNREFUSED. It is repeated.");
    expect((await project.read(id)).status).toBe("in_progress");
    await proxy.open();
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    expect(runner.runs.map(({ stack }) => stack)).toEqual(project.stackIds);
  });

  it("completes and exits although nobody reads its output", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(`${WAITS}; head -c 3000000 /dev/zero`, "--once");
    await runner.waitForRuns(1);
    runner.stopReading();
    runner.make("go");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
  });

  it("leaves a deployment that the sweep fails when the runner gets SIGKILL", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(SLEEPS);
    await runner.waitForRuns(1);
    runner.signal("SIGKILL");
    expect(await runner.exited).toBe("SIGKILL");
    await fixture.service.sweep();
    expect((await project.read(id)).status).toBe("in_progress");
    await fixture.expireLease(id, LOST_AFTER_MS);
    const stacks = ["failed: runner_lost", "skipped: runner_lost"];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    const { id: next } = await project.deploy();
    const successor = run("true", "--once");
    expect(await successor.exited).toBe(0);
    expect(successor.runs.map(({ deployment }) => deployment)).toEqual([next, next]);
  });

  it("exits with 1 when its token is invalid, and prints what to send", async (context) => {
    const { proxy } = await fixture.prepare(context);
    const runner = new RunnerProcess({ url: proxy.url, token: "lsr_nobodys", command: "true" });
    context.onTestFinished(() => runner.stop());
    expect(await runner.exited).toBe(1);
    expect(runner.output).toContain("Send a valid runner token (lsr_…)");
  });
});
