import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandEnvironment } from "../../../packages/runner/src/environment.ts";
import { EXECUTORS } from "../../../packages/runner/src/executors/list.ts";
import { runPlan } from "../../../packages/runner/src/executors/run-stack.ts";
import { planStacks } from "../../../packages/runner/src/executors/stack-plans.ts";
import {
  INHERITED_NAMES,
  INHERITED_ON_WINDOWS,
  REFUSED_NAMES,
} from "../../../src/lib/refused-variables.ts";
import { GitRepository } from "../support/git-repository.ts";
import { stackInput } from "../support/stack-input.ts";

const CANARY = "canary-of-the-variable";
/** Of the runner. Its tools use it without `--pass-env`, and commands do not. */
const PROXY = "http://127.0.0.1:9";

/** What sends credentials elsewhere, or runs something else, and what no tool needs. */
const EXAMPLES = [
  ...["CLOUDFLARE_API_BASE_URL", "CLOUDFLARE_API_TOKEN", "WRANGLER_API_ENVIRONMENT"],
  ...[
    "TF_ENCRYPTION",
    "TF_TOKEN_app_terraform_io",
    "TF_HTTP_ADDRESS",
    "TF_CLI_ARGS",
    "TF_WORKSPACE",
  ],
  ...["COMPOSE_FILE", "COMPOSE_PROJECT_NAME", "DOCKER_HOST", "DOCKER_DEFAULT_PLATFORM"],
  ...["NODE_DEBUG", "NODE_OPTIONS", "NODE_ENV", "DEBUG", "AWS_ENDPOINT_URL_S3", "AWS_REGION"],
  ...["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "ARM_CLIENT_SECRET", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"],
  ...[
    "AZURE_AUTHORITY_HOST",
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    "HTTPS_PROXY",
    "https_proxy",
  ],
  ...["DATABASE_URL", "LD_PRELOAD", "PATH", "HOME", "tf_var_region", "OTHER_TF_VAR_region"],
];
/** Each name and class that the runner refuses for commands, too. */
const NAMES = [
  ...new Set([
    ...EXAMPLES,
    ...[...INHERITED_NAMES, ...INHERITED_ON_WINDOWS].map((name) => name.replaceAll("*", "X")),
    ...REFUSED_NAMES.flatMap(({ names }) => names.map((name) => name.replaceAll("*", "X"))),
  ]),
];
/** What a tool is for, by its executor. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  compose: ["NAMED", "PASSED", "IN_ENV_FILE", "SECRET_OF_SERVICE"],
  terraform: ["TF_VAR_region"],
};
const VARIABLES = [...NAMES, ...Object.values(ALLOWED).flat()];

const SETTINGS: Readonly<Record<string, object>> = {
  cloudformation: { template: "template.json" },
  compose: { files: ["compose.json"] },
  kubernetes: { path: "manifest.json" },
  script: { path: "deploy.sh" },
  terraform: {},
  workers: {},
};
const COMPOSE_FILE = {
  services: {
    web: {
      image: "shop:${NAMED:-1}",
      environment: ["PASSED", "OWN=1"],
      env_file: "web.env",
      command: "echo $$DATABASE_URL NODE_ENV",
    },
  },
  secrets: { key: { environment: "SECRET_OF_SERVICE" } },
};
const FILES = {
  "compose.json": JSON.stringify(COMPOSE_FILE),
  "web.env": "OTHER=${IN_ENV_FILE}\n",
  "manifest.json": JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }),
  "template.json": "{}",
  "wrangler.toml": 'name = "a"\n',
  "deploy.sh": "#!/bin/sh\nexit 0\n",
};

const folder = mkdtempSync(join(tmpdir(), "longshore-tools-"));
const [tools, records, files] = ["tools", "records", "files"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const record = `env -0 > "${records}/$(basename "$0")-$$"\n`;
/** They answer what each kind of call needs. */
const TOOLS = {
  docker: `case "$*" in
    *"compose version"*) echo 2.40.3 ;;
    *" config"*) cat '${join(files, "compose.json")}' ;;
    *"context inspect"*) echo unix:///var/run/docker.sock ;;
  esac`,
  kubectl: `case "$1" in
    version) echo '{"clientVersion":{"gitVersion":"v1.31.0","major":"1","minor":"31"}}' ;;
    *) echo '{}' ;;
  esac`,
  terraform: `case "$1" in
    version) echo "Terraform v1.5.7" ;;
    init) mkdir -p "$TF_DATA_DIR"; echo '{"backend":{"type":"s3","config":{}}}' > "$TF_DATA_DIR/terraform.tfstate" ;;
    plan) exit 2 ;;
    show) echo '{}' ;;
  esac`,
  wrangler: "exit 1",
};
/** An endpoint of AWS. It answers nothing that the executor understands. */
const provider = createServer((_, response) => response.writeHead(400).end());

let repository: GitRepository;
let newest: string;
let environment: CommandEnvironment;

