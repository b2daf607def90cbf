import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { Place } from "./support/place.ts";
import { type Loses, Relay } from "./support/relay.ts";
import { RunnerProcess } from "./support/runner-process.ts";
import { type Service, startService } from "./support/service.ts";

const AWAY_MS = 4_000;
/** From the last heartbeat until a runner counts as lost. */
const LOST_AFTER_MS = 360_000;
const STOPS = "trap 'echo TERM >> signals; exit 143' TERM; sleep 600 & wait";
const HANGS = "exec sleep 600";
/** What is ignored stays so through exec: only SIGKILL ends this. */
const IGNORES_SIGTERM = "trap '' TERM; exec sleep 600";
const WAITS = "until [ -e go ]; do sleep 0.1; done";
const CANCELED = "The command was stopped: somebody canceled it.";
const INTERRUPTED = "The command was stopped: its runner was told to end.";
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

/** A place with a way to it, and runners that do not outlive the test. */
async function prepare(context: TestContext, loses: Loses = () => false) {
  const place = await Place.make(service);
  const relay = await Relay.start(service.url, loses);
  context.onTestFinished(() => relay.close());
  const run = (command: string, ...flags: string[]) => {
    const runner = new RunnerProcess(relay.url, place.token, command, flags);
    context.onTestFinished(() => runner.clear());
    return runner;
  };
  return { place, relay, run };
}

describe.concurrent("the reference runner", () => {
  it("runs the command once for each stack, in order, with what the deployment brings", async (context) => {
    const { place, run } = await prepare(context);
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
    const { place, run } = await prepare(context);
    const { id } = await place.deploy();
    const runner = run("exit 3", "--once");
    expect(await runner.exited).toBe(1);
    expect(await place.verdict(id)).toEqual({
      status: "failed",
      stacks: ["failed: The command ended with 3.", "skipped"],
    });
    expect(runner.runs.map(({ stack }) => stack)).toEqual(place.stackIds.slice(0, 1));
  });

  it("stops the command with all that it has started, when somebody cancels", async (context) => {
    const { place, run } = await prepare(context);
    const { id } = await place.deploy();
    const runner = run(STOPS, "--once");
    await runner.hasRun(1);
    expect((await place.cancel(id)).status).toBe("canceling");
    expect(await runner.exited).toBe(1);
    const stacks = [`canceled: ${CANCELED}`, "canceled"];
    expect(await place.verdict(id)).toEqual({ status: "canceled", stacks });
    expect(runner.read("signals")).toEqual(["TERM"]);
    expect(runner.runs.length).toBe(1);
    expect(runner.leftovers).toEqual([]);
  });

  it("kills a command that does not stop when the grace is over", async (context) => {
    const { place, run } = await prepare(context);
    const { id } = await place.deploy();
    const runner = run(IGNORES_SIGTERM, "--once", "--grace", "1");
    await runner.hasRun(1);
    await place.cancel(id);
    expect(await runner.exited).toBe(1);
    const stacks = [`canceled: ${CANCELED}`, "canceled"];
    expect(await place.verdict(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("repeats what was not answered, and does nothing twice", async (context) => {
    const lost: string[] = [];
    const { place, run } = await prepare(context, (verb, times) => {
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
    expect(await service.d1.prepare(attempts).bind(id).first("n")).toBe(1);
  });

  it("goes on when a server that was away is back", async (context) => {
    const { place, relay, run } = await prepare(context);
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
    const { place, run } = await prepare(context);
    const { id } = await place.deploy();
    const runner = run(HANGS);
    await runner.hasRun(1);
    runner.signal("SIGKILL");
    expect(await runner.exited).toBe("SIGKILL");
    await service.sweep();
    expect((await place.read(id)).status).toBe("in_progress");
    const age = "update attempts set lost_at = lost_at - ?1 where deployment_id = ?2";
    await service.d1.prepare(age).bind(LOST_AFTER_MS, id).run();
    await service.sweep();
    const stacks = ["failed: runner_lost", "skipped"];
    expect(await place.verdict(id)).toEqual({ status: "failed", stacks });
    const { id: next } = await place.deploy();
    const successor = run("true", "--once");
    expect(await successor.exited).toBe(0);
    expect(successor.runs.map(({ deployment }) => deployment)).toEqual([next, next]);
  });

  it("carries out one deployment with --once, and leaves the next one queued", async (context) => {
    const { place, run } = await prepare(context);
    const { id } = await place.deploy({ queue: "fifo" });
    const { id: next } = await place.deploy({ queue: "fifo" });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.runs.map(({ deployment }) => deployment)).toEqual([id, id]);
    expect((await place.read(next)).status).toBe("queued");
  });

  it("ends with 0 on SIGTERM when there is nothing to do", async (context) => {
    const { run } = await prepare(context);
    const runner = run("true");
    await runner.says("Waiting for deployments");
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    expect(runner.runs).toEqual([]);
  });

  it("stops its command on SIGTERM, and says so before it ends", async (context) => {
    const { place, run } = await prepare(context);
    const { id } = await place.deploy();
    const runner = run(HANGS);
    await runner.hasRun(1);
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    const stacks = [`canceled: ${INTERRUPTED}`, "canceled"];
    expect(await place.verdict(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("gives back on SIGTERM what it was offered and has not started", async (context) => {
    const { place, run } = await prepare(context, async (verb) => {
      if (verb !== "claims") return false;
      runner.signal("SIGTERM");
      await runner.says("SIGTERM: ending.");
      return false;
    });
    const { id } = await place.deploy();
    const runner = run("true");
    expect(await runner.exited).toBe(0);
    expect(runner.output).toContain(`Deployment ${id}: given back.`);
    expect((await place.read(id)).status).toBe("queued");
    expect(runner.runs).toEqual([]);
  });

  it("ends with 1 when its token is not a good one, and says what to send", async (context) => {
    const { relay } = await prepare(context);
    const runner = new RunnerProcess(relay.url, "lsr_nobodys", "true");
    context.onTestFinished(() => runner.clear());
    expect(await runner.exited).toBe(1);
    expect(runner.output).toContain("Send a valid runner token (lsr_…)");
  });
});
