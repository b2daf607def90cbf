import { describe, expect, it, type TestContext, vi } from "vitest";
import { readEffort, sampleOf } from "../../effort.ts";
import { configMap, deployment, job, toManifests } from "../support/kubernetes/manifests.ts";
import { KubernetesRun } from "../support/kubernetes/program-run.ts";

const BEFORE = toManifests(deployment("web", { image: "shop:1" }), configMap("old", { a: "b" }));
const AFTER = toManifests(deployment("web", { image: "shop:2" }), configMap("new", { a: "b" }));
const FAILING = toManifests(
  deployment("web", { image: "shop:missing", progressDeadlineSeconds: 1 }),
  configMap("new", { a: "b" }),
);
const OBJECTS = ["configmap/new", "deployment.apps/web"];
const POLLING = { interval: 50, timeout: 300_000 };
const AT_ONCE = 6;

/** A deployment, after what was deployed before it. */
interface Scenario {
  name: string;
  before?: string;
  manifests: string;
  image: string;
  succeeds: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "a creation", manifests: AFTER, image: "shop:2", succeeds: true },
  { name: "an update", before: BEFORE, manifests: AFTER, image: "shop:2", succeeds: true },
  {
    name: "an update that fails",
    before: BEFORE,
    manifests: FAILING,
    image: "shop:missing",
    succeeds: false,
  },
];

async function prepare({ before }: Scenario): Promise<KubernetesRun> {
  const run = new KubernetesRun();
  if (before !== undefined) {
    run.write(before);
    expect((await run.run()).status).toBe(0);
  }
  return run;
}

function prepareFor(context: TestContext): KubernetesRun {
  const run = new KubernetesRun();
  context.onTestFinished(() => run.remove());
  return run;
}

/** A success is what the cluster shows, and nothing of the deployments before is left. */
async function expectSound(run: KubernetesRun, { manifests, image, succeeds }: Scenario) {
  run.setFault(undefined);
  run.write(manifests);
  const { status, resources, reason } = await run.run({}, "2Cg5bWz8mKq3TnRv6HxPdZ");
  expect([status, reason]).toEqual([succeeds ? 0 : 1, succeeds ? undefined : expect.any(String)]);
  expect(run.objects).toEqual(OBJECTS);
  expect(run.manifestOf("deployment.apps/web")).toContain(image);
  const last = resources.findLast(({ template_id }) => template_id === "deployment.apps/web");
  expect(last?.status).toMatch(succeeds ? /_COMPLETE$/ : /_FAILED$/);
}

/** A share of the points, which are others in each scenario. `EFFORT=killStride=1` takes all. */
function someOf<Point>(scenario: Scenario, points: readonly Point[]): Point[] {
  return sampleOf(points, readEffort().killStride, SCENARIOS.indexOf(scenario));
}

describe.each(SCENARIOS)("$name", (scenario) => {
  it("may be killed at each command of kubectl, and the next deployment ends well", async () => {
    const prepared = await prepare(scenario);
    const counted = prepared.copy();
    counted.write(scenario.manifests);
    await counted.run();
    const calls = counted.calls.map(([command = ""]) => command);
    counted.remove();
    expect(calls).toEqual(expect.arrayContaining(["diff", "apply", "annotate", "get"]));
    const kills = calls.flatMap((command, after) => {
      const isWrite = ["apply", "annotate"].includes(command);
      // Between two reads of the same kind, nothing happens.
      const isBetween = calls.indexOf(command) < after && after < calls.lastIndexOf(command);
      if (!isWrite && isBetween) return [];
      return [
        ...(isWrite || command === "rollout" ? [{ what: "killed before" as const, after }] : []),
        ...(command === "rollout" ? [] : [{ what: "killed after" as const, after }]),
      ];
    });
    await inParallel(someOf(scenario, kills), async (kill) => {
      const run = prepared.copy();
      run.write(scenario.manifests);
      run.setFault(kill);
      const killed = await run.run();
      // While a rollout is followed, commands overlap, and how many there are depends on how fast the cluster is.
      const isCertain = !calls.slice(0, kill.after).includes("rollout");
      if (isCertain || killed.status === null) {
        expect([kill, killed.status, killed.outputs]).toEqual([kill, null, {}]);
      } else expect([kill, killed.status]).toEqual([kill, scenario.succeeds ? 0 : 1]);
      await expectSound(run, scenario);
      run.remove();
    });
    prepared.remove();
  });

  it("never succeeds without what the cluster shows, whichever command loses its connection", async () => {
    const commands = ["version", "config", "get", "diff", "apply", "annotate", "rollout"];
    const faults = commands.flatMap((command) => {
      const what = "lost" as const;
      const isRepeated = ["get", "apply"].includes(command);
      return [{ what, command, after: 0 }, ...(isRepeated ? [{ what, command, after: 1 }] : [])];
    });
    const prepared = await prepare(scenario);
    await inParallel(someOf(scenario, faults), async (fault) => {
      const run = prepared.copy();
      run.write(scenario.manifests);
      run.setFault(fault);
      const { status, reason } = await run.run();
      if (status === 0) {
        expect([fault, scenario.succeeds, run.objects]).toEqual([fault, true, OBJECTS]);
      } else expect([fault, reason]).toEqual([fault, expect.any(String)]);
      await expectSound(run, scenario);
      run.remove();
    });
    prepared.remove();
  });
});

