import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, it, type TestContext } from "vitest";
import { EXECUTORS } from "../../../packages/runner/src/executors/list.ts";
import { EXECUTOR_SETTINGS } from "../../../packages/runner/src/executors/settings-list.ts";
import { startMessage } from "../../../scripts/lib/start-message.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { startAws } from "../support/cloud-formation/aws-command.ts";
import { CloudflareApi } from "../support/cloudflare-api.ts";
import { type CommandBlock, LONGSHORE, readCommandBlocks } from "../support/page-commands.ts";
import { newClient, useService } from "../support/service.ts";
import { installStandIn } from "../support/stand-in.ts";
import { Terminal } from "../support/terminal.ts";
import { recordingOf, writeStandIn } from "../support/terraform/module-run.ts";
import { installWrangler } from "../support/wrangler-program.ts";

/** The first block of each page. */
const START = "npm ci && npm start\n";

/** Of someone who has set up git. */
const GIT = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

const FOLDER = join(ROOT, "docs/deploy-with");

/** What the page of each executor ends with: the last output of each section. */
const ENDS: Record<string, Record<string, string>> = {
  cloudformation: {
    "Deploy a commit": "<h1>Hello</h1>",
    "Deploy another, and roll back": "<h1>Hello</h1>",
  },
  compose: {
    "Deploy a commit": "<h1>Hello</h1>",
    "Deploy another, and roll back": "<h1>Hello</h1>",
  },
  kubernetes: {
    "Deploy a commit": "<h1>Hello</h1>",
    "Deploy another, and roll back": "<h1>Hello</h1>",
    "Clean up": 'namespace "hello" deleted',
  },
  script: {
    "Deploy a commit": "<h1>Hello</h1>",
    "Deploy another, and roll back": "<h1>Hello</h1>",
  },
  terraform: {
    "Deploy a commit": "<h1>Hello</h1>",
    "Deploy another, and roll back": "<h1>Hello</h1>",
  },
  workers: {
    "Deploy a commit": "<p>Welcome from production</p>",
    "Deploy another, and roll back": "<p>Welcome from production</p>",
  },
};

/** What stands in for the provider of an executor while the commands of its page run. */
interface StandIn {
  environment: NodeJS.Dict<string>;
  /** The commands of someone with an account, in the test. */
  adapt(commands: string): string;
  stop(): Promise<void>;
}

const STAND_INS: Record<string, () => Promise<StandIn>> = {
  cloudformation: startAws,
  compose: () => installTool("docker"),
  kubernetes: () => installTool("kubectl"),
  terraform: startTerraform,
  workers: startCloudflare,
};

