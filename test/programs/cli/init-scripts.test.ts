import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderScript, type ScriptOptions } from "../../../packages/cli/src/init/deploy-scripts.ts";
import { detectTools } from "../../../packages/cli/src/init/detect.ts";
import { parseReportLine } from "../../../packages/runner/src/report-lines.ts";

const TEMPLATE = "AWSTemplateFormatVersion: 2010-09-09\nResources: {}\n";
const MANIFEST = "apiVersion: apps/v1\nkind: Deployment\n";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "longshore-init-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inFolder = (name: string) => join(folder, name);

describe("what init finds in a folder", () => {
  const make = (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(inFolder(name), ".."), { recursive: true });
      writeFileSync(inFolder(name), text);
    }
  };

  it.each([
    ["nothing in an empty folder", {}, []],
    ["wrangler", { "wrangler.jsonc": "{}" }, ["workers wrangler.jsonc"]],
    ["compose", { "docker-compose.yml": "" }, ["compose docker-compose.yml"]],
    ["Terraform", { "network.tf": "", "main.tf": "" }, ["terraform main.tf"]],
    ["a template", { "stack.yaml": TEMPLATE, "a.yaml": "b: 1" }, ["cloudformation stack.yaml"]],
    [
      "a template in JSON",
      { "a.json": '{"A": {"Type": "AWS::S3::Bucket"}}' },
      ["cloudformation a.json"],
    ],
    ["manifests in a folder", { "k8s/web.yaml": MANIFEST, "k8s/x.txt": "" }, ["kubernetes k8s"]],
    ["a manifest", { "web.yml": MANIFEST }, ["kubernetes web.yml"]],
    ["no folder of another kind", { "deploy/values.yaml": "a: 1" }, []],
    ["no hidden file", { ".hidden.tf": "" }, []],
    [
      "all, a script first",
      { "main.tf": "", "deploy.sh": "", "wrangler.toml": "", "compose.yaml": "" },
      ["script deploy.sh", "workers wrangler.toml", "compose compose.yaml", "terraform main.tf"],
    ],
  ])("is %s", async (_, files, expected) => {
    make(files);
    const found = await detectTools(folder);
    expect(found.map(({ tool, path }) => `${tool} ${path}`)).toEqual(expected);
  });

  it("skips what is no readable file, and does not wait for it", async () => {
    mkdirSync(inFolder("compose.yaml"));
    mkdirSync(inFolder("folder.yaml"));
    symlinkSync("nowhere", inFolder("link.yaml"));
    spawnSync("mkfifo", [inFolder("fifo.yaml")]);
    writeFileSync(inFolder("huge.yaml"), `${" ".repeat(5_000_000)}\n${MANIFEST}`);
    expect(await detectTools(folder)).toEqual([]);
    await expect(detectTools(inFolder("none"))).rejects.toThrow(/^Cannot read .*none/);
  });
});

/** Records the arguments of each command, and prints what `printed` has for them. */
const PROGRAM = `#!/bin/sh
printf '%s' "$(basename "$0")" >> "$CALLS"
for each; do printf ' [%s]' "$each" >> "$CALLS"; done
printf '\\n' >> "$CALLS"
case "$*" in *"$FAILS"*) exit 7 ;; esac
case "$*" in "compose up"*) env | grep '^COMPOSE_PROJECT_NAME=' ;; esac
key=$(printf %s "$*" | tr -c 'a-z-' _)
for file in "$PRINTED"/*; do
  case $key in *"$(basename "$file")"*) cat "$file" ;; esac
done
`;

