import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "vitest";
import { CloudFormationApi } from "../support/cloud-formation/api.ts";
import { ROLE } from "../support/cloud-formation/program.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { GitRepository } from "../support/git-repository.ts";
import { POLLING, prepare, toStatuses } from "../support/reports.ts";
import { RunnerProcess } from "../support/runner-process.ts";

/** What AWS would take for something else. */
const WRONG = { NAME: "a.b", HOST: "eu-central-1.example.com/", ROLE: ".." };

const topic = (properties: object = {}) => ({ Type: "AWS::SNS::Topic", Properties: properties });
const SITE = {
  Parameters: { Image: {}, Note: { Default: "" } },
  Resources: { Site: topic({ image: { Ref: "Image" } }), Table: topic() },
  Outputs: { Url: { Value: { "Fn::GetAtt": ["Site", "Url"] } } },
};

const fixture = RunnerFixture.use();

/** A project that is connected to the account of a stand-in, and a repository with a template. */
async function prepareAccount(context: TestContext) {
  const setup = await prepare(fixture, context);
  const { project, client, proxy, stackId } = setup;
  const api = await CloudFormationApi.start();
  const repository = await GitRepository.create();
  const home = mkdtempSync(join(tmpdir(), "longshore-home-"));
  context.onTestFinished(async () => {
    await api.stop();
    repository.remove();
    rmSync(home, { recursive: true });
  });
  const connection = `/v1/projects/${project.projectId}/connection`;
  const account = {
    provider: "aws",
    account_id: api.account.accountId,
    region: api.account.region,
  };
  await client.call("PUT", connection, { ...account, role_arn: ROLE });
  const { external_id: externalId } = await client.call("GET", connection);
  api.roles.set(ROLE, externalId);
  // Outputs of the stand-in have its address.
  const passed = Object.keys(api.environment).flatMap((name) => [
    name.startsWith("AWS_E") ? "--show-env" : "--pass-env",
    name,
  ]);
  const repositories = ["--repository", `github:acme/shop=${repository.url}`];
  return {
    ...setup,
    api,
    stackName: `longshore-${stackId}`,
    commit: (template: object) =>
      repository.commit({ "infra/site.json": JSON.stringify(template) }),
    /** Queues a deployment of the first stack with these settings. */
    deploy: async (sha: string, settings: object = {}, source: object = {}) => {
      const site = { executor: "cloudformation", template: "infra/site.json", ...settings };
      const { id } = await project.deploy({
        patch: [{ op: "add", path: "/stacks", value: { first: site } }],
        source: { ...repository.source(sha), ...source },
        stack_ids: [stackId],
        queue: "fifo",
      });
      return String(id);
    },
    start: (...flags: string[]) => {
      const runner = new RunnerProcess({
        url: proxy.url,
        token: project.token,
        flags: ["--executor", "cloudformation", ...repositories, ...passed, ...flags],
        environment: { HOME: home, ...api.environment },
      });
      context.onTestFinished(() => runner.stop());
      return runner;
    },
  };
}

const IMAGE = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };
const PARAMETERS = { parameters: { Image: "${source.image}", Note: "for ${environment.name}" } };

