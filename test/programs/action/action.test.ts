import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parse } from "marked";
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from "vitest";
import { ACTION_PROGRAM, bundleProgram } from "../../../scripts/lib/program-bundle.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { ActionStep } from "../support/action-step.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { LocalIssuer } from "../support/issuer.ts";
import type { TestProject } from "../support/project.ts";

const AUDIENCE = "https://longshore.example.com";
const SCOPES = ["deployments:write", "environments:read", "projects:read"];
const POLLING = { interval: 100, timeout: 300_000 };
const PATCH = '[\n  {"op": "add", "path": "/replicas", "value": 3}\n]';

const fixture = RunnerFixture.use({ ALLOW_INSECURE_WEBHOOKS: "true" });
let issuer: LocalIssuer;

beforeAll(async () => {
  issuer = await LocalIssuer.start();
});

afterAll(async () => {
  issuer.stop();
});

function makeStep(
  context: TestContext,
  inputs: Record<string, string>,
  environment: NodeJS.Dict<string> = {},
): ActionStep {
  const step = new ActionStep({ url: fixture.service.url.origin, ...inputs }, environment);
  context.onTestFinished(() => step.stop());
  return step;
}

/** The inputs of a step with a stored key. */
const withKey = ({ key, environmentId }: TestProject) => ({
  "api-key": key,
  environment: environmentId,
});

const exchange = (token: string) =>
  fetch(new URL("/v1/oidc/token", fixture.service.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ org_id: fixture.service.organizationId, token }),
  });

/** Lets jobs of the audience `poolId` deploy; each project has its own, and the oldest trust wins. */
async function trust({ poolId }: TestProject, scopes: readonly string[] = SCOPES) {
  const { owner, organizationId } = fixture.service;
  const { membership } = await owner.call("GET", "/v1/whoami");
  const create = (body: object) => owner.call("POST", `/v1/orgs/${organizationId}/trusts`, body);
  const declared = {
    name: "deploy workflow",
    issuer: issuer.url,
    audience: `${AUDIENCE}/${poolId}`,
    conditions: { environment: "production", repository_id: "74" },
    membership_id: membership.id,
    scopes,
  };
  // The service gives the issuer some seconds for its keys, which a busy machine may exceed.
  const { id } = await vi.waitFor(() => create(declared), POLLING);
  // It keeps them for ten minutes, once it has read them for a token, also for one that no trust accepts.
  const token = await issuer.sign(AUDIENCE);
  await vi.waitUntil(async () => (await exchange(token)).status !== 408, POLLING);
  return {
    trustId: id as string,
    inputs: { "org-id": organizationId, audience: `${AUDIENCE}/${poolId}` },
  };
}

/** No key and no token of the job is in the log, except where GitHub is told to hide it. */
function expectNoSecrets(step: ActionStep): void {
  const lines = step.log.split("\n").filter((line) => !line.startsWith("::add-mask::"));
  expect(lines.join("\n")).not.toMatch(/lsh_|the secret of the job/);
  for (const token of issuer.tokens) expect(step.log).not.toContain(token.split(".")[2]);
}

