import { describe, expect, it, type TestContext } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import type { Parsed } from "../support/service.ts";

const fixture = RunnerFixture.use();

/** `api` needs `infra`, and `web` needs `api`. `docs` needs none and is needed by none. */
const NEEDS = { web: { needs: ["api"] }, api: { url: "${outputs.infra.url}" } };

/** Four stacks in an order that does not suit what they need. */
async function prepare(context: TestContext) {
  const { project, run } = await fixture.prepare(context);
  const ids: Record<string, string> = {};
  for (const name of ["web", "docs", "api", "infra"]) ids[name] = await project.addStack(name);
  const patch = [{ op: "add", path: "/stacks", value: NEEDS }];
  const deploy = (body: object = {}) =>
    project.deploy({ stack_ids: Object.values(ids), patch, ...body });
  return { project, run, ids, deploy };
}

/** Fails for the stack with this name. */
const failsIn = (name: string) =>
  `echo "$LONGSHORE_STACK_NAME" >> order; [ "$LONGSHORE_STACK_NAME" != ${name} ]`;

describe.concurrent("the stacks of a deployment", () => {
  it("run one after the other, each after those that it needs", async (context) => {
    const { project, run, deploy } = await prepare(context);
    const { id } = await deploy();
    const runner = run(failsIn("none"), "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.read("order")).toEqual(["docs", "infra", "api", "web"]);
    expect((await project.waitForEnd(id)).status).toBe("succeeded");
  });

  it("are skipped if a stack that they need has failed, with its name, and others do not begin", async (context) => {
    const { project, run, ids, deploy } = await prepare(context);
    const { id } = await deploy({ stack_ids: [ids["infra"], ids["api"], ids["web"], ids["docs"]] });
    const runner = run(failsIn("infra"), "--once");
    expect(await runner.exited).toBe(1);
    expect(runner.read("order")).toEqual(["infra"]);
    expect((await project.waitForEnd(id)).stacks).toEqual([
      "failed: The command ended with 1.",
      'skipped: Needs "infra", which failed.',
      'skipped: Needs "infra", which failed.',
      'skipped: Not started because "infra" failed.',
    ]);
  });

  it("go on without those that need the failed one, with continue_on_failure", async (context) => {
    const { project, run, ids, deploy } = await prepare(context);
    const { id } = await deploy({
      stack_ids: [ids["infra"], ids["api"], ids["web"], ids["docs"]],
      continue_on_failure: true,
    });
    const runner = run(failsIn("api"), "--once");
    expect(await runner.exited).toBe(1);
    expect(runner.read("order")).toEqual(["infra", "api", "docs"]);
    expect(await project.waitForEnd(id)).toEqual({
      status: "failed",
      stacks: [
        "succeeded",
        "failed: The command ended with 1.",
        'skipped: Needs "api", which failed.',
        "succeeded",
      ],
    });
  });

  it("get the outputs of stacks that are not deployed", async (context) => {
    const { project, run, ids } = await prepare(context);
    const output = '{"output":{"name":"url","value":"https://infra.example.com"}}';
    const reports = `echo '${output}' >> "$LONGSHORE_REPORT_FILE"`;
    await project.deploy({ stack_ids: [ids["infra"]] });
    expect(await run(reports, "--once").exited).toBe(0);
    const patch = [{ op: "add", path: "/stacks", value: NEEDS }];
    await project.deploy({ stack_ids: [ids["api"]], patch });
    const runner = run('(cat "$LONGSHORE_INPUT_FILE"; echo) > input', "--once");
    expect(await runner.exited).toBe(0);
    const input = JSON.parse(runner.read("input").join("\n"));
    expect(input.needed_stacks).toEqual([
      { id: ids["infra"], name: "infra", outputs: { url: "https://infra.example.com" } },
    ]);
  });
});

describe.concurrent("--parallel", () => {
  /** Each waits until as many have begun as there are at once. */
  const meets = (count: number) =>
    `echo b >> begun; until [ "$(wc -l < begun)" -ge ${count} ]; do sleep 0.05; done`;

  it("runs stacks that do not need each other at once, with their logs and masks apart", async (context) => {
    const { run, ids, deploy } = await prepare(context);
    const { id } = await deploy({ stack_ids: [ids["docs"], ids["infra"]], patch: [] });
    const secret = "good 'morning'";
    // Halves of lines and of a secret, which the other stack's output divides in time.
    const prints =
      `printf '%s' "$LONGSHORE_STACK_NAME good "; ${meets(2)}; ` +
      `printf "'morning' %s\\n" "$LONGSHORE_STACK_NAME"; printf '%s ends' "$LONGSHORE_STACK_NAME"`;
    const runner = run(prints, "--once", "--parallel", "2");
    expect(await runner.exited).toBe(0);
    const log = await fixture.log(id);
    expect(log).not.toContain(secret);
    expect(log.split("\n").toSorted()).toEqual([
      ...["", "docs *** docs", "docs ends", "infra *** infra", "infra ends"],
    ]);
    expect(runner.output).not.toContain(secret);
    const { data } = await fixture.service.owner.call("GET", `/v1/deployments/${id}/logs`);
    expect(
      data.map(({ text, stack_id }: Parsed) => [text.split(" ")[0], stack_id]).toSorted(),
    ).toEqual(["docs", "docs", "infra", "infra"].map((name) => [name, ids[name]]));
  });

  it("still runs each after those that it needs", async (context) => {
    const { project, run, deploy } = await prepare(context);
    const { id } = await deploy();
    const runner = run(
      'echo "+$LONGSHORE_STACK_NAME" >> order; sleep 0.2; echo "-$LONGSHORE_STACK_NAME" >> order',
      ...["--once", "--parallel", "4"],
    );
    expect(await runner.exited).toBe(0);
    const order = runner.read("order");
    for (const [first, second] of [
      ["-infra", "+api"],
      ["-api", "+web"],
    ] as const) {
      expect(order.indexOf(first)).toBeLessThan(order.indexOf(second));
    }
    expect((await project.waitForEnd(id)).status).toBe("succeeded");
  });

  it("lets a stack end that runs beside one that fails", async (context) => {
    const { project, run, ids, deploy } = await prepare(context);
    const { id } = await deploy({ stack_ids: [ids["infra"], ids["docs"], ids["api"]] });
    const command = `${meets(2)}; [ "$LONGSHORE_STACK_NAME" = docs ] && sleep 1 && exit 0; exit 5`;
    const runner = run(command, "--once", "--parallel", "2");
    expect(await runner.exited).toBe(1);
    expect((await project.waitForEnd(id)).stacks).toEqual([
      "failed: The command ended with 5.",
      "succeeded",
      'skipped: Needs "infra", which failed.',
    ]);
  });

  it("stops all of them when the deployment is canceled", async (context) => {
    const { project, run, ids, deploy } = await prepare(context);
    const { id } = await deploy({ stack_ids: [ids["docs"], ids["infra"]] });
    const runner = run("exec sleep 600", "--once", "--parallel", "2");
    await runner.waitForRuns(2);
    await project.cancel(id);
    const { status, stacks } = await project.waitForEnd(id);
    expect([status, stacks.map((each) => each.split(":")[0])]).toEqual([
      "canceled",
      ["canceled", "canceled"],
    ]);
    expect(await runner.exited).toBe(1);
  });

  it("stops all of them when the lease is lost", async (context) => {
    const { project, run, ids, deploy } = await prepare(context);
    const { id } = await deploy({ stack_ids: [ids["docs"], ids["infra"]] });
    const trap = "trap 'echo stopped >> stops; exit 1' TERM; sleep 600 & wait";
    const runner = run(trap, "--once", "--parallel", "2");
    await runner.waitForRuns(2);
    await fixture.expireLease(id, 360_001);
    await runner.waitForLines("stops", 2);
    expect(await runner.exited).toBe(1);
    expect((await project.waitForEnd(id)).stacks).toEqual([
      "failed: runner_lost",
      "failed: runner_lost",
    ]);
  });

  it("takes a number from 1 to 20", async (context) => {
    const { run } = await prepare(context);
    for (const wrong of ["0", "21", "two"]) {
      const runner = run("true", "--once", "--parallel", wrong);
      expect(await runner.exited).toBe(2);
      expect(runner.output).toContain("Set --parallel to 1 to 20 stacks.");
    }
  });
});