describe.concurrent("a stack of CloudFormation", () => {
  it("changes live in the list of resources, with the statuses of the contract", async (context) => {
    const { expect } = context;
    const { api, project, commit, deploy, start, readResources, read, stackId, stackName } =
      await prepareAccount(context);
    const id = await deploy(await commit(SITE), PARAMETERS, IMAGE);
    api.account.stepsPerRead = 0;
    start();
    await expect.poll(() => api.actions.includes("ExecuteChangeSet"), POLLING).toBe(true);
    const stack = api.account.find(stackName);
    const passUntil = async (status: string, id: string) => {
      while (stack.isBusy && stack.resources.get(id)?.status !== status) stack.advance();
      return expect.poll(async () => toStatuses(await readResources()), POLLING);
    };
    await (await passUntil("CREATE_IN_PROGRESS", "Site")).toEqual(["Site: CREATE_IN_PROGRESS"]);
    await (await passUntil("CREATE_IN_PROGRESS", "Table")).toEqual([
      "Site: CREATE_COMPLETE",
      "Table: CREATE_IN_PROGRESS",
    ]);
    expect((await project.read(id)).status).toBe("in_progress");
    const resources = await readResources();
    expect(resources.find(({ template_id }) => template_id === "Site")).toMatchObject({
      resource_type: "AWS::SNS::Topic",
      physical_id: stack.resources.get("Site")?.physicalId,
    });
    api.account.finish();
    expect(await project.waitForEnd(id)).toEqual({ status: "succeeded", stacks: ["succeeded"] });
    expect(toStatuses(await readResources())).toEqual([
      "Site: CREATE_COMPLETE",
      "Table: CREATE_COMPLETE",
    ]);
    expect((await read(stackId)).outputs).toEqual({ url: `${api.url}/pages/${stackName}` });
    expect(stack.target.parameters).toEqual({
      Image: IMAGE.registry.image,
      Note: "for production",
    });
    const log = await fixture.log(id);
    expect(log.indexOf("  Add Site (AWS::SNS::Topic)")).toBeLessThan(
      log.indexOf("CREATE_IN_PROGRESS"),
    );
    expect(log).not.toMatch(/canary|ASIA/);
  });

  it("is rolled back when its deployment is canceled, and the next deployment waits for that", async (context) => {
    const { expect } = context;
    const { api, project, commit, deploy, start, readResources, stackName } =
      await prepareAccount(context);
    const first = await deploy(await commit(SITE), PARAMETERS, IMAGE);
    const runner = start();
    expect((await project.waitForEnd(first)).status).toBe("succeeded");
    const changed = { ...SITE, Resources: { ...SITE.Resources, Table: topic({ size: 2 }) } };
    const sha = await commit(changed);
    api.account.stepsPerRead = 0;
    const second = await deploy(sha, PARAMETERS, IMAGE);
    const stack = api.account.find(stackName);
    await expect.poll(() => stack.isBusy, POLLING).toBe(true);
    while (stack.resources.get("Table")?.status !== "UPDATE_IN_PROGRESS") stack.advance();
    await expect
      .poll(async () => toStatuses(await readResources()), POLLING)
      .toEqual(["Site: CREATE_COMPLETE", "Table: UPDATE_IN_PROGRESS"]);
    await project.cancel(second);
    expect((await project.waitForEnd(second)).status).toBe("canceled");
    expect(api.actions).toContain("CancelUpdateStack");
    api.account.stepsPerRead = 1;
    const third = await deploy(sha, PARAMETERS, IMAGE);
    expect((await project.waitForEnd(third)).status).toBe("succeeded");
    expect(await fixture.log(third)).toMatch(
      /^The stack \S+ is UPDATE_IN_PROGRESS: an earlier operation goes on/,
    );
    expect(stack.events.map(({ status }) => status)).toContain("UPDATE_ROLLBACK_COMPLETE");
    expect(toStatuses(await readResources())).toContain("Table: UPDATE_COMPLETE");
    runner.signal("SIGTERM");
  });

  it("has no hostile settings: each is refused with a reason, and CloudFormation gets no request", async (context) => {
    const { expect } = context;
    const { api, project, commit, deploy, start } = await prepareAccount(context);
    const large = "x".repeat(8_000);
    const at = "/stacks/first";
    await project.setVariables({ FLAG: "--force", LINES: "a\nb", LARGE: large, ...WRONG });
    const sha = await commit(SITE);
    const form = (name: string, form: string) => `${at}/${name} must be ${form}`;
    const many = Object.fromEntries(
      Array.from({ length: 150 }, (_, at) => [`P${at}`, "${variables.LARGE}"]),
    );
    const cases: [object, string][] = [
      [{ stack_name: "${variables.NAME}" }, form("stack_name", "a letter, and then")],
      [{ stack_name: "${variables.FLAG}" }, `${at}/stack_name would become an option`],
      [{ stack_name: "${variables.LINES}" }, `${at}/stack_name has a control character`],
      [{ region: "${variables.HOST}" }, form("region", "a region of AWS")],
      [{ region: "${variables.LINES}" }, `${at}/region has a control character`],
      [{ role: "${variables.ROLE}" }, form("role", "the ARN of a role")],
      [{ role: "${variables.LINES}" }, `${at}/role has a control character`],
      [
        { parameters: { Image: "${variables.LARGE}".repeat(3) } },
        `${at}/parameters/Image has more than 16,384 bytes`,
      ],
      [{ parameters: many }, "makes the settings of the stack larger than 1,048,576 bytes"],
      [{ template: "${variables.LINES}" }, `${at}/template has a control character`],
      [{ template: "infra" }, `${at}/template: the commit has no such file`],
    ];
    const ids: string[] = [];
    for (const [settings] of cases) ids.push(await deploy(sha, settings));
    start();
    for (const [index, [, reason]] of cases.entries()) {
      const { status, stacks } = await project.waitForEnd(ids[index] ?? "");
      expect([status, stacks[0]]).toEqual(["failed", expect.stringContaining(reason)]);
    }
    expect(api.calls).toEqual([]);
  });

  it("is checked when its configuration is written", async (context) => {
    const { expect } = context;
    const { client, project } = await prepareAccount(context);
    const write = (settings: object) =>
      client.call("PUT", `/v1/environments/${project.environmentId}`, {
        name: "production",
        configuration: { stacks: { first: { executor: "cloudformation", ...settings } } },
      });
    const refused: object[] = [
      {},
      { template: 5 },
      { template: "a.yaml", capabilities: ["CAPABILITY_ALL"] },
      { template: "a.yaml", capabilities: "CAPABILITY_IAM" },
      { template: "a.yaml", parameters: { "--flag": "a" } },
      { template: "a.yaml", parameters: { "a\nb": "a" } },
      { template: "a.yaml", parameters: ["a"] },
      { template: "a.yaml", tags: { a: null } },
      { template: "a.yaml", bucket: "a" },
      { template: "../a.yaml" },
      { template: "a.yaml", stack_name: "--role-arn" },
    ];
    for (const settings of refused) {
      await expect(write(settings), JSON.stringify(settings)).rejects.toThrow(/: 400 .*stacks/);
    }
    const accepted = { template: "a.yaml", capabilities: ["CAPABILITY_IAM"], tags: { a: 1 } };
    const { configuration } = await write(accepted);
    expect(configuration.stacks.first).toMatchObject(accepted);
  });
});