/** Runs the script with programs that only record, and with hostile names. */
function runDeployScript(
  options: ScriptOptions,
  { printed = {}, fails = "no command", changes = {} }: RunOptions = {},
) {
  const bin = inFolder("bin");
  const outputs = inFolder("printed");
  const report = inFolder("report.ndjson");
  rmSync(inFolder("calls"), { force: true });
  for (const each of [bin, outputs]) mkdirSync(each, { recursive: true });
  for (const name of ["docker", "terraform", "aws", "kubectl", "npx"]) {
    writeFileSync(join(bin, name), PROGRAM, { mode: 0o755 });
  }
  for (const [name, text] of Object.entries(printed)) writeFileSync(join(outputs, name), text);
  writeFileSync(report, "");
  writeFileSync(inFolder("configuration.json"), '{"replicas": 2}');
  writeFileSync(inFolder("deploy.sh"), renderScript(options), { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync("./deploy.sh", {
    cwd: folder,
    encoding: "utf8",
    env: {
      PATH: [bin, process.env["PATH"]].join(delimiter),
      CALLS: inFolder("calls"),
      PRINTED: outputs,
      FAILS: fails,
      LONGSHORE_REPORT_FILE: report,
      LONGSHORE_CONFIGURATION_FILE: inFolder("configuration.json"),
      LONGSHORE_STACK_ID: "1Cg5bWz8mKq3TnRv6HxPdY",
      LONGSHORE_ENVIRONMENT_ID: "1Cg5bWz8mKq3TnRv6HxPdZ",
      LONGSHORE_STACK_NAME: "Web $(touch pwned)",
      LONGSHORE_ENVIRONMENT_NAME: "Ünsafe; touch pwned",
      LONGSHORE_PROJECT_NAME: 'a"b`touch pwned`',
      ...changes,
    } as unknown as NodeJS.ProcessEnv,
  });
  const lines = readFileSync(report, "utf8").split("\n").slice(0, -1);
  const calls = existsSync(inFolder("calls")) ? readFileSync(inFolder("calls"), "utf8") : "";
  expect(existsSync(inFolder("pwned"))).toBe(false);
  // The runner accepts each line.
  return { status, stdout, stderr, calls, lines: lines.map((line) => summarize(line)) };
}

interface RunOptions {
  printed?: Record<string, string>;
  /** A part of the arguments of the command that fails. */
  fails?: string;
  changes?: Record<string, string>;
}

function summarize(text: string): string {
  const line = parseReportLine(Buffer.from(text));
  if (line && "resource" in line) {
    const { template_id, resource_type, status } = line.resource;
    return `${template_id} ${resource_type} ${status}`;
  }
  if (line && "output" in line) return `${line.output.name}=${line.output.value}`;
  throw new Error(`Not expected: ${text}`);
}

describe("the deploy.sh that init writes", () => {
  it("is a script of the user's own, which runs as it is", () => {
    const ended = runDeployScript({ tool: "script" }, { changes: { LONGSHORE_IMAGE: "shop:1" } });
    expect(ended).toMatchObject({ status: 0, stderr: "" });
    expect(ended.stdout).toContain("Image shop:1, commit none");
    expect(ended.stdout).toContain('{"replicas": 2}');
    expect(ended.lines).toEqual([
      "release Release UPDATE_IN_PROGRESS",
      "release Release UPDATE_COMPLETE",
    ]);
    const url = { URL: 'https://a.example/"\\' };
    expect(runDeployScript({ tool: "script" }, { changes: url }).lines[2]).toBe(`url=${url.URL}`);
    const failed = runDeployScript(
      { tool: "script" },
      { changes: { LONGSHORE_CONFIGURATION_FILE: "/none" } },
    );
    expect([failed.status, failed.lines.at(-1)]).toEqual([1, "release Release UPDATE_FAILED"]);
  });

  it("calls docker compose, with a project for the stack", () => {
    const printed = { "config_--services": "web\njobs\n" };
    const options = { tool: "compose", path: "a b'c.yaml" } as const;
    const ended = runDeployScript(options, { printed });
    expect(ended.status).toBe(0);
    expect(ended.calls).toBe(
      "docker [compose] [config] [--services]\ndocker [compose] [up] [--detach] [--wait] [--remove-orphans]\n",
    );
    const of = (status: string) => [`web Service ${status}`, `jobs Service ${status}`];
    expect(ended.lines).toEqual([...of("UPDATE_IN_PROGRESS"), ...of("UPDATE_COMPLETE")]);
    expect(renderScript(options)).toContain("COMPOSE_FILE='./a b'\\''c.yaml'\n");
    const failed = runDeployScript(options, { printed, fails: "compose up" });
    expect([failed.status, failed.lines.slice(2)]).toEqual([1, of("UPDATE_FAILED")]);
  });

  it("calls terraform, and reports the resources and the URL of its state", () => {
    const printed = {
      state_list: 'aws_s3_bucket.site["a.b"]\nmodule.net[0].aws_vpc.main\n',
      "output_-raw_url": "https://shop.example",
    };
    const ended = runDeployScript({ tool: "terraform" }, { printed });
    expect(ended.status).toBe(0);
    expect(ended.calls.split("\n").slice(0, 3)).toEqual([
      "terraform [init] [-input=false]",
      "terraform [workspace] [select] [-or-create] [longshore-10cg5b0wz8m0kq30tn0rv60hx0pd0y]",
      "terraform [apply] [-input=false] [-auto-approve]",
    ]);
    expect(ended.lines).toEqual([
      'aws_s3_bucket.site["a.b"] aws_s3_bucket UPDATE_COMPLETE',
      "module.net[0].aws_vpc.main aws_vpc UPDATE_COMPLETE",
      "url=https://shop.example",
    ]);
    const without = runDeployScript({ tool: "terraform" }, { fails: "output -raw" });
    expect([without.status, without.lines.length]).toEqual([0, 2]);
    for (const fails of ["apply", "state list"]) {
      const failed = runDeployScript({ tool: "terraform" }, { fails });
      expect([failed.status, failed.lines]).toEqual([7, []]);
    }
  });

  it("calls aws cloudformation, and reports the resources and the outputs", () => {
    const printed = {
      "describe-stack-resources":
        "Site\tAWS::S3::Bucket\tUPDATE_COMPLETE\nCdn\tAWS::CloudFront::Distribution\tCREATE_COMPLETE\n",
      "describe-stacks": "Url\thttps://shop.example\nBucket\tshop site\n",
    };
    const options = { tool: "cloudformation", path: "stack.yaml" } as const;
    const ended = runDeployScript(options, { printed });
    expect([ended.status, ended.stderr]).toEqual([0, ""]);
    expect(ended.calls).toContain(
      "[deploy] [--template-file] [./stack.yaml] [--stack-name] [longshore-10cg5b0wz8m0kq30tn0rv60hx0pd0y]",
    );
    expect(ended.lines).toEqual([
      "Site AWS::S3::Bucket UPDATE_COMPLETE",
      "Cdn AWS::CloudFront::Distribution CREATE_COMPLETE",
      "url=https://shop.example",
      "Bucket=shop site",
    ]);
    const none = { ...printed, "describe-stacks": "None\n" };
    expect(runDeployScript(options, { printed: none }).lines).toHaveLength(2);
    for (const fails of ["deploy", "describe-stack-resources"]) {
      expect(runDeployScript(options, { printed, fails })).toMatchObject({ status: 7, lines: [] });
    }
  });

  it("calls kubectl, and waits for what rolls out", () => {
    const printed = { apply: "deployment.apps/web\nservice/web\n" };
    const options = { tool: "kubernetes", path: "k8s" } as const;
    const changes = { URL: "https://shop.example" };
    const ended = runDeployScript(options, { printed, fails: "get namespace", changes });
    expect(ended.status).toBe(0);
    const [get, create, apply, rollout] = ended.calls.split("\n");
    const namespace = "longshore-10cg5b0wz8m0kq30tn0rv60hx0pd0z";
    expect(get).toBe(`kubectl [get] [namespace] [${namespace}]`);
    expect(create).toBe(`kubectl [create] [namespace] [${namespace}]`);
    expect(apply).toContain(`[--namespace] [${namespace}] [--filename] [./k8s] [--output] [name]`);
    expect(rollout).toContain(`[rollout] [status] [--namespace] [${namespace}]`);
    expect(ended.lines).toEqual([
      "deployment.apps/web deployment.apps UPDATE_IN_PROGRESS",
      "deployment.apps/web deployment.apps UPDATE_COMPLETE",
      "service/web service UPDATE_COMPLETE",
      "url=https://shop.example",
    ]);
    const failed = runDeployScript(options, { printed, fails: "rollout" });
    expect([failed.status, failed.lines.at(-1)]).toEqual([
      1,
      "deployment.apps/web deployment.apps UPDATE_FAILED",
    ]);
  });

  it("calls wrangler, and reports the Worker and the URL that it names", () => {
    const session = { type: "wrangler-session", version: 1 };
    const deploy = {
      type: "deploy",
      worker_name: "shop-production",
      version_id: "a1",
      targets: ["schedule: * * * * *", "https://shop-production.acme.workers.dev"],
    };
    const named = [session, deploy].map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(inFolder("wrangler.ndjson"), named);
    const ended = runDeployScript({ tool: "workers" });
    expect([ended.status, ended.stderr]).toEqual([0, ""]);
    expect(ended.calls).toBe("npx [wrangler] [deploy] [--env=Ünsafe; touch pwned]\n");
    expect(ended.lines).toEqual([
      "shop-production Worker UPDATE_COMPLETE",
      "url=https://shop-production.acme.workers.dev",
    ]);
    expect(runDeployScript({ tool: "workers" }, { fails: "deploy" })).toMatchObject({
      status: 7,
      lines: [],
    });
  });

  it("gives wrangler the name of an environment that looks like an option", () => {
    writeFileSync(inFolder("wrangler.ndjson"), "{}\n");
    const changes = { LONGSHORE_ENVIRONMENT_NAME: "--config=/tmp/x" };
    const { status, calls } = runDeployScript({ tool: "workers" }, { changes });
    expect([status, calls]).toEqual([0, "npx [wrangler] [deploy] [--env=--config=/tmp/x]\n"]);
  });

  it.each([
    ["terraform", "LONGSHORE_STACK_ID", /\[-or-create\] \[(.*?)\]/],
    ["cloudformation", "LONGSHORE_STACK_ID", /\[--stack-name\] \[(.*?)\]/],
    ["compose", "LONGSHORE_STACK_ID", /^COMPOSE_PROJECT_NAME=(.*)$/m],
    ["kubernetes", "LONGSHORE_ENVIRONMENT_ID", /\[--namespace\] \[(.*?)\]/],
  ] as const)(
    "names what %s deploys by %s, so that no name and no rename changes it",
    (tool, id, pattern) => {
      const printed = {
        "config_--services": "web\n",
        apply: "service/web\n",
        "describe-stack-resources": "Site\tAWS::S3::Bucket\tCREATE_COMPLETE\n",
        "describe-stacks": "None\n",
      };
      const targetOf = (changes: Record<string, string>) => {
        const { status, calls, stdout } = runDeployScript({ tool }, { printed, changes });
        expect(status).toBe(0);
        return pattern.exec(tool === "compose" ? stdout : calls)?.[1];
      };
      const shortest = "1".repeat(22);
      const longest = "Z".repeat(22);
      const ids: [string, ...string[]] = [
        "1Cg5bWz8mKq3TnRv6HxPdY",
        "1Cg5bWz8mKq3TnRv6HxPdy",
        shortest,
        longest,
      ];
      const targets = ids.map((each) => targetOf({ [id]: each }));
      expect(new Set(targets).size).toBe(ids.length);
      // The form of a namespace, which is the strictest of the four.
      for (const each of targets) expect(each).toMatch(/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/);
      const names = ["web-测试", "web-生产", "Staging", "staging", "--help"];
      const renamed = names.map((each) =>
        targetOf({ [id]: ids[0], LONGSHORE_ENVIRONMENT_NAME: each, LONGSHORE_STACK_NAME: each }),
      );
      expect(new Set(renamed)).toEqual(new Set(targets.slice(0, 1)));
    },
  );
});
