import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXECUTORS } from "../../packages/runner/src/executors/list.ts";
import { EXECUTOR_SETTINGS } from "../../packages/runner/src/executors/settings-list.ts";
import { findFreePort } from "../../scripts/lib/port.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import { Checkout } from "./support/checkout.ts";
import { type CommandBlock, readCommandBlocks } from "./support/page-commands.ts";
import { Terminal } from "./support/terminal.ts";

const READY: Record<string, string> = {
  server: "Ctrl-C stops it.",
  runner: "Waiting for deployments",
};

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
  script: {
    "Deploy a commit": "<h1>Hello</h1>",
    "Deploy another, and roll back": "<h1>Hello</h1>",
  },
};

describe("the pages of docs/deploy-with", () => {
  const checkout = new Checkout();
  const terminals: Terminal[] = [];
  let port = 0;

  beforeAll(async () => {
    port = await findFreePort();
  });

  afterAll(async () => {
    for (const each of terminals.toReversed()) await each.interrupt();
    checkout.remove();
  });

  const open = (folder = "") => {
    const terminal = new Terminal(checkout.path(folder), {
      ...GIT,
      LONGSHORE_CONFIG_DIR: checkout.path(".config"),
      LONGSHORE_URL: undefined,
      LONGSHORE_API_KEY: undefined,
      TMPDIR: checkout.folder,
    });
    terminals.push(terminal);
    return terminal;
  };

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

  it.each(Object.entries(ENDS))("%s.md leads from npm start to a rollback", async (name, ends) => {
    const first = open();
    let login = "";
    const printed: string[] = [];
    const adapt = ({ commands }: CommandBlock) =>
      commands
        .replace("npm ci && npm start", `npm start -- --port ${port}`)
        .replace(/^echo lsh_\.\.\. .*/m, login);
    const last: Record<string, string> = {};
    for (const block of readCommandBlocks(readFileSync(join(FOLDER, `${name}.md`), "utf8"))) {
      const { terminal, section } = block;
      if (terminal === "") {
        // A line that fails ends the block.
        const { output, status } = await first.run(`set -e\n${adapt(block)}`);
        expect({ section, status, output }).toEqual({ section, status: 0, output });
        printed.push(output);
        last[section] = output.trimEnd().split("\n").at(-1) ?? "";
        continue;
      }
      const other = open(terminal === "server" ? "" : "hello");
      other.start(adapt(block));
      await other.waitForOutput(READY[terminal] ?? "");
      login ||= /^echo lsh_\w+ \| npx .*$/m.exec(other.output)?.[0] ?? "";
    }
    expect(last).toMatchObject(ends);
    expect(printed.map((each) => /<h1>(.*)<\/h1>/.exec(each)?.[1]).filter(Boolean)).toEqual([
      "Hello",
      "Ahoy",
      "Hello",
    ]);
  });
});
