import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../../packages/cli/src/program.ts";
import type { CliContext } from "../../../packages/cli/src/session.ts";
import { readStoredRunners } from "../../../packages/cli/src/stored-runners.ts";
import { parseReportLine } from "../../../packages/runner/src/report-lines.ts";
import { readTokenFile } from "../../../packages/runner/src/token.ts";
import { CliUser } from "../support/cli.ts";
import { ApiClient, useService } from "../support/service.ts";

const BYTE_ORDER_MARK = "\uFEFF";

const service = useService();
let user: CliUser;
let key: string;
let name: string;

beforeAll(async () => {
  const path = `/v1/orgs/${service.organizationId}/api-keys`;
  ({ key } = await service.owner.call("POST", path, { name: "test" }));
  name = crypto.randomUUID();
  const client = new ApiClient(service.url, key);
  const { default_environment_id: id } = await client.call("POST", "/v1/projects", { name });
  await client.call("POST", `/v1/environments/${id}/stacks`, { name: "web" });
  user = new CliUser({ LONGSHORE_URL: service.url.origin, LONGSHORE_API_KEY: key });
});

afterAll(async () => {
  user.remove();
});

const TARGET = () => ["--project", name, "--environment", "production"];

/** Runs a command that reads the text of a file. */
async function withFile(args: string[], text: string, target = TARGET()): Promise<string> {
  writeFileSync(join(user.folder, "input"), text);
  return describeEnd(await user.run([...args, ...target]));
}

function describeEnd({ status, stdout, stderr }: Awaited<ReturnType<CliUser["run"]>>): string {
  const text = `${status}\n${stdout}${stderr}`;
  return text.replaceAll(/\b\w{22}\b|\b[0-9a-f-]{36}\b|\d{4}-\d\d-\d\d[ T][\d:.]+Z?/g, "…");
}

function configPath(file: string): string {
  const { LONGSHORE_CONFIG_DIR: folder = "" } = user.environment();
  mkdirSync(folder, { recursive: true });
  return join(folder, file);
}

/** Each file that the command line or the runner reads, and what a command does with it. */
const READERS: Readonly<Record<string, (mark: string) => Promise<unknown>>> = {
  "login --oidc-token-file": (mark) =>
    withFile(
      ["login", "--url", service.url.origin, "--org", service.organizationId].concat(
        "--oidc-token-file",
        "input",
      ),
      `${mark}a.b.c\n`,
      [],
    ),
  "environments create --configuration": async (mark) => {
    const blue = `blue${mark.length}`;
    const args = ["environments", "create", blue, "--configuration", "input", "--project", name];
    return (await withFile(args, `${mark}{"replicas":3}`, [])).replaceAll(blue, "blue");
  },
  "configuration set": async (mark) => {
    await withFile(["configuration", "set", "input", "--yes"], '{"replicas":1}');
    return withFile(["configuration", "set", "input", "--yes"], `${mark}{"replicas":3}`);
  },
  "configuration diff": (mark) =>
    withFile(["configuration", "diff", "input"], `${mark}{"replicas":5}`),
  "deploy --source": (mark) =>
    withFile(
      ["deploy", "--dry-run", "--source", "input"],
      `${mark}{"registry":{"image":"ghcr.io/acme/shop:1"}}`,
    ),
  "deploy --patch": (mark) =>
    withFile(
      ["deploy", "--dry-run", "--patch", "input"],
      `${mark}[{"op":"add","path":"/a","value":1}]`,
    ),
  "vars diff": (mark) => withFile(["vars", "diff", "input"], `${mark}LOG_LEVEL=debug\n`),
  "vars push": async (mark) => {
    await withFile(["vars", "push", "input", "--yes"], "REGION=before\n");
    return withFile(["vars", "push", "input", "--yes"], `${mark}REGION=after\n`);
  },
  "vars set, on stdin": async (mark) => {
    await user.run(["vars", "set", "TOKEN", ...TARGET()], { input: `${mark}canary\n` });
    return (await user.run(["vars", "get", "TOKEN", ...TARGET()])).stdout;
  },
  ".longshore.json": async (mark) => {
    const link = JSON.stringify({ project: name, environment: "production" });
    writeFileSync(join(user.folder, ".longshore.json"), `${mark}${link}`);
    await user.run(["link", "--confirm"]);
    return describeEnd(await user.run(["configuration", "get"]));
  },
  "profiles.json": async (mark) => {
    const profiles = { test: { url: service.url.origin, api_key: key } };
    const file = JSON.stringify({ current: "test", profiles });
    writeFileSync(configPath("profiles.json"), `${mark}${file}`);
    const changes = { LONGSHORE_URL: undefined, LONGSHORE_API_KEY: undefined };
    return describeEnd(await user.run(["whoami"], { changes }));
  },
  "links.json": async (mark) => {
    await user.link({ project: name, environment: "production" });
    const confirmed = readFileSync(configPath("links.json"), "utf8");
    writeFileSync(configPath("links.json"), `${mark}${confirmed.replace(BYTE_ORDER_MARK, "")}`);
    return describeEnd(await user.run(["configuration", "get"]));
  },
  "runners.json": async (mark) => {
    const runner = {
      url: service.url.origin,
      pool_id: "a",
      request: "b",
      token: "c",
      token_id: "d",
    };
    writeFileSync(configPath("runners.json"), `${mark}${JSON.stringify({ "/srv": runner })}`);
    return [...(await readStoredRunners(user.environment()))];
  },
  "runner --token-file": async (mark) => {
    const path = join(user.folder, "runner.token");
    writeFileSync(path, `${mark}lsr_${"a".repeat(30)}\r\n`);
    chmodSync(path, 0o600);
    return readTokenFile(path);
  },
  "the report of a stack": async (mark) =>
    parseReportLine(new TextEncoder().encode(`${mark}{"output":{"name":"a","value":"b"}}`)),
};

/** `deploy --patch` and others: options and arguments that name a file to read. */
function filesOf(command: Command, path: readonly string[] = []): string[] {
  const options = command.options.filter(
    ({ flags, long }) => /[<[]file[>\]]/.test(flags) && long !== "--output",
  );
  const isRead =
    command.name() !== "pull" && command.registeredArguments.some((each) => each.name() === "file");
  return [
    ...options.map(({ long }) => [...path, long].join(" ")),
    ...(isRead ? [path.join(" ")] : []),
    ...command.commands.flatMap((each) => filesOf(each, [...path, each.name()])),
  ];
}

describe("a byte order mark", () => {
  it.each(Object.entries(READERS))("changes nothing in %s", async (_, read) => {
    const plain = await read("");
    expect(await read(BYTE_ORDER_MARK)).toEqual(plain);
    expect(JSON.stringify(plain)).not.toMatch(/is not|feff/i);
  });

  it("has a test for each file that an option or an argument names", () => {
    const context = { output: { stdout: {}, stderr: {} } } as unknown as CliContext;
    const files = filesOf(createProgram(context));
    expect(files).toContain("deploy --patch");
    expect(Object.keys(READERS)).toEqual(expect.arrayContaining(files));
  });
});
