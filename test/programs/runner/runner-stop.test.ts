import { describe, expect, it } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import { report } from "../support/reports.ts";

/** Silence after which a runner counts as lost. */
const LOST_AFTER_MS = 360_000;
const SLEEPS = "exec sleep 600";
/** Writes to `ready` once it would notice SIGTERM. A shell that is stopped before has no trap yet. */
const STOPS = "trap 'echo TERM >> signals; exit 143' TERM; echo ready >> ready; sleep 600 & wait";
/** Cleans up until the file `go` exists. */
const CLEANS_UP =
  "trap 'echo TERM >> signals; until [ -e go ]; do sleep 0.1; done; echo all >> cleaned; exit 143' TERM; " +
  "echo ready >> ready; sleep 600 & wait";
/** `exec` keeps ignored signals, so only SIGKILL ends this command. */
const IGNORES_SIGTERM = "trap '' TERM; echo ignored >> signals; exec sleep 600";
/** The shell exits on SIGTERM. Its child process ignores it, so only SIGKILL ends that. */
const CHILD_IGNORES_SIGTERM =
  "trap 'echo TERM >> signals; exit 143' TERM; " +
  "sh -c 'trap \"\" TERM; echo ignored >> children; exec sleep 600' & wait";
const CANCELED = "The command was stopped: the server asked to cancel.";
const INTERRUPTED = "The command was stopped: its runner was told to end.";
const UNHEARD = "The command was stopped: the server did not answer for as long as the lease is.";

const fixture = RunnerFixture.use();

