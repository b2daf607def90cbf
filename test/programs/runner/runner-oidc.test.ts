import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import { LocalIssuer } from "../support/issuer.ts";
import type { TestProject } from "../support/project.ts";
import type { RunnerProcess } from "../support/runner-process.ts";

const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };
const AUDIENCE = "https://longshore.example.com";
const WAITS = 'env > "env-$LONGSHORE_STACK"; until [ -e go ]; do sleep 0.1; done';
const POLLING = { interval: 250, timeout: 300_000 };

const fixture = RunnerFixture.use({ ALLOW_INSECURE_WEBHOOKS: "true" });
let issuer: LocalIssuer;

beforeAll(async () => {
  issuer = await LocalIssuer.start();
});

afterAll(async () => {
  issuer.stop();
});

/** The trust's tokens are valid for this long; through the API, the minimum is a minute. */
async function trustPool({ poolId }: TestProject, seconds: number): Promise<string> {
  const { owner, organizationId, d1 } = fixture.service;
  const declared = {
    name: "runners",
    issuer: issuer.url,
    // The oldest trust of an audience wins, and the tests share an organization.
    audience: `${AUDIENCE}/${poolId}`,
    conditions: { environment: "production", repository_id: "74" },
    pool_id: poolId,
  };
  const create = () => owner.call("POST", `/v1/orgs/${organizationId}/trusts`, declared);
  // The service gives the issuer some seconds for its keys, which a busy machine may exceed.
  const { id } = await vi.waitFor(create, POLLING);
  await d1.prepare("update trusts set ttl_seconds = ? where id = ?").bind(seconds, id).run();
  return id;
}

async function waitForExchanges(trustId: string, count: number): Promise<void> {
  const sql =
    "select count(*) as n from audit_log where action = 'trust.exchanged' and credential_id = ?";
  const exchanged = async () =>
    Number(await fixture.service.d1.prepare(sql).bind(trustId).first("n")) >= count;
  await vi.waitUntil(exchanged, POLLING);
}

const flags = ({ poolId }: TestProject) => [
  ...["--oidc-org", fixture.service.organizationId],
  ...["--oidc-audience", `${AUDIENCE}/${poolId}`, "--once"],
];

/** Neither the output nor the command's environment has a token or what gives one. */
function expectNoToken(runner: RunnerProcess, project: TestProject): void {
  const lines = project.stackIds.flatMap((id) => runner.read(`env-${id}`));
  expect(lines.length).toBeGreaterThan(0);
  const text = [runner.output, ...lines].join("\n");
  expect(text).not.toMatch(/lsr_|ACTIONS_ID_TOKEN|the secret of the job/);
  for (const token of issuer.tokens) {
    for (const part of token.split(".")) expect(text).not.toContain(part);
  }
}

describe.concurrent("a runner that exchanges tokens", () => {
  it("deploys for longer than several of its tokens are valid", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    const trustId = await trustPool(project, 2);
    const { id } = await project.deploy();
    const runner = runWith(issuer.jobEnvironment, WAITS, ...flags(project));
    await runner.waitForRuns(1);
    await waitForExchanges(trustId, 4);
    await fixture.service.sweep();
    runner.make("go");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    expectNoToken(runner, project);
  });

  it("exchanges another one when its token is revoked", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    const trustId = await trustPool(project, 900);
    const { id } = await project.deploy();
    const runner = runWith(issuer.jobEnvironment, WAITS, ...flags(project));
    await runner.waitForRuns(1);
    const { owner, organizationId } = fixture.service;
    const tokens = `/v1/orgs/${organizationId}/runner-pools/${project.poolId}/tokens`;
    const { data } = await owner.call("GET", tokens);
    const issued = data.find((each: { trust_id?: string }) => each.trust_id === trustId);
    await owner.call("DELETE", `${tokens}/${issued.id}`);
    await waitForExchanges(trustId, 2);
    runner.make("go");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
  });

  it("gets the tokens of another CI system from a command", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    await trustPool(project, 900);
    const { id } = await project.deploy();
    const { ACTIONS_ID_TOKEN_REQUEST_URL: url } = issuer.jobEnvironment;
    const script =
      `fetch("${url}&audience=${AUDIENCE}/${project.poolId}", { headers: { authorization: "Bearer " + process.env.JOB_SECRET } })` +
      ".then((response) => response.json()).then(({ value }) => console.log(value))";
    const command = `"${process.execPath}" -e '${script}'`;
    const environment = { JOB_SECRET: "the secret of the job" };
    const run = 'env > "env-$LONGSHORE_STACK"';
    const runner = runWith(environment, run, ...flags(project), "--oidc-token-command", command);
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    expectNoToken(runner, project);
  });

  it("ends with the reason when no trust accepts its token, and starts no command", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    await trustPool(project, 900);
    await project.deploy();
    const other = flags(project).map((flag) => (flag.startsWith(AUDIENCE) ? AUDIENCE : flag));
    const runner = runWith(issuer.jobEnvironment, "true", ...other);
    expect(await runner.exited).toBe(1);
    await runner.waitForOutput("audience");
    expect(runner.runs).toEqual([]);
  });

  it.for([
    [["--oidc-audience", AUDIENCE], "--oidc-org"],
    [["--oidc-org", "1", "--token-fd", "0"], "not both"],
    [["--oidc-org", "1"], "--oidc-token-command"],
    [["--oidc-org", "1", "--pass-env", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"], "Leave out --pass-env"],
  ] as const)("is refused with %s", async ([given, message], context) => {
    const { runWith } = await fixture.prepare(context);
    const environment = given.some((flag) => flag === "--pass-env") ? issuer.jobEnvironment : {};
    const runner = runWith({ ...noJob(), ...environment }, "true", ...given);
    expect(await runner.exited).toBe(2);
    await runner.waitForOutput(message);
  });
});

/** The tests themselves may run in a job of GitHub Actions. */
const noJob = () => ({
  ACTIONS_ID_TOKEN_REQUEST_URL: undefined,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: undefined,
});