describe.concurrent("a step of the GitHub Action", () => {
  it("deploys without a stored key, and reports the success", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { inputs } = await trust(project);
    const url = "https://shop.example.com/?a&$LONGSHORE_STACK_NAME";
    const output = `{"output":{"name":"url","value":"${url}"}}`.replaceAll('"', '\\"');
    run(
      `echo "Deploying $LONGSHORE_STACK from $LONGSHORE_SOURCE"; echo "${output}" >> "$LONGSHORE_REPORT_FILE"`,
      "--once",
    );
    const step = makeStep(
      context,
      {
        ...inputs,
        project: project.projectId,
        environment: "production",
        patch: PATCH,
        reason: "Trial",
        image: "ghcr.io/acme/shop:1.4.2",
        stacks: "  second\n\nfirst\n",
        wait: "TRUE",
        timeout: "5m",
      },
      issuer.jobEnvironment,
    );
    expect([await step.run(), step.annotations("error")]).toEqual([0, []]);
    const id = step.outputs["deployment-id"] ?? "";
    const urlOf = (stack: string) => ({ url: `https://shop.example.com/?a&${stack}` });
    const { outputs = "", ...others } = step.outputs;
    expect(JSON.parse(outputs)).toEqual({ second: urlOf("second"), first: urlOf("first") });
    expect(others).toEqual({ "deployment-id": id, status: "succeeded", ...urlOf("second") });
    const deployment = await project.read(id);
    expect(deployment.status).toBe("succeeded");
    expect(deployment.stack_ids).toEqual([project.stackIds[1], project.stackIds[0]]);
    expect(deployment.data.patch).toEqual([{ op: "add", path: "/replicas", value: 3 }]);
    expect(deployment.data.source).toEqual({ registry: { image: "ghcr.io/acme/shop:1.4.2" } });
    expect(step.commands.map(({ name }) => name)).toEqual(["add-mask"]);
    expect(step.commands[0]?.text).toMatch(/^lsh_/);
    expectNoSecrets(step);
    expect(step.log).toContain(`\n[first] Deploying ${project.stackIds[0]} from`);
    expect(step.log).toContain("\n[second] is succeeded\n");
    expect(step.summary).toContain(
      "<h3>Deployment of <code>production</code>: <code>succeeded</code></h3>",
    );
    expect(step.summary).toMatch(/<td><code>second<\/code><\/td><td><code>succeeded<\/code><\/td>/);
    expect(step.summary).toContain('<p><a href="https://shop.example.com/?a&amp;second"><code>');
    const page = new URL(`/console/deployments/${id}`, fixture.service.url).href;
    expect(step.log).toContain(`Deployment ${id} of production: ${page}\n`);
    expect(step.summary).toContain(
      `<p>Deployment: <a href="${page}"><code>${id}</code></a><br>By: `,
    );
    expect(step.summary).toMatch(/<br>By: <code>[^<]+<\/code><br>Reason: <code>Trial<\/code><br>/);
    expect(step.summary).toMatch(/<br>Waited: <code>\d+s<\/code><br>Took: <code>\d+s<\/code><\/p>/);
  });

  it("fails if the deployment does, and says which stack and why", async (context) => {
    const { project, run } = await fixture.prepare(context);
    run(`[ "$LONGSHORE_STACK" = ${project.stackIds[0]} ]`, "--once");
    const step = makeStep(context, withKey(project));
    expect(await step.run()).toBe(1);
    expect(step.outputs["status"]).toBe("failed");
    const [message, ...others] = step.annotations("error");
    expect(others).toEqual([]);
    expect(message).toMatch(/^The deployment \w+ of \w+ has failed\.\nsecond: .+/);
    expect(message).not.toContain("first");
    expect(step.summary).toMatch(
      /<code>first<\/code><\/td><td><code>succeeded<\/code><\/td><td><\/td>/,
    );
    expect(step.summary).toMatch(
      /<code>second<\/code><\/td><td><code>failed<\/code><\/td><td><code>.+<\/code>/,
    );
  });

  it("fails if someone cancels the deployment", async (context) => {
    const { project } = await fixture.prepare(context);
    const step = makeStep(context, withKey(project));
    const exited = step.run();
    await step.waitForLog("It is queued since");
    await project.cancel(step.outputs["deployment-id"] ?? "");
    expect(await exited).toBe(1);
    expect(step.annotations("error")).toEqual([
      expect.stringMatching(/^The deployment \w+ of \w+ was canceled\.$/),
    ]);
    expect(step.outputs["status"]).toBe("canceled");
  });

  it("gives GitHub no command, Markdown or HTML of names and logs", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const name = "::error::a](x) <img src=x> | @octo **b** `c` ##[error]d";
    const stacks = await project.addStack(name);
    const output = [
      "::set-output name=status::succeeded",
      "  ::stop-commands::canary",
      "text ##[set-env name=PATH]/tmp",
      "half\\r::error::canary",
      "\\033[31m::warning::canary\\033[0m",
    ];
    run(`printf '${output.join("\\n")}\\n'; exit 3`, "--once");
    const step = makeStep(context, { ...withKey(project), stacks });
    expect(await step.run()).toBe(1);
    // The mask is the first, and the outcome the last.
    expect(step.commands.map(({ name: command }) => command)).toEqual(["add-mask", "error"]);
    expect(step.log).toContain("] ::set-output name=status::succeeded\n");
    expect(step.log).toContain("] text ## [set-env name=PATH]/tmp\n");
    expect(step.log).not.toContain("half");
    expect(step.log).toContain("] ::error::canary\n");
    expect(step.log).toContain("] ::warning::canary\n");
    expect(step.annotations("error")[0]).toContain(`\n${name}: `);
    expect(step.outputs["status"]).toBe("failed");
    const html = (await parse(step.summary)).replace(/<a href="[^"<>]*\/console\/[^"<>]*">/, "");
    expect(html).not.toMatch(/<(a|img|strong|em|script)\b/);
    expect(html).toContain(
      "<code>::error::a](x) &lt;img src=x&gt; | @octo **b** `c` ##[error]d</code>",
    );
  });

  it("deploys with the scope deployments:write alone, and shows IDs", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { inputs } = await trust(project, ["deployments:write"]);
    run("echo one", "--once");
    const environment = project.environmentId;
    const step = makeStep(context, { ...inputs, environment }, issuer.jobEnvironment);
    expect([await step.run(), step.annotations("error")]).toEqual([0, []]);
    expect(step.log).toContain(`\n[${project.stackIds[1]}] one\n`);
    expect(step.outputs).toMatchObject({ status: "succeeded", outputs: "{}" });
    expect(step.outputs).not.toHaveProperty("url");
  });

  it("exchanges another key when its key has expired or is revoked", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { trustId, inputs } = await trust(project);
    const { d1 } = fixture.service;
    await d1.prepare("update trusts set ttl_seconds = 3 where id = ?").bind(trustId).run();
    const runner = run("until [ -e go ]; do sleep 0.1; done; echo done", "--once");
    const environment = project.environmentId;
    const step = makeStep(context, { ...inputs, environment }, issuer.jobEnvironment);
    const exited = step.run();
    const masks = () => step.commands.filter(({ name }) => name === "add-mask");
    await vi.waitUntil(() => masks().length >= 3, POLLING);
    runner.make("go");
    expect([await exited, step.annotations("error")]).toEqual([0, []]);
    expect(new Set(masks().map(({ text }) => text)).size).toBe(masks().length);
    expectNoSecrets(step);
  });

  it("does not wait with wait: false", async (context) => {
    const { project } = await fixture.prepare(context);
    const step = makeStep(context, { ...withKey(project), wait: "false" });
    expect(await step.run()).toBe(0);
    expect(step.outputs["status"]).toBe("queued");
    expect(step.summary).toContain("<code>first</code>");
  });

  it("fails after the timeout, and leaves the deployment as it is", async (context) => {
    const { project } = await fixture.prepare(context);
    const step = makeStep(context, { ...withKey(project), timeout: "1s" });
    expect(await step.run()).toBe(1);
    expect(step.annotations("error")).toEqual([
      expect.stringMatching(/has not ended within 1s: it is queued/),
    ]);
    const { status } = await project.read(step.outputs["deployment-id"] ?? "");
    expect([status, step.outputs["status"]]).toEqual(["queued", "queued"]);
  });

  it.for(["SIGINT", "SIGTERM"] as const)(
    "leaves the deployment as it is on %s, and says how to cancel it",
    async (signal, context) => {
      const { project } = await fixture.prepare(context);
      const step = makeStep(context, withKey(project));
      const exited = step.run();
      await step.waitForLog("It is queued since");
      step.signal(signal);
      expect(await exited).toBe(1);
      const id = step.outputs["deployment-id"] ?? "";
      expect(step.annotations("warning")).toEqual([
        `The job was canceled, and the deployment ${id} continues. To cancel it: longshore deployments cancel ${id}`,
      ]);
      expect(step.annotations("error")).toEqual([]);
      expect((await project.read(id)).status).toBe("queued");
      expect(step.summary).toContain("<code>queued</code>");
    },
  );

  it("deploys once for each execution, also if its process is started again", async (context) => {
    const { project } = await fixture.prepare(context);
    const inputs = { ...withKey(project), wait: "false" };
    const step = makeStep(context, inputs);
    const deploy = async (each: ActionStep, changes = {}) => {
      expect(await each.run(changes)).toBe(0);
      return each.outputs["deployment-id"];
    };
    const first = await deploy(step);
    expect(await deploy(step)).toBe(first);
    const repeated = await deploy(step, { GITHUB_RUN_ATTEMPT: "2" });
    const second = await deploy(makeStep(context, inputs));
    expect(new Set([first, repeated, second]).size).toBe(3);
  });
});

