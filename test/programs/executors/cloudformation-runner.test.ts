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
});
