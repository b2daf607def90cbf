import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";
import { installPackedPackages } from "../support/packed-packages.ts";
import { type CommandBlock, readCommandBlocks } from "../support/page-commands.ts";
import { findSystemNode } from "../support/system-node.ts";
import { Terminal } from "../support/terminal.ts";

/** What a program that keeps running prints when it is ready. */
const READY: Record<string, string> = {
  server: "Longshore is ready.",
  runner: "Waiting for deployments",
  receiver: "Listening.",
};

const blocks = readCommandBlocks(readFileSync(join(ROOT, "docs/tour.md"), "utf8"));

/** Replaces what differs in each run. */
function normalize(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\b[1-9A-HJ-NP-Za-km-z]{22}\b/g, "<id>")
    .trim();
}

describe("the tour in docs/tour.md", () => {
  // start.test.ts starts without a database.
  const checkout = new Checkout({ isMigrated: true });
  /** Where the packed command line is installed, and nothing else. */
  const installed = mkdtempSync(join(tmpdir(), "longshore-tour-"));
  const [node = process.execPath] = findSystemNode();
  const longshore = `'${node}' '${join(installed, "node_modules/.bin/longshore")}'`;
  const terminals = new Map<string, Terminal>();
  /** The lines that the page tells the reader to paste in another terminal. */
  let exported = "";
  let apiKey = "";
  let ports: { api: number; webhook: number };
  let hasFailed = false;

  // The keys of the person who runs the tests stay as they are.
  const openTerminal = (folder: string) =>
    new Terminal(folder, {
      LONGSHORE_CONFIG_DIR: join(checkout.folder, ".config"),
      LONGSHORE_URL: undefined,
      LONGSHORE_API_KEY: undefined,
    });

  beforeAll(async () => {
    ports = { api: await findFreePort(), webhook: await findFreePort() };
    installPackedPackages(installed);
    terminals.set("", openTerminal(installed));
  });

  afterAll(async () => {
    for (const terminal of terminals.values()) await terminal.interrupt();
    checkout.remove();
    rmSync(installed, { recursive: true, force: true });
  });

  /**
   * The command line is the installed one, in another Node than this one if there is one; only the login
   * uses that of the checkout. The ports may be in use on this machine.
   */
  const adapt = ({ section, commands }: CommandBlock) =>
    (section === "Start" && commands.includes("npx @longshore/cli")
      ? `cd '${checkout.folder}'\n${commands}cd '${installed}'\n`
      : commands.replaceAll("npx @longshore/cli", longshore)
    )
      .replace("npm ci && npm start", "npm start")
      .replace("npm start", `npm start -- --port ${ports.api}`)
      .replace("npm run", `npm --prefix '${checkout.folder}' run`)
      .replace("lsh_...", apiKey)
      .replaceAll("8787", String(ports.api))
      .replaceAll("9000", String(ports.webhook));

  const startProgram = async (block: CommandBlock) => {
    const { terminal: name } = block;
    await terminals.get(name)?.interrupt();
    const terminal = openTerminal(name === "runner" ? installed : checkout.folder);
    terminals.set(name, terminal);
    terminal.start(`${exported}\n${adapt(block)}`);
    await terminal.waitForOutput(READY[name] ?? "");
    apiKey = /API key {2}(lsh_\w+)/.exec(terminal.output)?.[1] ?? apiKey;
  };

  const runCommands = async (block: CommandBlock) => {
    const { shown } = block;
    const { output, status } = (await terminals.get("")?.run(adapt(block))) ?? {};
    for (const each of shown) expect(normalize(output ?? "")).toContain(normalize(each));
    const showsError = shown.some((each) => /status 4\d\d/.test(each));
    expect({ status, output }).toEqual({ status: showsError ? 1 : 0, output });
    exported = /^export .*$/m.exec(output ?? "")?.[0] ?? exported;
  };

  it.each(blocks.map((block, at) => [`${at + 1} (${block.section})`, block] as const))(
    "works as printed: block %s",
    async (_, block) => {
      if (hasFailed) throw new Error("An earlier block has failed.");
      hasFailed = true;
      await (block.terminal ? startProgram(block) : runCommands(block));
      hasFailed = false;
    },
  );

  it("sends the receiver the change and the ping, with valid signatures", () => {
    const received = terminals.get("receiver")?.output ?? "";
    expect(received).toMatch(/^changelog\.created .*"worker"/m);
    expect(received).toMatch(/^ping /m);
  });
});