describe.concurrent("a step that cannot deploy", () => {
  it("names the request if no trust accepts the token", async (context) => {
    const { project } = await fixture.prepare(context);
    const { inputs } = await trust(project);
    const other = { ...inputs, audience: AUDIENCE, environment: project.environmentId };
    const step = makeStep(context, other, issuer.jobEnvironment);
    expect(await step.run()).toBe(1);
    expect(step.annotations("error")).toEqual([
      expect.stringMatching(
        /^No trust accepts the token of the job: POST \/v1\/oidc\/token: 401 .*audience.* \(request [\w-]+\)\./,
      ),
    ]);
    expect([step.outputs, step.summary]).toEqual([{}, ""]);
    expectNoSecrets(step);
  });

  it("names the request and the issues if the service refuses the patch", async (context) => {
    const { project } = await fixture.prepare(context);
    const patch = '[{"op":"upsert","path":"/replicas","value":3}]';
    const step = makeStep(context, { ...withKey(project), patch });
    expect(await step.run()).toBe(1);
    const [message] = step.annotations("error");
    expect(message).toMatch(/\(bad_input, status 400, request [\w-]+\)/);
    expect(message).toContain("patch");
    expect(step.outputs).toEqual({});
  });

  it("says what is wrong with a key", async (context) => {
    const { project } = await fixture.prepare(context);
    const inputs = { ...withKey(project), "api-key": `${project.key.slice(0, -2)}xx` };
    const step = makeStep(context, inputs);
    expect(await step.run()).toBe(1);
    expect(step.annotations("error")[0]).toMatch(
      /status 401, request .*Is the input api-key right/,
    );
    expectNoSecrets(step);
  });

  it.for([
    [{ url: "" }, "The input url is missing."],
    [{ url: "longshore.example.com" }, "The input url must be the address of the API"],
    [{ environment: "" }, "The input environment is missing."],
    [{ environment: "production" }, "Set the input project"],
    [{ patch: '{"op":"add"}' }, "The input patch must be a JSON Patch"],
    [{ patch: "[" }, "The input patch must be a JSON Patch"],
    [{ wait: "yes" }, "The input wait must be true or false."],
    [{ timeout: "soon" }, '"soon" is not a duration'],
    [{ stacks: "third" }, 'The environment has no stack "third"'],
    [{ project: "nowhere", environment: "production" }, 'There is no project "nowhere"'],
    [{ "api-key": "" }, "Set the input org-id"],
    [{ "api-key": "", "org-id": "1" }, "Give it the permission `id-token: write`"],
  ] as const)("names the input that is wrong: %j", async ([inputs, message], context) => {
    const { project } = await fixture.prepare(context);
    const step = makeStep(context, { ...withKey(project), ...inputs });
    expect(await step.run()).toBe(1);
    expect(step.annotations("error")).toEqual([expect.stringContaining(message)]);
    expect(step.outputs).toEqual({});
  });

  it("says that the service does not respond, or is none", async (context) => {
    const { project } = await fixture.prepare(context);
    const nobody = makeStep(context, { ...withKey(project), url: "http://127.0.0.1:1" });
    const server = createServer((_, response) => void response.end("<html>")).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    context.onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const page = makeStep(context, { ...withKey(project), url });
    expect(await Promise.all([nobody.run(), page.run()])).toEqual([1, 1]);
    expect(nobody.annotations("error")[0]).toContain("There is no response: ");
    expect(page.annotations("error")[0]).toContain("not one of Longshore's API");
  });
});

