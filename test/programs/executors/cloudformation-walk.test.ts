import { describe, expect, it, type TestContext, vi } from "vitest";
import { readEffort, sampleOf } from "../../effort.ts";
import type { Account } from "../support/cloud-formation/account.ts";
import type { Fault, QueryRequest } from "../support/cloud-formation/api.ts";
import { ProgramHarness, STACK_NAME } from "../support/cloud-formation/program.ts";

const topic = (properties: object = {}) => ({ Type: "AWS::SNS::Topic", Properties: properties });
const template = (Resources: object) => ({ Resources });
const BEFORE = template({ A: topic(), B: topic() });
const AFTER = template({ A: topic({ text: "new" }), C: topic() });
const FAILING = template({ A: topic({ text: "new", Fails: "update" }), C: topic() });
const FAILING_FIRST = template({ A: topic(), B: topic({ Fails: "create" }) });
/** What a request with one of these does is not done twice by a repetition. */
const WRITES = ["CreateChangeSet", "ExecuteChangeSet", "DeleteChangeSet", "DeleteStack"];
const FAULTS: readonly Fault[] = ["lose request", "lose response", "throttle"];
const POLLING = { interval: 20, timeout: 300_000 };

/** A deployment, after what was deployed before it. */
interface Scenario {
  name: string;
  before: readonly object[];
  template: object;
  succeeds: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "a creation", before: [], template: BEFORE, succeeds: true },
  { name: "an update", before: [BEFORE], template: AFTER, succeeds: true },
  { name: "an update without changes", before: [BEFORE], template: BEFORE, succeeds: true },
  { name: "an update that fails", before: [BEFORE], template: FAILING, succeeds: false },
  { name: "a creation again", before: [FAILING_FIRST], template: BEFORE, succeeds: true },
];

async function prepare(context: TestContext | undefined, { before }: Scenario) {
  const harness = await ProgramHarness.start();
  context?.onTestFinished(() => harness.stop());
  const { api } = harness;
  api.account.stepsPerRead = 4;
  for (const each of before) execute(api.account, "CREATE", each);
  api.account.finish();
  return { harness, api, account: api.account };
}

/** Starts what another client of CloudFormation does. */
function execute({ changeSets }: Account, type: "CREATE" | "UPDATE", body: object): void {
  const name = type === "CREATE" ? "first" : "by-hand";
  const made = changeSets.create({
    ...{ stackName: STACK_NAME, name, token: name, description: "" },
    ...{ type, templateBody: JSON.stringify(body), parameters: {}, capabilities: [] },
  });
  for (let step = 0; step < 2; step += 1) changeSets.advance(made, []);
  changeSets.execute(made, name);
}

type Setup = Awaited<ReturnType<typeof prepare>>;

/** The requests of the deployment when nothing goes wrong. */
async function countCalls(scenario: Scenario): Promise<string[]> {
  const { harness, api } = await prepare(undefined, scenario);
  const first = api.calls.length;
  await harness.deploy(scenario.template);
  await harness.stop();
  return api.actions.slice(first);
}

/** Nothing is executed twice or at once, and a success is what the stack shows. */
function expectSound(
  { account }: Setup,
  status: number | null,
  { template: given, succeeds }: Scenario,
) {
  const { executions, overlaps } = account.changeSets;
  expect([overlaps, new Set(executions).size]).toEqual([0, executions.length]);
  expect(status).toBe(succeeds ? 0 : 1);
  const stack = account.find(STACK_NAME);
  expect(stack.isBusy).toBe(false);
  const isDeployed = stack.target.templateBody === JSON.stringify(given);
  expect([isDeployed, /^(CREATE|UPDATE)_COMPLETE$/.test(stack.status)]).toEqual([
    succeeds,
    succeeds,
  ]);
}

/** A share of the points, which are others in each scenario. `EFFORT=killStride=1` takes all. */
function someOf<Point>(scenario: Scenario, points: readonly Point[]): Point[] {
  return sampleOf(points, readEffort().killStride, SCENARIOS.indexOf(scenario));
}