describe.concurrent("the reference runner, when its work is stopped", () => {
  it("stops the command and its child processes, which clean up, when the deployment is canceled", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(CLEANS_UP, "--once");
    await runner.waitForLines("ready", 1);
    expect((await project.cancel(id)).status).toBe("canceling");
    await runner.waitForLines("signals", 1);
    expect((await project.read(id)).status).toBe("canceling");
    runner.make("go");
    expect(await runner.exited).toBe(1);
    expect(runner.read("cleaned")).toEqual(["all"]);
    const stacks = [`canceled: ${CANCELED}`, "canceled"];
    expect(await project.waitForEnd(id)).toEqual({ status: "canceled", stacks });
    expect(runner.read("signals")).toEqual(["TERM"]);
    expect(runner.runs.length).toBe(1);
    expect(runner.leftovers).toEqual([]);
  });

  it("stops the command after the run timeout, and prints why the deployment failed", async (context) => {
    const { project, proxy, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(STOPS, "--once");
    await runner.waitForLines("ready", 1);
    proxy.isSilent = true;
    await fixture.timeOut(id);
    expect((await project.read(id)).status).toBe("canceling");
    proxy.isSilent = false;
    expect(await runner.exited).toBe(1);
    const stacks = [`canceled: ${CANCELED}`, `skipped: ${CANCELED}`];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    expect(await fixture.failureReason(id)).toBe("run_timeout");
    expect(runner.read("signals")).toEqual(["TERM"]);
    expect(runner.output).toContain(`Deployment ${id}: failed with run_timeout.`);
    expect(runner.leftovers).toEqual([]);
  });

  it("prints run_timeout when a success comes after the time limit", async (context) => {
    const { project, proxy, run } = await fixture.prepare(context, async (verb, times) => {
      // The last report of the stack was answered with `continue`.
      if (verb === "stacks" && times === 2) await fixture.timeOut(id);
      return false;
    });
    // No heartbeat cancels the run first.
    proxy.intervals = { heartbeat_every_seconds: 600, lease_seconds: 600 };
    const { id } = await project.deploy({ stack_ids: project.stackIds.slice(0, 1) });
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(1);
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks: ["succeeded"] });
    expect(await fixture.failureReason(id)).toBe("run_timeout");
    expect(runner.output).toContain(`Deployment ${id}: failed with run_timeout.`);
  });

  it("kills a command that does not stop within the grace period", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(IGNORES_SIGTERM, "--once", "--grace", "1");
    await runner.waitForLines("signals", 1);
    await project.cancel(id);
    expect(await runner.exited).toBe(1);
    const stacks = [`canceled: ${CANCELED}`, "canceled"];
    expect(await project.waitForEnd(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("kills a child process that ignores SIGTERM while its shell exits", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(CHILD_IGNORES_SIGTERM, "--once", "--grace", "1");
    await runner.waitForLines("children", 1);
    await project.cancel(id);
    expect(await runner.exited).toBe(1);
    expect(runner.read("signals")).toEqual(["TERM"]);
    const stacks = [`canceled: ${CANCELED}`, "canceled"];
    expect(await project.waitForEnd(id)).toEqual({ status: "canceled", stacks });
    await runner.waitForNoLeftovers();
  });

  it("kills the child processes that a command leaves behind", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy({ stack_ids: project.stackIds.slice(0, 1) });
    const runner = run("sleep 600 &", "--once");
    expect(await runner.exited).toBe(0);
    expect((await project.read(id)).status).toBe("succeeded");
    expect(runner.runs.length).toBe(1);
    await runner.waitForNoLeftovers();
  });

  it("stops its command on SIGTERM, and reports the cancellation before it exits", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(SLEEPS);
    await runner.waitForRuns(1);
    runner.signal("SIGTERM");
    expect(await runner.exited).toBe(0);
    const stacks = [`canceled: ${INTERRUPTED}`, "canceled"];
    expect(await project.waitForEnd(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("releases an offer that it has not started on SIGTERM", async (context) => {
    const { project, run } = await fixture.prepare(context, async (verb) => {
      if (verb !== "claims") return false;
      runner.signal("SIGTERM");
      await runner.waitForOutput("SIGTERM: ending.");
      return false;
    });
    const { id } = await project.deploy();
    const runner = run("true");
    expect(await runner.exited).toBe(0);
    expect(runner.output).toContain(`Deployment ${id}: given back.`);
    expect((await project.read(id)).status).toBe("queued");
    expect(runner.runs).toEqual([]);
  });

  it("kills the command without the grace period on a second signal", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run(IGNORES_SIGTERM, "--grace", "45");
    await runner.waitForLines("signals", 1);
    runner.signal("SIGTERM");
    await runner.waitForOutput("SIGTERM: ending.");
    expect(runner.leftovers.length).toBe(1);
    await runner.passSameSignal();
    runner.signal("SIGTERM");
    await runner.waitForOutput("SIGTERM: ending at once.");
    expect(await runner.exited).toBe(0);
    const stacks = [`canceled: ${INTERRUPTED}`, "canceled"];
    expect(await project.waitForEnd(id)).toEqual({ status: "canceled", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("stops the command when it has lost the attempt, and sends no more requests", async (context) => {
    const requests: string[] = [];
    const { project, run } = await fixture.prepare(context, (verb) => {
      if (verb !== "heartbeat") requests.push(verb);
      return false;
    });
    const { id } = await project.deploy();
    const late = report({ resource: { template_id: "late", status: "CREATE_COMPLETE" } });
    // Longer than between two reports.
    const cleanUp = `${late.replaceAll("'", `'\\''`)}; sleep 2; exit`;
    const runner = run(STOPS.replace("exit", cleanUp), "--once");
    await runner.waitForLines("ready", 1);
    await fixture.expireLease(id, LOST_AFTER_MS);
    expect(await runner.exited).toBe(1);
    expect(runner.read("signals")).toEqual(["TERM"]);
    expect(requests).toEqual(["claims", "start", "variables", "stacks"]);
    expect(runner.output).toContain(`Deployment ${id}: lost.`);
    const stacks = ["failed: runner_lost", "skipped: runner_lost"];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    expect(runner.leftovers).toEqual([]);
  });

  it("stops the command when the server is silent for the length of the lease", async (context) => {
    let wasSilent = false;
    const { project, proxy, run } = await fixture.prepare(context, (verb) => {
      if (wasSilent || verb !== "heartbeat" || runner.read("ready").length === 0) return false;
      wasSilent = true;
      // After this reply.
      proxy.intervals = { lease_seconds: 1 };
      proxy.isSilent = true;
      return false;
    });
    const { id } = await project.deploy();
    const runner = run(STOPS, "--once");
    await runner.waitForLines("signals", 1);
    expect((await project.read(id)).status).toBe("in_progress");
    proxy.isSilent = false;
    expect(await runner.exited).toBe(1);
    const stacks = [`failed: ${UNHEARD}`, `skipped: ${UNHEARD}`];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    expect(runner.leftovers).toEqual([]);
  });
});
