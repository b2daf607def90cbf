import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  HOSTILE_NAMES,
  hostileTexts,
  isMap,
  isPath,
  requiredSettings,
  TEXT_SETTINGS,
  unknownReferences,
  withName,
  withText,
} from "../../support/hostile-settings.ts";
import { GitRepository } from "../support/git-repository.ts";
import { stackInput } from "../support/stack-input.ts";

/** What executors start. Each is a program that only notes that it was started. */
const TOOLS = ["docker", "kubectl", "terraform", "tofu", "wrangler"];
const AWS = { AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "canary", AWS_REGION: "eu-west-1" };
const ACCOUNT = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };

const folder = mkdtempSync(join(tmpdir(), "longshore-hostile-"));
const notes = join(folder, "started");
const tools = join(folder, "tools");
const note = `#!/bin/sh\necho "$0" >> "${notes}"\n`;
/** Of a provider that has no program. */
const provider = createServer((_, response) => {
  writeFileSync(notes, "a request\n", { flag: "a" });
  response.writeHead(400).end();
});

let repository: GitRepository;
let newest: string;
let environment: CommandEnvironment;

beforeAll(async () => {
  mkdirSync(tools);
  for (const each of TOOLS) writeFileSync(join(tools, each), note, { mode: 0o755 });
  repository = await GitRepository.create();
  const links = {
    ...{ "out.sh": "/bin/sh", up: "..", root: "/", "back.sh": "root/bin/sh" },
    "to-git": ".git",
  };
  newest = await repository.commit({ "deploy.sh": note, "wrangler.toml": 'name = "a"\n' }, links);
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const { port } = provider.address() as AddressInfo;
  const PATH = `${tools}${delimiter}${process.env["PATH"]}`;
  const given = { ...AWS, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, HOME: folder, PATH };
  const passed = Object.keys(given).filter((name) => name.startsWith("AWS_"));
  environment = new CommandEnvironment(given, { passed, allowed: [] });
});

afterAll(() => {
  provider.close();
  repository.remove();
  rmSync(folder, { recursive: true });
});

const readStarted = () => (existsSync(notes) ? readFileSync(notes, "utf8") : "");

function planOf(api: object) {
  const given = { source: repository.source(newest), configuration: { stacks: { api } } };
  const input = { ...stackInput("api", given), connection: ACCOUNT };
  const repositories = [{ name: "github:acme/shop", url: repository.url }];
  const options = { command: undefined, executors: EXECUTORS, repositories };
  return { input, planned: planStacks([input], options) };
}

/** What the runner says of a stack whose settings have references to this variable. */
async function run(api: object, value = "") {
  const { input, planned } = planOf(api);
  if (!(planned instanceof Map)) throw new Error(`Not planned: ${planned.message}`);
  const path = (name: string) => join(folder, name);
  const write = (name: string, content: unknown) => {
    writeFileSync(path(name), JSON.stringify(content));
    return path(name);
  };
  writeFileSync(path("report.jsonl"), "");
  const { signal } = new AbortController();
  let log = "";
  const result = await runPlan(
    {
      ...{ plan: planned.get("1"), input, command: undefined, environment, hasLfs: false },
      variables: [{ name: "HOSTILE", value, storage_method: "secret" }],
      description: [
        { name: "LONGSHORE_INPUT_FILE", value: write("input.json", input) },
        { name: "LONGSHORE_REPORT_FILE", value: path("report.jsonl") },
      ],
      writeSettings: (values) => write("settings.json", values),
    },
    {
      ...{ stop: signal, force: signal, graceMs: 0 },
      onOutput: (chunk) => {
        log += chunk;
      },
    },
  );
  return { ...result, log };
}

describe("the runner", () => {
  it.each(EXECUTORS)("starts something for good settings of $name", async (executor) => {
    const before = readStarted();
    const { log, reason } = await run({
      ...{ executor: executor.name },
      ...requiredSettings(executor.settings),
    });
    expect({ log, reason, hasStarted: readStarted().length > before.length }).toEqual({
      ...{ log, reason },
      hasStarted: true,
    });
  });

  it.each(TEXT_SETTINGS)("plans nothing with a hostile $name of $executor", (tested) => {
    const texts = [...hostileTexts(tested), ...unknownReferences(tested)];
    const stacks = texts.map(({ text, reason }) => {
      return { stack: withText(tested, text), reason };
    });
    if (isMap(tested.setting)) {
      const reason = "has a name that is empty, begins with -";
      stacks.push(...HOSTILE_NAMES.map((name) => ({ stack: withName(tested, name), reason })));
    }
    for (const { stack, reason } of stacks) {
      expect(planOf(stack).planned).toEqual({
        outcome: "failed",
        failure_reason: "settings_refused",
        message: expect.stringMatching(`^/stacks/api/${tested.name}.* ${reason}`),
      });
    }
  });

  /** The service accepts references, because it does not know their values. */
  const withReferences = TEXT_SETTINGS.filter(({ setting }) => !setting.choices);

  it.each(withReferences)(
    "starts nothing if a reference makes $name of $executor hostile, or has no value",
    async (tested) => {
      const before = readStarted();
      const place = `/stacks/api/${tested.name}`;
      for (const { text, reason } of hostileTexts(tested)) {
        const ended = await run(withText(tested, "${variables.HOSTILE}"), text);
        const isOption = text.startsWith("-") && !isMap(tested.setting);
        expect(ended).toMatchObject({
          ok: false,
          reason: expect.stringMatching(
            `^${place}.* ${isOption ? "would become an option" : reason}`,
          ),
        });
        if (text.length > 2) expect(ended.reason).not.toContain(text);
      }
      if (isPath(tested.setting)) {
        const { reason } = await run(withText(tested, "a/${variables.HOSTILE}/b"), "..");
        expect(reason).toContain("must be the path of a");
      }
      for (const reference of ["${variables.MISSING}", "${outputs.a.b}", "${source.git.none}"]) {
        const { reason } = await run(withText(tested, reference));
        expect(reason).toContain(`refers to "${reference}", which has no value`);
      }
      expect(readStarted().slice(before.length)).toBe("");
    },
  );

  it.each(TEXT_SETTINGS.filter(({ setting }) => isPath(setting)))(
    "follows no link out of the checkout in $name of $executor",
    async (tested) => {
      const before = readStarted();
      const { type } = tested.setting;
      const isFolder = type === "folder";
      const paths = isFolder
        ? ["up", "root", "root/bin", `root${repository.folder}`]
        : ["out.sh", "back.sh", "root/bin/sh", `root${repository.folder}/deploy.sh`];
      for (const path of paths) {
        const { reason } = await run(withText(tested, path));
        expect([path, reason]).toEqual([
          path,
          expect.stringMatching(`^/stacks/api/${tested.name}.* leads out of the repository`),
        ]);
      }
      if (type !== "path") {
        const { reason } = await run(withText(tested, isFolder ? "deploy.sh" : "to-git"));
        expect(reason).toContain("the commit has no such");
      }
      expect(readStarted().slice(before.length)).toBe("");
    },
  );
});