describe.each(SCENARIOS)("$name", (scenario) => {
  it("may be killed at each request, and the next deployment ends well", async () => {
    const actions = await countCalls(scenario);
    expect(actions.length).toBeGreaterThan(5);
    const kills = actions.flatMap((action, at) =>
      WRITES.includes(action)
        ? [
            { at, fault: "lose request" as const },
            { at, fault: "lose response" as const },
          ]
        : [{ at, fault: "lose response" as const }],
    );
    const killAt = async ({ at, fault }: { at: number; fault: Fault }) => {
      const setup = await prepare(undefined, scenario);
      const { harness, api, account } = setup;
      const first = api.calls.length;
      api.fault = ({ index }) => {
        if (index !== first + at) return undefined;
        harness.child?.kill("SIGKILL");
        return fault;
      };
      const killed = await harness.deploy(scenario.template);
      expect([at, killed.status, killed.outputs]).toEqual([at, null, {}]);
      // What goes on may end before the next deployment, or in it.
      if (at % 2 === 0) account.finish();
      const { status } = await harness.deploy(scenario.template);
      expectSound(setup, status, scenario);
      await harness.stop();
    };
    await inParallel(someOf(scenario, kills), killAt);
  });

  it("ends well if any one request is throttled, is lost, or gets no response", async () => {
    const actions = await countCalls(scenario);
    // Whichever of these happens to a read, it is only repeated.
    const faults = actions.flatMap((action, at) =>
      FAULTS.filter((_, index) => WRITES.includes(action) || index === at % FAULTS.length).map(
        (fault) => ({ at, fault }),
      ),
    );
    await inParallel(someOf(scenario, faults), async ({ at, fault }) => {
      const setup = await prepare(undefined, scenario);
      const { harness, api } = setup;
      const first = api.calls.length;
      api.fault = ({ index }) => (index === first + at ? fault : undefined);
      const { status } = await harness.deploy(scenario.template);
      expectSound(setup, status, scenario);
      await harness.stop();
    });
  });
});

describe.concurrent("a deployment", () => {
  const update = SCENARIOS[1] as Scenario;

  /** Whether requests are of this action. */
  const only =
    (action: string, fault: Fault) =>
    (call: QueryRequest): Fault | undefined =>
      call.action === action ? fault : undefined;

  it.each(["ExecuteChangeSet", "DeleteChangeSet"])(
    "ends well if no response to %s ever arrives",
    async (action) => {
      const setup = await prepare(undefined, update);
      const scenario = action === "DeleteChangeSet" ? { ...update, template: BEFORE } : update;
      setup.api.fault = only(action, "lose response");
      const { status } = await setup.harness.deploy(scenario.template);
      expectSound(setup, status, scenario);
      await setup.harness.stop();
    },
  );

  it("fails if CloudFormation does not answer, and the next one finds the stack as it is", async (context) => {
    const setup = await prepare(context, update);
    setup.api.fault = only("DescribeStackEvents", "lose response");
    const failed = await setup.harness.deploy(AFTER);
    expect([failed.status, failed.reason]).toEqual([1, "AWS does not answer: ECONNRESET."]);
    setup.api.fault = () => undefined;
    expectSound(setup, (await setup.harness.deploy(AFTER)).status, update);
  });

  it("refuses to execute its change set a second time, if it is run again", async (context) => {
    const { harness, account } = await prepare(context, update);
    expect((await harness.run("same", AFTER)).status).toBe(0);
    for (const refusesRepeats of [false, true]) {
      account.changeSets.refusesRepeats = refusesRepeats;
      const again = await harness.run("same", AFTER);
      expect([again.status, again.reason]).toEqual([
        1,
        "An earlier run of this deployment has executed its change set. Deploy again.",
      ]);
    }
    expect(account.changeSets.executions.length).toBe(2);
  });

  it("fails if the stack is changed by something else between its change set and the execution", async (context) => {
    const { harness, api, account } = await prepare(context, update);
    api.fault = ({ action }) => {
      const other = account.changeSets.all.find(({ name }) => name === "by-hand");
      if (action !== "ExecuteChangeSet" || other) return undefined;
      execute(account, "UPDATE", template({ Other: topic() }));
      return undefined;
    };
    const failed = await harness.deploy(AFTER);
    expect([failed.status, failed.reason]).toEqual([
      1,
      expect.stringContaining("The stack was changed by something else meanwhile"),
    ]);
    expect(account.changeSets.executions.at(-1)?.name).toBe("by-hand");
  });
});

