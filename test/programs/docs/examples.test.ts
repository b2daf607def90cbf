import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseReportLine } from "../../../packages/runner/src/report-lines.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";
import { LONGSHORE, readCommandBlocks } from "../support/page-commands.ts";
import { ApiClient, newClient, type Parsed, useService } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const READY = "Waiting for deployments";
const POLLING = { interval: 100, timeout: 300_000 };

const service = useService();
let checkout: Checkout;

beforeAll(async () => {
  checkout = new Checkout({ hasAssets: false });
});

afterAll(async () => {
  checkout.remove();
});

/** Someone who does what the page of an example says. */
class Reader {
  readonly client: ApiClient;
  /** What each command of the page has printed. */
  readonly printed: string[] = [];
  readonly #folder: string;
  readonly #environment: NodeJS.Dict<string>;
  readonly #terminals: Terminal[] = [];

  constructor(name: string, key: string, environment: NodeJS.Dict<string> = {}) {
    this.#folder = checkout.path(`examples/${name}`);
    this.client = new ApiClient(service.url, key);
    this.#environment = {
      LONGSHORE_URL: service.url.origin,
      LONGSHORE_API_KEY: key,
      LONGSHORE_CONFIG_DIR: checkout.path(`.config-${name}`),
      ...environment,
    };
  }

  /** Each reader has a key, whose requests are limited. */
  static async make(name: string, environment: NodeJS.Dict<string> = {}): Promise<Reader> {
    const { key } = await newClient(service);
    return new Reader(name, key, environment);
  }

  async follow(page: string, beforeLine: (line: string) => Promise<void>): Promise<void> {
    const first = this.#open();
    for (const { terminal, commands } of readCommandBlocks(page)) {
      if (terminal) {
        const other = this.#open();
        other.start(commands);
        await other.waitForOutput(READY);
        continue;
      }
      for (const line of commands.trim().split("\n")) {
        await beforeLine(line);
        // `init` prints how it was started.
        const isAsPrinted = line.includes("@longshore/cli init");
        const command = isAsPrinted ? line : line.replaceAll("npx @longshore/cli", LONGSHORE);
        const { output, status } = await first.run(command);
        expect({ line, status, output }).toEqual({ line, status: 0, output });
        this.printed.push(output);
      }
    }
  }

  async environments(project: string): Promise<Record<string, string>> {
    const { data } = await this.client.call("GET", `/v1/projects?name=${project}`);
    const listed = await this.client.call("GET", `/v1/projects/${data[0].id}/environments`);
    return Object.fromEntries(listed.data.map(({ name, id }: Parsed) => [name, id]));
  }

  /** The resources of the only stack of the environment. */
  async resources(environmentId: string): Promise<Parsed[]> {
    const stacks = await this.client.call("GET", `/v1/environments/${environmentId}/stacks`);
    const [{ id }] = stacks.data;
    return (await this.client.call("GET", `/v1/stacks/${id}/resources`)).data;
  }

  async leave(): Promise<void> {
    for (const each of this.#terminals) await each.interrupt();
  }

  #open(): Terminal {
    const terminal = new Terminal(this.#folder, this.#environment);
    this.#terminals.push(terminal);
    return terminal;
  }
}

const pageOf = (name: string) => readFileSync(join(ROOT, "examples", name, "README.md"), "utf8");
const urlIn = (output = "") => /\burl +(https?:\/\/\S+)/.exec(output)?.[1] ?? "";
const read = async (url: string) => (await fetch(url)).text();
const listens = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