describe.concurrent("a deployment to a cluster", () => {
  it("fails with the pod that cannot start, and prints the last lines of one that has", async (context) => {
    const run = prepareFor(context);
    run.write(
      toManifests(
        deployment("web", { image: "shop:missing", progressDeadlineSeconds: 2 }),
        deployment("worker", { image: "shop:crashes" }),
      ),
    );
    const { status, reason, log, resources } = await run.run();
    expect(status).toBe(1);
    expect(reason).toContain(
      'deployment.apps/web: ReplicaSet "web-1" has timed out progressing.; pod web-1: ImagePullBackOff (Back-off pulling image "shop:missing")',
    );
    expect(reason).toContain(
      "deployment.apps/worker: 0 of 1 pods are available; pod worker-1: CrashLoopBackOff",
    );
    expect(log).toContain("[pod/worker-1/web] Cannot reach the database.");
    expect(log).not.toContain("[pod/web-1/web]");
    const statuses = resources
      .slice(-2)
      .map(({ template_id, status: last }) => [template_id, last]);
    expect(Object.fromEntries(statuses)).toEqual({
      "deployment.apps/web": "CREATE_FAILED",
      "deployment.apps/worker": "CREATE_FAILED",
    });
  });

  it("fails after the timeout if something is not ready, and a deployment that mends it does not wait", async (context) => {
    const run = prepareFor(context);
    run.write(toManifests(deployment("web", { image: "shop:missing" })));
    const { status, reason } = await run.run({ timeout: "5s" });
    expect([status, reason]).toEqual([
      1,
      expect.stringMatching(
        /^Not ready within the timeout: deployment\.apps\/web: 0 of 1 pods are available; pod/,
      ),
    ]);
    run.write(toManifests(deployment("web", { image: "shop:2" })));
    const mended = await run.run({ timeout: "10s" });
    expect(mended.status).toBe(0);
    expect(mended.log).toContain("It makes no progress, and is replaced: deployment.apps/web");
  });

  it("waits for jobs, and fails with one that fails", async (context) => {
    const run = prepareFor(context);
    run.write(toManifests(job("migrate", "shop:1")));
    run.setFile("hold", "");
    const program = run.start();
    const reads = () => {
      const commands = run.calls.map(([command]) => command);
      return commands.slice(commands.indexOf("apply")).filter((command) => command === "get");
    };
    // Those of more than one round.
    await vi.waitUntil(() => reads().length >= 4, POLLING);
    run.removeFile("hold");
    const statuses = (await program.result).resources.map((each) => each.status);
    expect([statuses[0], statuses.at(-1)]).toEqual(["CREATE_IN_PROGRESS", "CREATE_COMPLETE"]);
    run.write(toManifests(job("migrate-2", "shop:fails")));
    expect((await run.run()).reason).toBe(
      "Not ready: job.batch/migrate-2: Job has reached the specified backoff limit. The log says more.",
    );
  });

  it("changes nothing if another manager has set a field, unless it may take it", async (context) => {
    const run = prepareFor(context);
    run.write(BEFORE);
    expect((await run.run()).status).toBe(0);
    run.setManager("kubectl-edit");
    run.write(AFTER);
    const before = run.read("cluster.json");
    const { status, reason } = await run.run();
    expect([status, reason]).toEqual([
      1,
      'kubectl diff: Apply failed with 1 conflict: conflict with "kubectl-edit": .spec.replicas. The log says more. ' +
        "Nothing was changed.",
    ]);
    expect(run.read("cluster.json")).toBe(before);
    expect((await run.run({ force_conflicts: true })).status).toBe(0);
    expect(run.objects).toEqual(OBJECTS);
  });

  it("reports what it has applied if the server refuses an object, and deletes nothing then", async (context) => {
    const run = prepareFor(context);
    run.write(BEFORE);
    expect((await run.run()).status).toBe(0);
    run.setFile("refused-by-apply", "configmap/new");
    run.write(AFTER);
    const { status, reason, resources } = await run.run();
    expect([status, reason]).toEqual([
      1,
      "kubectl apply: Error from server: the server refuses configmap/new. The log says more. The next deployment " +
        "applies what is missing.",
    ]);
    expect(run.objects).toEqual(["configmap/old", "deployment.apps/web"]);
    expect(resources.at(-1)?.status).toMatch(/^UPDATE_(COMPLETE|FAILED)$/);
  });

  it("creates the namespace only if asked, and says that it is missing", async (context) => {
    const run = prepareFor(context);
    run.write(AFTER);
    const missing = await run.run({ namespace: "new" });
    expect(missing.reason).toBe(
      'kubectl diff: Error from server (NotFound): namespaces "new" not found. The log says more. Nothing was changed.',
    );
    expect((await run.run({ namespace: "new", create_namespace: true })).status).toBe(0);
    expect((await run.run({ namespace: "new", create_namespace: true })).status).toBe(0);
    expect(run.calls.filter(([command]) => command === "create")).toHaveLength(1);
  });

  it("lets an apply end that has begun when it is asked to stop, and leaves the objects to the next one", async (context) => {
    const run = prepareFor(context);
    run.write(toManifests(deployment("web", { image: "shop:slow" })));
    const program = run.start();
    await vi.waitUntil(() => run.calls.some(([command]) => command === "rollout"), POLLING);
    program.signal("SIGTERM");
    const { status, reason, resources } = await program.result;
    expect([status, reason]).toEqual([
      1,
      "The deployment was stopped. Objects stay as they are; the next deployment goes on from there.",
    ]);
    expect(resources.at(-1)).toMatchObject({ status: "CREATE_IN_PROGRESS" });
  });
});

/** Each spends most of its time waiting. */
async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
