import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./support/fixture.ts";

/** From the last heartbeat until a runner counts as lost. */
const LOST_AFTER_MS = 360_000;
const HANGS = "exec sleep 600";
const STOPS = "trap 'echo TERM >> signals; exit 143' TERM; sleep 600 & wait";
/** What is ignored stays so through exec: only SIGKILL ends this. */
const IGNORES_SIGTERM = "trap '' TERM; echo ignored >> signals; exec sleep 600";
/** Signals that are closer together count as one. */
const ANOTHER_SIGNAL_MS = 1_500;
const CANCELED = "The command was stopped: the server asked to cancel.";
const INTERRUPTED = "The command was stopped: its runner was told to end.";
const UNHEARD = "The command was stopped: the server did not answer for as long as the lease is.";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

describe.concurrent("what ends the work of the reference runner", () => {
  it("stops the command with all that it has started, when somebody cancels", async (context) => {
    const { place, run } = await stage.prepare(context);
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

  it("stops the command of a run past its time, and says why the deployment failed", async (context) => {
    const { place, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run(STOPS, "--once");
    await runner.hasRun(1);
    await stage.timeOut(id);
    expect((await place.read(id)).status).toBe("canceling");
    expect(await runner.exited).toBe(1);
    const stacks = [`canceled: ${CANCELED}`, `skipped: ${CANCELED}`];
    expect(await place.verdict(id)).toEqual({ status: "failed", stacks });
    expect(await stage.failureReason(id)).toBe("run_timeout");
    expect(runner.read("signals")).toEqual(["TERM"]);
    expect(runner.output).toContain(`Deployment ${id}: failed with run_timeout.`);
    expect(runner.leftovers).toEqual([]);
  });

  it("says that a success came too late for the time of its run", async (context) => {
    const { place, run } = await stage.prepare(context, async (verb, times) => {
      // The last report of the stack was answered with `continue`.
      if (verb === "stacks" && times === 2) await stage.timeOut(id);
      return false;
    });
    const { id } = await place.deploy({ stack_ids: place.stackIds.slice(0, 1) });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(1);
    expect(await place.verdict(id)).toEqual({ status: "failed", stacks: ["succeeded"] });
    expect(await stage.failureReason(id)).toBe("run_timeout");
    expect(runner.output).toContain(`Deployment ${id}: failed with run_timeout.`);
  });

  it("kills a command that does not stop when the grace is over", async (context) => {
    const { place, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run(IGNORES_SIGTERM, "--once", "--grace", "1");
    await runner.hasWritten("signals", 1);
    await place.cancel(id);
    expect(await runner.exited).toBe(1);
    const stacks = [`canceled: ${CANCELED}`, "canceled"];
    expect(await place.verdict(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("stops its command on SIGTERM, and says so before it ends", async (context) => {
    const { place, run } = await stage.prepare(context);
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
    const { place, run } = await stage.prepare(context, async (verb) => {
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

  it("ends with 0 on SIGTERM when there is nothing to do", async (context) => {
    const { run } = await stage.prepare(context);
    const runner = run("true");
    await runner.says("Waiting for deployments");
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    expect(runner.runs).toEqual([]);
  });

  it("does not wait for the grace on a second signal", async (context) => {
    const { place, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run(IGNORES_SIGTERM, "--grace", "45");
    await runner.hasWritten("signals", 1);
    runner.signal("SIGTERM");
    const sentAt = performance.now();
    await sleep(ANOTHER_SIGNAL_MS);
    expect(runner.leftovers.length).toBe(1);
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    expect(performance.now() - sentAt).toBeLessThan(30_000);
    const stacks = [`canceled: ${INTERRUPTED}`, "canceled"];
    expect(await place.verdict(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("stops the command when the attempt is not its own any more, and says no more", async (context) => {
    const said: string[] = [];
    const { place, run } = await stage.prepare(context, (verb) => {
      if (verb !== "heartbeat") said.push(verb);
      return false;
    });
    const { id } = await place.deploy();
    const runner = run(STOPS, "--once");
    await runner.hasRun(1);
    await stage.lose(id, LOST_AFTER_MS);
    expect(await runner.exited).toBe(1);
    expect(runner.read("signals")).toEqual(["TERM"]);
    expect(said).toEqual(["claims", "start", "variables", "stacks"]);
    const stacks = ["failed: runner_lost", "skipped: runner_lost"];
    expect(await place.verdict(id)).toEqual({ status: "failed", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("stops the command when the server is silent for as long as the lease is", async (context) => {
    const { place, relay, run } = await stage.prepare(context);
    const { id } = await place.deploy();
    const runner = run(STOPS, "--once");
    await runner.hasRun(1);
    await relay.close();
    await runner.hasWritten("signals", 1);
    expect((await place.read(id)).status).toBe("in_progress");
    await relay.open();
    expect(await runner.exited).toBe(1);
    const stacks = [`failed: ${UNHEARD}`, `skipped: ${UNHEARD}`];
    expect(await place.verdict(id)).toEqual({ status: "failed", stacks });
    expect(runner.leftovers).toEqual([]);
  });
});