beforeAll(async () => {
  for (const each of [tools, records, files]) mkdirSync(each);
  for (const [name, content] of Object.entries(TOOLS)) {
    writeFileSync(join(tools, name), `#!/bin/sh\n${record}${content}\n`, { mode: 0o755 });
  }
  writeFileSync(join(files, "compose.json"), FILES["compose.json"]);
  const preload = join(folder, "record.cjs");
  const entries = 'Object.entries(process.env).map((each) => each.join("=")).join("\\0")';
  writeFileSync(
    preload,
    `require("node:fs").writeFileSync(\`${records}/program-\${process.pid}\`, ${entries});\n`,
  );
  repository = await GitRepository.create();
  newest = await repository.commit(FILES);
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const { port } = provider.address() as AddressInfo;
  const given = {
    AWS_ACCESS_KEY_ID: "AKIA",
    AWS_SECRET_ACCESS_KEY: "of the operator",
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    NODE_OPTIONS: `--require ${preload}`,
    HOME: folder,
    HTTPS_PROXY: PROXY,
    PATH: `${tools}${delimiter}${process.env["PATH"]}`,
  };
  const passed = Object.keys(given).filter((name) => /^(AWS|NODE)_/.test(name));
  environment = new CommandEnvironment(given, { passed, allowed: VARIABLES });
});

afterAll(() => {
  provider.close();
  repository.remove();
  rmSync(folder, { recursive: true });
});

/** Runs a stack with variables of these names. Returns the environment of each process that the executor has started. */
async function run(executor: string, names = VARIABLES): Promise<Record<string, string>[]> {
  const api = { executor, ...SETTINGS[executor] };
  const given = { source: repository.source(newest), configuration: { stacks: { api } } };
  const connection = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };
  const input = { ...stackInput("api", given), connection };
  const repositories = [{ name: "github:acme/shop", url: repository.url }];
  const planned = planStacks([input], { command: undefined, executors: EXECUTORS, repositories });
  if (!(planned instanceof Map)) throw new Error(`Not planned: ${planned.message}`);
  const write = (name: string, content: unknown) => {
    writeFileSync(join(files, name), JSON.stringify(content));
    return join(files, name);
  };
  write("report.jsonl", "");
  const { signal } = new AbortController();
  const before = new Set(readdirSync(records));
  await runPlan(
    {
      ...{ plan: planned.get("1"), input, command: undefined, environment },
      variables: names.map((name) => ({ name, value: CANARY, storage_method: "secret" })),
      description: [
        { name: "LONGSHORE_INPUT_FILE", value: write("input.json", input) },
        { name: "LONGSHORE_REPORT_FILE", value: join(files, "report.jsonl") },
      ],
      hasLfs: false,
      writeSettings: (values) => write("settings.json", values),
    },
    { stop: signal, force: signal, graceMs: 0, onOutput: () => undefined },
  );
  return readdirSync(records)
    .filter((name) => !before.has(name))
    .map((name) => {
      const lines = readFileSync(join(records, name), "utf8").split("\0");
      return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    });
}

const BUILT_IN = EXECUTORS.filter(({ name }) => name !== "script");

describe("the variables of a deployment", () => {
  it.each(BUILT_IN)(
    "are not the environment of what $name starts, but for its own",
    async ({ name }) => {
      const environments = await run(name);
      expect(environments.length).toBeGreaterThan(name === "cloudformation" ? 0 : 1);
      for (const each of environments) {
        expect(each["HTTPS_PROXY"]).toBe(PROXY);
        const canaries = Object.keys(each).filter((variable) => each[variable] === CANARY);
        expect(canaries.filter((variable) => NAMES.includes(variable))).toEqual([]);
        expect(ALLOWED[name] ?? []).toEqual(expect.arrayContaining(canaries));
      }
      const reached = environments.flatMap((each) =>
        Object.keys(each).filter((variable) => each[variable] === CANARY),
      );
      expect([...new Set(reached)].toSorted()).toEqual((ALLOWED[name] ?? []).toSorted());
      for (const file of readdirSync(files, { withFileTypes: true })) {
        const text = file.isFile() ? readFileSync(join(files, file.name), "utf8") : "";
        expect([file.name, text.includes(CANARY)]).toEqual([file.name, false]);
      }
    },
  );

  it("are the environment of a script, as of a command", async () => {
    const path = join(tools, "recorder");
    writeFileSync(path, `#!/bin/sh\n${record}`, { mode: 0o755 });
    newest = await repository.commit({ "deploy.sh": `#!/bin/sh\nexec ${path}\n` });
    const [environment, ...others] = await run("script", ["DATABASE_URL", "TF_VAR_region"]);
    expect(environment).toMatchObject({ DATABASE_URL: CANARY, TF_VAR_region: CANARY });
    expect(environment).not.toHaveProperty("HTTPS_PROXY");
    expect(others).toEqual([]);
  });
});