describe("action.yml", () => {
  const lines = readFileSync(join(ROOT, "action.yml"), "utf8").split("\n");

  it("starts a bundle that is in the repository and current: npm run bundle action", () => {
    expect(lines).toContain("  using: node24");
    const main = lines.find((line) => line.startsWith("  main: "))?.slice("  main: ".length) ?? "";
    const { folder, fileName } = ACTION_PROGRAM;
    expect(join(ROOT, main)).toBe(join(folder, fileName));
    expect(existsSync(join(ROOT, main))).toBe(true);
    const [[, text]] = [...bundleProgram(ACTION_PROGRAM)] as [[string, string]];
    // Not `toBe`, whose difference would be the whole file.
    expect(readFileSync(join(ROOT, main), "utf8") === text).toBe(true);
    expect([...bundleProgram(ACTION_PROGRAM).keys()]).toEqual([fileName]);
  });

  it("has the inputs and outputs that the action reads and writes", () => {
    const start = (key: string) => lines.indexOf(`${key}:`);
    const names = (from: number, to: number) =>
      lines.slice(from, to).flatMap((line) => /^ {2}([\w-]+):$/.exec(line)?.slice(1) ?? []);
    const read = readFileSync(join(ROOT, "packages/action/src/inputs.ts"), "utf8");
    const used = [...read.matchAll(/\bread\("([\w-]+)"\)/g)].map(([, name]) => name);
    expect(names(start("inputs"), start("outputs")).toSorted()).toEqual(used.toSorted());
    expect(names(start("outputs"), start("runs"))).toEqual([
      ...["deployment-id", "status", "url", "outputs"],
    ]);
  });
});
