import { describe, expect, it, type TestContext, vi } from "vitest";
import { prepareExecutor } from "../support/executor-setup.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { deployment, service, toManifests } from "../support/kubernetes/manifests.ts";
import { POLLING, toStatuses } from "../support/reports.ts";

const fixture = RunnerFixture.use();

const prepareKubernetes = (context: TestContext) =>
  prepareExecutor(fixture, context, { executor: "kubernetes", tool: "kubectl" });
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded"] };
const PATH = { path: "k8s" };

describe.concurrent("a runner with the executor kubernetes", () => {
  it("applies the set of the stack in the cluster of the connection, and reports its objects as they change", async (context) => {
    const { project, deploy, start, calls, connect, stackId, write, readResources, readOutputs } =
      await prepareKubernetes(context);
    const web = "deployment.apps/web";
    await connect({ provider: "kubernetes", context: "staging", namespace: "shop" });
    const settings = {
      ...{ path: "k8s", timeout: "9m", images: { shop: "acme/${environment.name}:slow" } },
      outputs: { replicas: "deployment.apps/web#/spec/replicas" },
    };
    const id = await deploy(settings, {
      "k8s/web.yaml": toManifests(
        deployment("web", { image: "shop", replicas: 2 }),
        service("web"),
      ),
    });
    start("--once");
    const isSeen = async () => (await readResources()).find((each) => each.template_id === web);
    await vi.waitUntil(isSeen, POLLING);
    expect(await isSeen()).toMatchObject({
      status: "CREATE_IN_PROGRESS",
      status_reason: expect.stringMatching(/^0 of 2 pods are available/),
    });
    // What a tool prints arrives when it ends, and the executor ends it when it sees that all is ready.
    const waits = "Waiting for deployment.apps/web to finish.";
    write("is-rolled-out", "");
    await vi.waitUntil(async () => (await fixture.log(id)).includes(waits), POLLING);
    write("is-fast", "");
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    const resources = await readResources();
    expect(toStatuses(resources)).toEqual([
      "deployment.apps/web: CREATE_COMPLETE",
      "service/web: CREATE_COMPLETE",
    ]);
    expect(resources.find(({ template_id }) => template_id === web)).toMatchObject({
      physical_id: "shop/web",
      resource_type: "apps/v1/Deployment",
      status_reason: "2 of 2 pods are available",
    });
    expect(await readOutputs()).toEqual({
      ...{ replicas: "2", web_80: "192.0.2.7:80", url: "http://192.0.2.7" },
    });
    const name = `longshore-${stackId.replaceAll(/[A-Z]/g, (letter: string) => `0${letter.toLowerCase()}`)}`;
    const requests = calls().filter(
      ({ args }) => !/^(version|config|kustomize)$/.test(args[0] ?? ""),
    );
    for (const { args } of requests) {
      expect(args).toEqual(expect.arrayContaining(["--context=staging", "--namespace=shop"]));
    }
    const applied = requests.find(
      ({ args }) => args[0] === "apply" && !args.includes("--dry-run=server"),
    );
    expect(applied?.args.slice(0, 5)).toEqual([
      ...["apply", "--server-side", `--field-manager=${name}`],
      ...["--prune", `--applyset=configmaps/${name}`],
    ]);
    const log = await fixture.log(id);
    expect(log).toContain(`Applies ${name} to the namespace shop of staging.`);
    const [preview = "", rest = ""] = log.split("service/web serverside-applied\n");
    expect(preview).toContain("+++ deployment.apps/web");
    expect(preview).toContain("service/web serverside-applied (server dry run)");
    expect(rest).toContain(waits);
  });

  it("reports what it sees when it is canceled, and the next run waits until that has settled", async (context) => {
    const { project, deploy, start, readResources, write } = await prepareKubernetes(context);
    const slow = toManifests(deployment("web", { image: "shop:slow" }));
    const id = await deploy(PATH, { "k8s/web.yaml": slow });
    start();
    await vi.waitUntil(async () => (await readResources()).length > 0, POLLING);
    await project.cancel(id);
    const { status, stacks } = await project.waitForEnd(id);
    expect([status, stacks[0]]).toEqual(["canceled", expect.stringContaining("canceled")]);
    expect(toStatuses(await readResources())).toEqual(["deployment.apps/web: CREATE_IN_PROGRESS"]);
    const next = await deploy(PATH, { "k8s/web.yaml": slow });
    const waits = `Waits until what the deployment ${id} has applied has settled: deployment.apps/web 0 of 1 pods are available.`;
    await vi.waitUntil(async () => (await fixture.log(next)).includes(waits), POLLING);
    write("is-fast", "");
    expect(await project.waitForEnd(next)).toEqual(SUCCEEDED);
  });

  it("refuses settings, and applies nothing for them", async (context) => {
    const { project, deploy, start, calls, connect, read } = await prepareKubernetes(context);
    await connect({ provider: "kubernetes", context: "test" });
    const cases: [object, string][] = [
      [
        { ...PATH, context: "other" },
        "The setting context is not that of the project's connection",
      ],
      [{ ...PATH, timeout: "${environment.name}" }, "must be a duration, such as 90s"],
      [{ ...PATH, images: { shop: "--x" } }, 'The setting images has no image for "shop"'],
      [{ ...PATH, outputs: { ip: "spec.clusterIP" } }, "The setting outputs must have names of"],
      [{ ...PATH, outputs: { x: "secret/db#/data/password" } }, "must not name secrets"],
    ];
    const files = { "k8s/web.yaml": toManifests(deployment("web", { image: "shop:1" })) };
    const ids: string[] = [];
    for (const [settings] of cases) ids.push(await deploy(settings, files));
    start();
    for (const [at, [, reason]] of cases.entries()) {
      const { status, stacks } = await project.waitForEnd(ids[at] ?? "");
      expect([status, stacks[0]]).toEqual(["failed", expect.stringContaining(reason)]);
    }
    const commands = new Set(calls().map(({ args }) => args[0]));
    expect([...commands].filter((each) => !/^(version|config)$/.test(each ?? ""))).toEqual([]);
    expect(read("cluster.json")).toBe("");
  });
});
