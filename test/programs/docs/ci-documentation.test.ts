import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ExitCode } from "../../../packages/cli/src/errors.ts";
import { CLI_PROGRAM, RUNNER_PROGRAM } from "../../../scripts/lib/program-bundle.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { ActionStep } from "../support/action-step.ts";
import { LocalIssuer } from "../support/issuer.ts";
import { RunnerProcess } from "../support/runner-process.ts";
import { type Service, useService } from "../support/service.ts";

const PAGE = readFileSync(join(ROOT, "docs/ci.md"), "utf8");
const BUNDLE = join(CLI_PROGRAM.folder, CLI_PROGRAM.fileName);
const RUNNER = join(RUNNER_PROGRAM.folder, RUNNER_PROGRAM.fileName);
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const AUDIENCE = "https://longshore.example.com";

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let issuer: LocalIssuer;
let runner: RunnerProcess;
/** With the programs that jobs find. */
let folder: string;
let ownerEnvironment: Record<string, string>;

const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(
    ([, content = ""]) => content,
  );
const section = (title: string) => PAGE.split(/^## /m).find((each) => each.startsWith(title)) ?? "";

const workflows = blocks("yaml").filter((each) => each.includes("uses: longshore/longshore@"));
const withRunner = workflows.find((each) => each.includes("longshore-runner")) ?? "";

/** What the step with the action gets, without the quotes of YAML. */
function inputsOf(workflow: string): Record<string, string> {
  const [, step = ""] = workflow.split("uses: longshore/longshore@");
  const [, block = ""] = /^ {8}with:\n((?: {10}.*\n)+)/m.exec(step) ?? [];
  const inputs = [...block.matchAll(/^ {10}([\w-]+): (.*)$/gm)].map(([, ...each]) => each);
  return Object.fromEntries(inputs.map(([name, text = ""]) => [name, text.replaceAll('"', "")]));
}

function makeProgram(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

beforeAll(async () => {
  issuer = await LocalIssuer.start();
  folder = mkdtempSync(join(tmpdir(), "longshore-ci-"));
  makeProgram("longshore", `exec "${process.execPath}" "${BUNDLE}" "$@"`);
  makeProgram("npm", 'echo "$*" >> "$(dirname "$0")/npm.log"');
  const { call } = bind(service);
  const project = await call("POST", "/v1/projects", { name: "storefront" });
  await call("PUT", `/v1/projects/${project.id}/connection`, {
    provider: "aws",
    account_id: "123456789012",
    region: "eu-central-1",
  });
  const environmentId = project.default_environment_id;
  await call("POST", `/v1/environments/${environmentId}/stacks`, { name: "web" });
  const pools = `/v1/orgs/${service.organizationId}/runner-pools`;
  const pool = await call("POST", pools, { name: "ci", environment_ids: [environmentId] });
  const { token } = await call("POST", `${pools}/${pool.id}/tokens`, { name: "ci" });
  const command = 'echo "Deploying $LONGSHORE_SOURCE"; [ ! -e fail ]';
  runner = new RunnerProcess({ url: service.url.origin, token, command });
  ownerEnvironment = { LONGSHORE_URL: service.url.origin, LONGSHORE_API_KEY: service.owner.key };
});

afterAll(async () => {
  await runner.stop();
  issuer.stop();
  rmSync(folder, { recursive: true });
});

const bind = ({ owner }: Service) => ({ call: owner.call.bind(owner) });

/** Runs commands as a job with this environment does. */
async function run(commands: string, environment: NodeJS.Dict<string>) {
  const path = [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  const child = spawn("sh", ["-e", "-c", commands], {
    cwd: folder,
    env: { PATH: path, HOME: folder, ...environment } as unknown as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { output: output + errors, status };
}

/** What a job finds that has no stored key. */
const keyless = (name: string) => ({
  LONGSHORE_URL: service.url.origin,
  LONGSHORE_ORG_ID: service.organizationId,
  LONGSHORE_CONFIG_DIR: join(folder, name),
});

async function newestDeployment() {
  const { data } = await service.owner.call("GET", "/v1/deployments?limit=1");
  return data[0];
}

describe("docs/ci.md", () => {
  it("has commands that create a service account, a trust and a key", async () => {
    const commands = blocks("sh")
      .join("\n")
      .replaceAll("https://token.actions.githubusercontent.com", issuer.url);
    expect(await run(commands, ownerEnvironment)).toMatchObject({ status: 0 });
    const organization = `/v1/orgs/${service.organizationId}`;
    const { data: trusts } = await service.owner.call("GET", `${organization}/trusts`);
    expect(trusts).toEqual([
      expect.objectContaining({ audience: `${AUDIENCE}/runner`, pool_id: expect.any(String) }),
      expect.objectContaining({ audience: AUDIENCE, membership_id: expect.any(String) }),
    ]);
    expect(readFileSync(join(folder, "ci.key"), "utf8")).toMatch(/^lsh_\w+\n$/);
  });

  it("has a job of GitLab that deploys without a stored key", async () => {
    const job = section("GitLab");
    expect(job).toContain(`aud: ${AUDIENCE}\n`);
    const script = [...job.matchAll(/^ {4}- (.*)$/gm)].map(([, line]) => line).join("\n");
    const { output, status } = await run(script, {
      ...keyless("gitlab"),
      LONGSHORE_ID_TOKEN: await issuer.sign(AUDIENCE),
      CI_COMMIT_SHA: "0a1b2c",
      CI_JOB_URL: "https://gitlab.com/acme/shop/-/jobs/7",
    });
    expect([status, output]).toEqual([0, output]);
    expect(output).not.toMatch(/lsh_/);
    const { data } = await newestDeployment();
    expect(data.source.registry.image).toBe("ghcr.io/acme/shop:0a1b2c");
    expect(readFileSync(join(folder, "npm.log"), "utf8")).toContain(
      `install --global @longshore/cli@${version}\n`,
    );
  });

  it("has a step of Buildkite that deploys without a stored key, and leaves none", async () => {
    const token = await issuer.sign(AUDIENCE);
    makeProgram(
      "buildkite-agent",
      `[ "$*" = "oidc request-token --audience $LONGSHORE_URL --claim organization_id,pipeline_id" ] && echo ${token}`,
    );
    const [, command = ""] = /command: \|\n([\s\S]*?)^```$/m.exec(section("Buildkite")) ?? [];
    const script = `${command.replaceAll("$$", "$")}\necho "folder=$LONGSHORE_CONFIG_DIR"`;
    const { output, status } = await run(script, {
      ...keyless("unused"),
      BUILDKITE_COMMIT: "3d4e5f",
      BUILDKITE_BUILD_URL: "https://buildkite.com/acme/shop/builds/7",
    });
    expect([status, output]).toEqual([0, output]);
    expect((await newestDeployment()).data.source.registry.image).toBe("ghcr.io/acme/shop:3d4e5f");
    const [, used = ""] = /folder=(.*)/.exec(output) ?? [];
    expect([used === "", existsSync(used)]).toEqual([false, false]);
  });

  it("has a job for other shells, which fails if the deployment does", async () => {
    const [commands = ""] = blocks("sh job");
    const key = readFileSync(join(folder, "ci.key"), "utf8").trim();
    const environment = { ...ownerEnvironment, LONGSHORE_API_KEY: key };
    const succeeded = await run(commands, environment);
    expect([succeeded.status, succeeded.output]).toEqual([0, expect.stringContaining("Deployed.")]);
    runner.make("fail");
    expect(await run(commands, environment)).toMatchObject({ status: ExitCode.failed });
  });

  it("has workflows for GitHub with the inputs of the action", () => {
    const metadata = readFileSync(join(ROOT, "action.yml"), "utf8");
    const known = [...metadata.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name);
    expect(workflows).toHaveLength(2);
    for (const workflow of workflows) {
      expect(workflow).toContain(`uses: longshore/longshore@COMMIT # v${version}\n`);
      expect(workflow).toContain("permissions: {}");
      expect(known).toEqual(expect.arrayContaining(Object.keys(inputsOf(workflow))));
    }
    const documented = [...PAGE.matchAll(/^\| `([\w-]+)` \| /gm)].map(([, name]) => name);
    expect(documented.toSorted()).toEqual(known.toSorted());
  });

  it("says of a reason what the action says, which is that it is shown", () => {
    const metadata = readFileSync(join(ROOT, "action.yml"), "utf8");
    const [, description = ""] = /^ {2}reason:\n {4}description: (.+)\.$/m.exec(metadata) ?? [];
    expect(description).toContain("Whoever can read the deployment sees it.");
    expect(PAGE).toContain(`| \`reason\` | ${description} |`);
  });

  it("has a workflow that pins every action, and keeps expressions out of the shell", () => {
    const lines = withRunner.split("\n");
    const actions = lines.filter((line) => /uses: (?!longshore)/.test(line));
    expect(actions).toHaveLength(2);
    for (const each of actions) {
      expect(each).toMatch(/ uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
    const expressions = lines.filter((line) => line.includes("${{"));
    expect(expressions).toHaveLength(6);
    for (const each of expressions) expect(each).toMatch(/^ {10}[\w-]+: [^ ]*\$\{\{ [\w.-]+ \}\}$/);
    expect(withRunner).not.toContain("secrets.");
    expect(lines).toEqual(
      expect.arrayContaining(["    environment: production", "      id-token: write"]),
    );
    expect(withRunner).toContain(`run: npm install --global @longshore/runner@${version}\n`);
  });

  it("has a job that requests a deployment and runs it, both without a stored key", async () => {
    // It would run the deployment of the job.
    runner.signal("SIGTERM");
    await runner.exited;
    const expressions: Record<string, string> = {
      "vars.LONGSHORE_URL": service.url.origin,
      "vars.LONGSHORE_ORG_ID": service.organizationId,
      "github.sha": "6a7b8c",
    };
    const evaluate = (text: string) =>
      text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name) => expressions[name] ?? "");
    const job = evaluate(withRunner);
    // The page's audiences, because this service is at another address than that of the page.
    const step = new ActionStep({ ...inputsOf(job), audience: AUDIENCE }, issuer.jobEnvironment);
    onTestFinished(() => step.stop());
    expect([await step.run(), step.annotations("error")]).toEqual([0, []]);
    const id = step.outputs["deployment-id"] ?? "";
    expressions["steps.request.outputs.deployment-id"] = id;
    expect((await service.owner.call("GET", `/v1/deployments/${id}`)).status).toBe("queued");

    makeProgram("longshore-runner", `exec "${process.execPath}" "${RUNNER}" "$@"`);
    makeProgram("deploy.sh", 'echo "$LONGSHORE_DEPLOYMENT $LONGSHORE_IMAGE" >> deployed');
    const [, environment = "", commands = ""] =
      /^ {6}- env:\n((?: {10}.*\n)+) {8}run: \|\n([\s\S]*)$/m.exec(evaluate(withRunner)) ?? [];
    const variables = [...environment.matchAll(/^ +(\w+): (.*)$/gm)].map(([, ...each]) => each);
    const result = await run(commands.replace('"$LONGSHORE_URL/runner"', `${AUDIENCE}/runner`), {
      ...Object.fromEntries(variables),
      ...issuer.jobEnvironment,
    });
    expect([result.status, result.output]).toEqual([
      0,
      expect.stringContaining(`${id}: succeeded.`),
    ]);
    expect(readFileSync(join(folder, "deployed"), "utf8")).toBe(`${id} ghcr.io/acme/shop:6a7b8c\n`);
    expect((await newestDeployment()).status).toBe("succeeded");
    expect(result.output + step.log.replaceAll(/^::add-mask::.*$/gm, "")).not.toMatch(/ls[hr]_/);
  });

  it("lists the exit codes of the command line", () => {
    const table = section("The command line");
    const listed = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    const { interrupted: _, ...codes } = ExitCode;
    expect(listed).toEqual(Object.values(codes));
  });
});
