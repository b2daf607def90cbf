import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExitCode } from "../../packages/cli/src/errors.ts";
import { CLI_PROGRAM } from "../../scripts/lib/program-bundle.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import { LocalIssuer } from "./support/issuer.ts";
import { RunnerProcess } from "./support/runner-process.ts";
import { type Service, startService } from "./support/service.ts";

const PAGE = readFileSync(join(ROOT, "docs/ci.md"), "utf8");
const BUNDLE = join(CLI_PROGRAM.folder, CLI_PROGRAM.fileName);
const AUDIENCE = "https://longshore.example.com";

let service: Service;
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

function makeProgram(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

beforeAll(async () => {
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: "true" });
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
  await service.stop();
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
  LONGSHORE_CLI: `${AUDIENCE}/longshore-cli.tgz`,
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
      .replace("https://token.actions.githubusercontent.com", issuer.url);
    expect(await run(commands, ownerEnvironment)).toMatchObject({ status: 0 });
    const organization = `/v1/orgs/${service.organizationId}`;
    const { data: trusts } = await service.owner.call("GET", `${organization}/trusts`);
    expect(trusts).toEqual([
      expect.objectContaining({ audience: AUDIENCE, name: "deploy workflow" }),
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
      `install --global ${AUDIENCE}/longshore-cli.tgz`,
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

  it("has a workflow for GitHub with the inputs of the action", () => {
    const [workflow = ""] = blocks("yaml");
    expect(workflow).toMatch(/uses: longshore\/longshore@COMMIT # v\d+\.\d+\.\d+\n/);
    expect(workflow).toContain("permissions: {}");
    const inputs = [...workflow.matchAll(/^ {10}([\w-]+):/gm)].map(([, name]) => name);
    const metadata = readFileSync(join(ROOT, "action.yml"), "utf8");
    const known = [...metadata.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name);
    expect(known).toEqual(expect.arrayContaining(inputs));
    const documented = [...PAGE.matchAll(/^\| `([\w-]+)` \| /gm)].map(([, name]) => name);
    expect(documented.toSorted()).toEqual(known.toSorted());
  });

  it("lists the exit codes of the command line", () => {
    const table = section("The command line");
    const listed = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    const { interrupted: _, ...codes } = ExitCode;
    expect(listed).toEqual(Object.values(codes));
  });
});
