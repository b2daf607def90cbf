import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";
import { type CommandBlock, LONGSHORE, readCommandBlocks } from "../support/page-commands.ts";
import { Terminal } from "../support/terminal.ts";

const MAXIMUM_COMMANDS = 6;

/** What a command that keeps running prints when it is ready. */
const READY: readonly [RegExp, string][] = [
  [/npm start/, "Ctrl-C stops it."],
  [/(@longshore\/cli|longshore\.js') runner/, "Waiting for deployments"],
];

const readPage = (path: string) => readFileSync(join(ROOT, path), "utf8");
const linesOf = ({ commands }: CommandBlock) => commands.trim().split("\n");
/** In the last line. */
const urlIn = (output: string) => /(?:^|\n)url +(http:\S+)\n$/.exec(output)?.[1] ?? "none";
const headingOf = async (url: string) =>
  /<h1>(.*)<\/h1>/.exec(await (await fetch(url)).text())?.[1];

const start = readCommandBlocks(readPage("README.md")).filter(({ section }) => section === "Start");

describe("the commands of the README", () => {
  // start.test.ts starts without a database.
  const checkout = new Checkout({ isMigrated: true });
  const terminals: Terminal[] = [];
  let port = 0;
  let login = "";

  beforeAll(async () => {
    port = await findFreePort();
  });

  afterAll(async () => {
    for (const each of terminals) await each.interrupt();
    checkout.remove();
  });

  const open = (folder = "") => {
    const terminal = new Terminal(checkout.path(folder), {
      LONGSHORE_CONFIG_DIR: checkout.path(".config"),
      LONGSHORE_URL: undefined,
      LONGSHORE_API_KEY: undefined,
    });
    terminals.push(terminal);
    return terminal;
  };

  /** The checkout is one after `npm ci`. The port may be in use on this machine. */
  const adapt = (line: string) =>
    line
      .replace(/^npm ci && /, "")
      .replace("npm start", `npm start -- --port ${port}`)
      .replace(/^echo lsh_\.\.\. .*/, login);

  /** Runs a line to its end, or until it waits. Returns what it prints. */
  const run = async (terminal: Terminal, line: string): Promise<string> => {
    const [, ready] = READY.find(([command]) => command.test(line)) ?? [];
    if (ready !== undefined) {
      terminal.start(adapt(line));
      await terminal.waitForOutput(ready);
      return terminal.output;
    }
    const { output, status } = await terminal.run(adapt(line));
    expect({ line, status, output }).toEqual({ line, status: 0, output });
    return output;
  };

  it("are few, begin with the service and its tests, and clone nothing", () => {
    const lines = start.flatMap(linesOf);
    expect(lines.length).toBeLessThanOrEqual(MAXIMUM_COMMANDS);
    expect(lines.slice(0, 2)).toEqual(["npm ci && npm start", "npm ci && npm test"]);
    expect(lines.at(-1)).toBe("npx @longshore/cli deploy --wait");
    const contributing = readCommandBlocks(readPage("CONTRIBUTING.md")).flatMap(linesOf);
    expect(contributing.slice(0, 2)).toEqual(lines.slice(0, 2));
  });

  it("end with a site that is deployed, and its URL", async () => {
    const [server, , others, deploy] = start;
    if (!server || !others || !deploy) throw new Error("The README has three terminals.");
    const started = await run(open(), linesOf(server).join());
    login = /^echo lsh_\w+ \| node .*$/m.exec(started)?.[0] ?? "none";
    const page = login
      .replace(/lsh_\w+/, "lsh_...")
      .replace(/node \S+/, "npx @longshore/cli")
      .replace(String(port), "8787");
    expect(linesOf(others)[0]).toBe(page);
    const second = open();
    const printed: string[] = [];
    for (const line of linesOf(others)) printed.push(await run(second, line));
    // The command of the runner is the one that init prints.
    expect(printed[1]?.split("\n")).toContain(linesOf(others)[2]);
    const output = await run(open("examples/script"), linesOf(deploy).join());
    expect(await headingOf(urlIn(output))).toBe("Hello from production");
  });

  it("are followed by those of docs/first-deployment.md, which use what is there", async () => {
    // Those of the README have started npx.
    const runWithoutNpx = (other: Terminal, line: string) =>
      run(other, line.replaceAll("npx @longshore/cli", LONGSHORE));
    const terminal = open();
    const urls: string[] = [];
    const pages: (string | undefined)[] = [];
    for (const block of readCommandBlocks(readPage("docs/first-deployment.md"))) {
      if (block.terminal === "runner") {
        await runWithoutNpx(open("examples/script"), linesOf(block).join());
        continue;
      }
      for (const line of linesOf(block)) {
        const output = await runWithoutNpx(terminal, line);
        if (urlIn(output) === "none") continue;
        urls.push(urlIn(output));
        pages.push(await headingOf(urlIn(output)));
      }
    }
    expect(pages).toEqual([
      "Ahoy from staging",
      "Ahoy from production",
      "Hello from staging",
      "Ahoy from staging",
    ]);
    expect(new Set(urls).size).toBe(2);
    await run(open("examples/script"), "node site.mjs stop");
  });
});