describe("examples/script", () => {
  it("is deployed as its page says, to two environments, and stopped", async (context) => {
    const page = pageOf("script");
    const reader = await Reader.make("script");
    context.onTestFinished(() => reader.leave());
    const pages: string[] = [];
    await reader.follow(page, async () => {
      const url = urlIn(reader.printed.at(-1));
      if (url) pages.push(await read(url));
    });
    const [init = "", first = "", second = "", promotion = "", outputs = ""] = reader.printed;
    expect(init).toMatch(/^npx @longshore\/cli runner --exec \.\/deploy\.sh$/m);
    expect(urlIn(first)).toBe(urlIn(second));
    expect(urlIn(promotion)).toBe(urlIn(outputs));
    expect(urlIn(promotion)).not.toBe(urlIn(first));
    expect(pages.map((each) => /<h1>(.*)<\/h1>/.exec(each)?.[1])).toEqual([
      "Hello from staging",
      "Ahoy from staging",
      "Ahoy from production",
      "Ahoy from production",
    ]);
    const { staging = "", production = "" } = await reader.environments("hello-script");
    for (const id of [staging, production]) {
      expect(await reader.resources(id)).toMatchObject([
        { template_id: "server", resource_type: "WebServer", status: "UPDATE_COMPLETE" },
      ]);
    }
    for (const each of [first, promotion]) {
      await expect.poll(() => listens(urlIn(each)), POLLING).toBe(false);
    }
  });

  describe("run by hand", () => {
    const folder = mkdtempSync(join(tmpdir(), "longshore-example-"));
    const report = join(folder, "report.ndjson");
    const configuration = join(folder, "configuration.json");
    const stack = "1Cg5bWz8mKq3TnRv6HxPdY";
    const site = () => checkout.path(`examples/script/sites/${stack}`);

    afterAll(() => rmSync(folder, { recursive: true }));

    const start = (greeting: string, changes: NodeJS.Dict<string> = {}): ChildProcess => {
      writeFileSync(report, "");
      writeFileSync(configuration, JSON.stringify({ greeting }));
      return spawn("./deploy.sh", {
        cwd: checkout.path("examples/script"),
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...process.env,
          LONGSHORE_REPORT_FILE: report,
          LONGSHORE_CONFIGURATION_FILE: configuration,
          LONGSHORE_STACK_ID: stack,
          LONGSHORE_ENVIRONMENT_NAME: "<staging>",
          LONGSHORE_DEPLOYMENT: "1Cg5bWz8mKq3TnRv6HxPdZ",
          ...changes,
        },
      });
    };

    const finish = async (child: ChildProcess) => {
      const streams = [child.stdout, child.stderr].map((each) => (each ? text(each) : ""));
      const [[status], stdout, stderr] = await Promise.all([once(child, "exit"), ...streams]);
      const lines = readFileSync(report, "utf8").split("\n").slice(0, -1);
      const reports = lines.map((line) => parseReportLine(Buffer.from(line)));
      return { status, stdout, stderr, reports };
    };

    const portOf = () => readFileSync(join(site(), "port"), "utf8");

    it("replaces what runs that were killed have left, and escapes the configuration", async () => {
      // Between the start of the script and the end of a run, on machines of any speed.
      for (const ms of [20, 50, 100, 150, 200, 300, 400, 800]) {
        const child = start(`Killed after ${ms}`);
        const exited = once(child, "exit");
        await Promise.race([sleep(ms), exited]);
        if (child.exitCode === null) process.kill(-Number(child.pid), "SIGKILL");
        await exited;
      }
      const { status, stdout, reports } = await finish(start("<b>&"));
      const url = `http://127.0.0.1:${portOf()}/`;
      expect([status, stdout]).toEqual([0, `The site is at ${url}\n`]);
      expect(reports).toEqual([
        { resource: expect.objectContaining({ status: "UPDATE_IN_PROGRESS" }) },
        { resource: expect.objectContaining({ status: "UPDATE_COMPLETE" }) },
        { output: { name: "url", value: url } },
      ]);
      expect(await read(url)).toContain("<h1>&#60;b&#62;&#38; from &#60;staging&#62;</h1>");
      for (const path of ["port", "../port", "%2e%2e/port", "none"]) {
        expect((await fetch(url + path)).status).toBe(404);
      }
      for (const [path, status] of [
        ["//", 400],
        [`/${"a".repeat(300)}`, 404],
      ] as const) {
        expect([path, await statusOf(url, path)]).toEqual([path, status]);
      }
      expect((await fetch(`${url}style.css`)).headers.get("content-type")).toBe("text/css");
      // Servers of the killed runs have ended with their releases.
      const running = () => serversOf(site());
      await expect.poll(running, POLLING).toHaveLength(1);
      const again = await finish(start("Again"));
      expect([again.status, portOf()]).toEqual([0, new URL(url).port]);
      expect(await read(url)).toContain("Again from");
      await expect.poll(running, POLLING).toHaveLength(1);
    });

    it("fails if it cannot deploy, and reports so", async () => {
      const { status, stderr, reports } = await finish(
        start("Hello", { LONGSHORE_STACK_ID: "../x" }),
      );
      expect(status).toBe(1);
      expect(stderr).toContain("The runner of Longshore runs this, for a stack.");
      expect(reports.at(-1)).toEqual({
        resource: expect.objectContaining({ status: "UPDATE_FAILED" }),
      });
    });
  });
});

/** The path is sent as it is. `fetch` would change it. */
async function statusOf(url: string, path: string): Promise<number | undefined> {
  const [response] = await once(get(url, { path }), "response");
  response.resume();
  return response.statusCode;
}

/** The processes that serve a site. */
function serversOf(site: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`serve\0${site}\0`);
    } catch {
      return false;
    }
  });
}
