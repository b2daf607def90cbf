import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./support/fixture.ts";
import { RunnerProcess } from "./support/runner-process.ts";

const AWAY_MS = 4_000;
/** From the last heartbeat until a runner counts as lost. */
const LOST_AFTER_MS = 360_000;
const HANGS = "exec sleep 600";
const WAITS = "until [ -e go ]; do sleep 0.1; done";
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

describe.concurrent("the reference runner", () => {
  it("runs the command once for each stack, in order, with what the deployment brings", async (context) => {
    const { place, run } = await stage.prepare(context);
    const stack_ids = place.stackIds.toReversed();
    const source = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };
    const { id } = await place.deploy({ stack_ids, source });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(await place.verdict(id)).toEqual(SUCCEEDED);
    const brought = { deployment: id, greeting: "good 'morning'", token: "" };
    expect(runner.runs).toMatchObject(stack_ids.map((stack) => ({ ...brought, stack })));
    expect(runner.runs.map((each) => JSON.parse(each.source))).toEqual([source, source]);
    expect(runner.output).not.toContain("morning");
  });

  it("ends with the first command that fails, and leaves the stacks after it", async (context) => {
    const { place, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run("exit 3", "--once");
    expect(await runner.exited).toBe(1);
    expect(await place.verdict(id)).toEqual({
      status: "failed",
      stacks: ["failed: The command ended with 3.", "skipped: The command ended with 3."],
    });
    expect(runner.runs.map(({ stack }) => stack)).toEqual(place.stackIds.slice(0, 1));
  });

  it("carries out one deployment with --once, and leaves the next one queued", async (context) => {
    const { place, run } = await stage.prepare(context);
    const { id } = await place.deploy({ queue: "fifo" });
    const { id: next } = await place.deploy({ queue: "fifo" });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.runs.map(({ deployment }) => deployment)).toEqual([id, id]);
    expect((await place.read(next)).status).toBe("queued");
  });

  it("repeats what was not answered, and does nothing twice", async (context) => {
    const lost: string[] = [];
    const { place, run } = await stage.prepare(context, (verb, times) => {
      if (times === 1) lost.push(verb);
      return times === 1;
    });
    const { id } = await place.deploy();
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(await place.verdict(id)).toEqual(SUCCEEDED);
    expect(runner.runs.map(({ stack }) => stack)).toEqual(place.stackIds);
    // The two reports of a stack are the same call to the relay.
    expect(lost).toEqual(["claims", "start", "variables", "stacks", "stacks", "complete"]);
    const attempts = "select count(*) as n from attempts where deployment_id = ?";
    expect(await stage.service.d1.prepare(attempts).bind(id).first("n")).toBe(1);
  });

  it("goes on when a server that was away is back", async (context) => {
    const { place, relay, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run(WAITS, "--once");
    await runner.hasRun(1);
    await relay.close();
    runner.make("go");
    await runner.says("ECONNREFUSED. It is repeated.");
    await sleep(AWAY_MS);
    expect((await place.read(id)).status).toBe("in_progress");
    await relay.open();
    expect(await runner.exited).toBe(0);
    expect(await place.verdict(id)).toEqual(SUCCEEDED);
    expect(runner.runs.map(({ stack }) => stack)).toEqual(place.stackIds);
  });

  it("leaves a deployment that the schedule fails, when it is killed outright", async (context) => {
    const { place, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run(HANGS);
    await runner.hasRun(1);
    runner.signal("SIGKILL");
    expect(await runner.exited).toBe("SIGKILL");
    await stage.service.sweep();
    expect((await place.read(id)).status).toBe("in_progress");
    await stage.lose(id, LOST_AFTER_MS);
    const stacks = ["failed: runner_lost", "skipped: runner_lost"];
    expect(await place.verdict(id)).toEqual({ status: "failed", stacks });
    const { id: next } = await place.deploy();
    const successor = run("true", "--once");
    expect(await successor.exited).toBe(0);
    expect(successor.runs.map(({ deployment }) => deployment)).toEqual([next, next]);
  });

  it("ends with 1 when its token is not a good one, and says what to send", async (context) => {
    const { relay } = await stage.prepare(context);
    const runner = new RunnerProcess(relay.url, "lsr_nobodys", "true");
    context.onTestFinished(() => runner.clear());
    expect(await runner.exited).toBe(1);
    expect(runner.output).toContain("Send a valid runner token (lsr_…)");
  });
});