async function installTool(tool: "docker" | "kubectl"): Promise<StandIn> {
  const folder = mkdtempSync(join(tmpdir(), `longshore-${tool}-`));
  return {
    environment: { PATH: installStandIn(tool, folder) },
    // The stand-in serves nothing, but knows what it would serve.
    adapt: (commands) =>
      commands.replaceAll(/curl --silent( --show-error --retry 5)?/g, `${tool} get`),
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

async function startTerraform(): Promise<StandIn> {
  const folder = mkdtempSync(join(tmpdir(), "longshore-terraform-"));
  writeStandIn(join(folder, "terraform"), recordingOf("page"), folder);
  return {
    environment: { PATH: `${folder}:${process.env["PATH"]}` },
    adapt: (commands) => commands,
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

async function startCloudflare(): Promise<StandIn> {
  const cloudflare = await CloudflareApi.start();
  const programs = mkdtempSync(join(tmpdir(), "longshore-wrangler-"));
  return {
    environment: {
      PATH: installWrangler(programs),
      CLOUDFLARE_API_TOKEN: cloudflare.token,
      CLOUDFLARE_ACCOUNT_ID: cloudflare.accountId,
      CLOUDFLARE_API_BASE_URL: cloudflare.url,
    },
    adapt: (commands) =>
      commands
        .replace("npm install --global wrangler@4", "command -v wrangler")
        .replace(/(?<=runner --executor .*)$/m, " --pass-env CLOUDFLARE_API_BASE_URL")
        .replaceAll(
          "curl --silent ",
          `curl --silent --get ${cloudflare.proxy} --data-urlencode url=`,
        ),
    stop: async () => {
      await cloudflare.stop();
      rmSync(programs, { recursive: true });
    },
  };
}

describe("the pages of docs/deploy-with", () => {
  const service = useService();

  // Of all pages, which have projects and pools with other names. That `npm start` serves the same is in
  // start.test.ts, tour.test.ts and readme.test.ts, and it begins each page with the same command.

  /** The line that `npm start` prints, with another key: the requests of each are limited. */
  async function prepareLogin(): Promise<string> {
    const { key } = await newClient(service);
    const message = startMessage(service.url.origin, { apiKey: key, signInLink: "" });
    const [line = ""] = /^echo lsh_\w+ \| node .*$/m.exec(message) ?? [];
    return line;
  }

  /** Each page has what it takes from a checkout, and a configuration of its own. */
  function openFolder(context: TestContext, standIn: StandIn | undefined) {
    const root = mkdtempSync(join(inject("dataFolder"), "longshore-page-"));
    cpSync(join(ROOT, "examples"), join(root, "examples"), { recursive: true });
    const terminals: Terminal[] = [];
    context.onTestFinished(async () => {
      for (const each of terminals.toReversed()) await each.interrupt();
      await standIn?.stop();
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    });
    return (folder = "") => {
      const terminal = new Terminal(join(root, folder), {
        ...GIT,
        ...standIn?.environment,
        LONGSHORE_CONFIG_DIR: join(root, ".config"),
        LONGSHORE_URL: undefined,
        LONGSHORE_API_KEY: undefined,
        TMPDIR: root,
      });
      terminals.push(terminal);
      return terminal;
    };
  }

  it("are those of the executors, and list their settings", () => {
    const names = EXECUTORS.map(({ name }) => name);
    expect(readdirSync(FOLDER).toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
    expect(EXECUTOR_SETTINGS).toEqual(
      Object.fromEntries(EXECUTORS.map(({ name, settings }) => [name, settings])),
    );
    for (const { name, settings } of EXECUTORS) {
      const rows = readFileSync(join(FOLDER, `${name}.md`), "utf8").matchAll(/^\| `(\w+)` \| /gm);
      expect([...rows].map(([, setting]) => setting)).toEqual(Object.keys(settings));
    }
    const page = readFileSync(join(ROOT, "docs/executors.md"), "utf8");
    expect(
      names.filter((name) => !page.includes(`| [\`${name}\`](deploy-with/${name}.md) | `)),
    ).toEqual([]);
  });

  it.for(Object.entries(ENDS))(
    "%s.md leads from npm start to a rollback",
    async ([name, ends], context) => {
      const standIn = await STAND_INS[name]?.();
      const open = openFolder(context, standIn);
      const [start, ...blocks] = readCommandBlocks(
        readFileSync(join(FOLDER, `${name}.md`), "utf8"),
      );
      expect(start).toMatchObject({ terminal: "server", commands: START });
      const login = await prepareLogin();
      const first = open();
      const printed: string[] = [];
      const adapt = ({ commands }: CommandBlock) =>
        (standIn?.adapt(commands) ?? commands)
          .replace(/^echo lsh_\.\.\. .*/m, login)
          .replaceAll("npx @longshore/cli", LONGSHORE);
      const last: Record<string, string> = {};
      for (const block of blocks) {
        const { terminal, section } = block;
        if (terminal === "runner") {
          const runner = open("hello");
          runner.start(adapt(block));
          await runner.waitForOutput("Waiting for deployments");
          continue;
        }
        // A line that fails ends the block.
        const { output, status } = await first.run(`set -e\n${adapt(block)}`);
        expect({ section, terminal, status, output }).toEqual({
          ...{ section, terminal: "", status: 0, output },
        });
        printed.push(output);
        last[section] = output.trimEnd().split("\n").at(-1) ?? "";
      }
      expect(last).toMatchObject(ends);
      expect(printed.map((each) => /^<h1>(.*)<\/h1>$/m.exec(each)?.[1]).filter(Boolean)).toEqual([
        "Hello",
        "Ahoy",
        "Hello",
      ]);
    },
  );
});