describe.concurrent("a deployment that is asked to stop", () => {
  /** Stops the program when CloudFormation has got this request, and goes no further. */
  async function stopAt(
    context: TestContext,
    before: readonly object[],
    action: string,
    times = 1,
  ) {
    const scenario = { name: "", before, template: AFTER, succeeds: false };
    const setup = await prepare(context, scenario);
    const { harness, api, account } = setup;
    account.stepsPerRead = 1;
    let count = 0;
    api.fault = (call) => {
      if (call.action === action) count += 1;
      if (count === times) {
        account.stepsPerRead = 0;
        harness.child?.kill("SIGTERM");
      }
      return undefined;
    };
    const result = await harness.deploy(AFTER);
    api.fault = () => undefined;
    account.stepsPerRead = 1;
    expect(result.status).toBe(1);
    return { ...setup, result };
  }

  it("lets CloudFormation roll an update back, and the next one waits for its end", async (context) => {
    const { harness, api, account, result } = await stopAt(
      context,
      [BEFORE],
      "DescribeStackEvents",
      5,
    );
    expect(api.actions).toContain("CancelUpdateStack");
    expect(result.reason).toBe(
      "Stopped: CloudFormation rolls the update back. The next deployment waits for its end.",
    );
    expect(result.resources?.length).toBe(2);
    expect(account.find(STACK_NAME).status).toBe("UPDATE_IN_PROGRESS");
    const next = await harness.deploy(AFTER);
    expect(next.status).toBe(0);
    expect(next.log).toContain("an earlier operation goes on");
    const statuses = account.find(STACK_NAME).events.map(({ status }) => status);
    expect(statuses).toContain("UPDATE_ROLLBACK_COMPLETE");
  });

  it("leaves a creation, which cannot be canceled, to the next one", async (context) => {
    const { harness, api, account, result } = await stopAt(context, [], "DescribeStackEvents", 4);
    expect(api.actions).not.toContain("CancelUpdateStack");
    expect(result.reason).toBe(
      "Stopped, but CloudFormation does not cancel the creation. The next deployment waits for its end.",
    );
    expect(account.find(STACK_NAME).status).toBe("CREATE_IN_PROGRESS");
    expect((await harness.deploy(AFTER)).status).toBe(0);
  });

  it("deletes a change set that it has not executed", async (context) => {
    const { account, result } = await stopAt(context, [BEFORE], "DescribeChangeSet");
    expect(result.reason).toBe("Stopped before anything was changed.");
    expect(account.changeSets.executions.length).toBe(1);
    expect(account.changeSets.all.length).toBe(1);
  });

  it("stops to wait for the operation of somebody else, and leaves that alone", async (context) => {
    const { harness, api, account } = await prepare(context, SCENARIOS[1] as Scenario);
    const stack = account.find(STACK_NAME);
    stack.start(hold(stack.update({ templateBody: JSON.stringify(AFTER), parameters: {} })), "x");
    stack.advance();
    account.stepsPerRead = 0;
    const running = harness.deploy(AFTER);
    const first = api.calls.length;
    await vi.waitUntil(() => api.actions.slice(first).includes("DescribeStacks"), POLLING);
    harness.child?.kill("SIGTERM");
    const { status, reason } = await running;
    expect([status, reason]).toEqual([1, "Stopped before anything was changed."]);
    expect(api.actions).not.toContain("CancelUpdateStack");
    expect(stack.status).toBe("UPDATE_IN_PROGRESS");
  });
});

function* hold(steps: Generator<undefined, unknown>) {
  yield* steps;
}

/** Three at once, because each spends most of its time waiting. */
async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item);
  };
  await Promise.all([work(), work(), work()]);
}
