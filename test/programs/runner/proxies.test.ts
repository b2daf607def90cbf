import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CommandEnvironment } from "../../../packages/runner/src/environment.ts";
import { Checkout } from "../../../packages/runner/src/executors/checkout.ts";
import { findProxy } from "../../../packages/runner/src/proxies.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { CliUser, cliCommand } from "../support/cli.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { BEHIND_PROXY, ForwardProxy, NO_PROXIES } from "../support/forward-proxy.ts";
import { RunnerProcess } from "../support/runner-process.ts";
import { findSystemNode } from "../support/system-node.ts";

const PROXIES = join(ROOT, "packages/runner/src/proxies.ts");
const CLIENT_OPTIONS = join(ROOT, "packages/executors/cloudformation/src/client-options.ts");

const fixture = RunnerFixture.use();
let proxy: ForwardProxy;
let user: CliUser;
let url: string;
let port: string;

beforeAll(async () => {
  port = fixture.service.url.port;
  url = `http://${BEHIND_PROXY}:${port}`;
  proxy = await ForwardProxy.start(Number(port));
  user = new CliUser({
    ...NO_PROXIES,
    LONGSHORE_URL: url,
    LONGSHORE_API_KEY: fixture.service.owner.key,
  });
});

beforeEach(() => {
  proxy.hosts.length = 0;
});

afterAll(async () => {
  user.remove();
  proxy.close();
});

describe("the command line behind a proxy", () => {
  it.each(["HTTP_PROXY", "http_proxy"])("reaches the service through %s", async (name) => {
    const { stdout, status } = await user.runProcess(["whoami", "--json"], {
      changes: { [name]: proxy.url },
    });
    expect([status, JSON.parse(stdout || "{}").url]).toEqual([0, url]);
    expect(proxy.hosts).toEqual([`${BEHIND_PROXY}:${port}`]);
  });

  it("asks the proxy for https, too", async () => {
    const changes = { HTTPS_PROXY: proxy.url, LONGSHORE_URL: `https://${BEHIND_PROXY}` };
    const { stderr, status } = await user.runProcess(["whoami"], { changes });
    expect(status).toBe(6);
    expect(proxy.hosts).toContain(`${BEHIND_PROXY}:443`);
    expect(stderr).toContain(`(through the proxy ${proxy.url} of HTTPS_PROXY). Is the URL right`);
  });

  it("logs in through the proxy", async () => {
    const { stderr, status } = await user.runProcess(["login", "--url", url], {
      changes: { HTTP_PROXY: proxy.url, LONGSHORE_URL: undefined, LONGSHORE_API_KEY: undefined },
      input: fixture.service.owner.key,
    });
    expect([status, stderr]).toEqual([0, expect.stringContaining("Logged in to")]);
  });

  it.each(findSystemNode())("does so with another Node, %s", async (node) => {
    const [, args] = cliCommand(["whoami", "--json"]);
    const env = user.environment({ HTTP_PROXY: proxy.url }) as NodeJS.ProcessEnv;
    const printed = await new Promise<string>((resolve) => {
      execFile(node, args, { env, cwd: user.folder }, (_, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    expect(printed).toContain(`"url": "${url}"`);
    expect(proxy.hosts).toEqual([`${BEHIND_PROXY}:${port}`]);
  });

  it.each([
    [{}, "without a proxy: HTTP_PROXY is not set"],
    [{ HTTP_PROXY: "" }, "without a proxy: HTTP_PROXY is not set"],
    [{ HTTPS_PROXY: "http://127.0.0.1:9" }, "without a proxy: HTTP_PROXY is not set"],
    [
      { HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "a, .invalid" },
      "without a proxy: NO_PROXY excludes the host",
    ],
  ])("says with %j that a look-up failed %s", async (changes, absence) => {
    const { stderr, status } = await user.runProcess(["whoami"], { changes });
    expect(status).toBe(6);
    expect(stderr).toMatch(/getaddrinfo (ENOTFOUND|EAI_AGAIN) longshore\.invalid \(/);
    expect(stderr).toContain(`(${absence}). Is the URL right`);
  });

  it("names a proxy that does not respond, without its credentials", async () => {
    const changes = { HTTP_PROXY: "http://mona:canary@127.0.0.1:9/" };
    const { stderr, status } = await user.runProcess(["whoami"], { changes });
    expect(status).toBe(6);
    expect(stderr).toContain("(through the proxy http://127.0.0.1:9 of HTTP_PROXY)");
    expect(stderr).not.toContain("canary");
  });

  it.each(["proxy.example.com:3128", "socks5://127.0.0.1:9", "http://"])(
    "refuses the proxy %s",
    async (text) => {
      const { stderr, status } = await user.runProcess(["whoami"], {
        changes: { HTTPS_PROXY: text },
      });
      expect([status, stderr]).toEqual([
        1,
        "Set HTTPS_PROXY to the URL of an HTTP proxy, such as http://proxy.example.com:3128, or unset it.\n",
      ]);
    },
  );
});

describe("the hosts without a proxy", () => {
  const cases = (): [excluded: string, isUsed: boolean][] => [
    ["", true],
    ["*", false],
    [BEHIND_PROXY, false],
    [`.${BEHIND_PROXY}`, false],
    [`*.${BEHIND_PROXY}`, false],
    [".invalid", false],
    ["INVALID", false],
    ["shore.invalid", true],
    ["other.invalid, valid", true],
    [`other.invalid,${BEHIND_PROXY}`, false],
    [`${BEHIND_PROXY}:1`, true],
    [`${BEHIND_PROXY}:${port}`, false],
  ];

  it("are those of NO_PROXY, as Node reads it", async () => {
    const environments = cases().map(([excluded]) => ({
      HTTP_PROXY: proxy.url,
      NO_PROXY: excluded,
    }));
    const used = environments.map((each) => findProxy(url, each) !== undefined);
    expect(used).toEqual(cases().map(([, isUsed]) => isUsed));
    const statuses = await fetchWith(environments);
    expect(statuses).toEqual(
      used.map((isUsed) => (isUsed ? 200 : expect.stringContaining("NO_PROXY excludes the host"))),
    );
  });
});

/** What each environment makes of a request, in a process without the `fetch` of the tests. */
async function fetchWith(environments: readonly NodeJS.Dict<string>[]): Promise<unknown> {
  const program = `
    import { createFetch, useProxies } from ${JSON.stringify(PROXIES)};
    const results = [];
    for (const environment of ${JSON.stringify(environments)}) {
      const restore = await useProxies(environment);
      const sent = createFetch(environment)(${JSON.stringify(`${url}/health`)});
      results.push(await sent.then(({ status }) => status, ({ message }) => message));
      restore();
    }
    console.log(JSON.stringify(results));
    process.exit();`;
  return evaluate(program);
}

/** What a program prints as JSON. */
async function evaluate(program: string, variables: NodeJS.Dict<string> = {}): Promise<unknown> {
  const types = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
  const args = [...types, "--input-type=module", "--eval", program];
  const env = { ...process.env, ...NO_PROXIES, ...variables } as NodeJS.ProcessEnv;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

describe("a runner behind a proxy", () => {
  const start = (command: string, changes: NodeJS.Dict<string>, ...flags: string[]) => ({
    url,
    command,
    flags: ["--once", ...flags],
    environment: { ...NO_PROXIES, ...changes },
  });

  it("deploys, and its command gets the proxy with --pass-env only", async (context) => {
    const { project } = await fixture.prepare(context);
    const shows = 'test -n "$HTTP_PROXY" && echo with-proxy || echo without-proxy';
    for (const [flags, shown] of [
      [[], "without-proxy"],
      [["--pass-env", "HTTP_PROXY"], "with-proxy"],
    ] as const) {
      const { id } = await project.deploy();
      const setup = start(shows, { HTTP_PROXY: proxy.url }, ...flags);
      const runner = new RunnerProcess({ ...setup, token: project.token });
      context.onTestFinished(() => runner.stop());
      expect(await runner.exited).toBe(0);
      expect(await fixture.log(id)).toContain(shown);
    }
    expect(new Set(proxy.hosts)).toEqual(new Set([`${BEHIND_PROXY}:${port}`]));
  });

  it("says that a look-up failed without a proxy", async (context) => {
    const { project } = await fixture.prepare(context);
    const runner = new RunnerProcess({ ...start("true", {}), token: project.token });
    context.onTestFinished(() => runner.stop());
    await runner.waitForOutput("(without a proxy: HTTP_PROXY is not set). It is repeated.");
  });

  it("gives the proxy to git", async () => {
    const environment = new CommandEnvironment(
      { PATH: process.env["PATH"], HOME: user.folder, https_proxy: proxy.url },
      { passed: [], allowed: [] },
    );
    const repository = { name: "github:acme/shop", url: `https://${BEHIND_PROXY}/acme/shop` };
    const { signal } = new AbortController();
    const commit = { repository, ref: "refs/heads/main", sha: "a".repeat(40) };
    const options = { stop: signal, force: signal, graceMs: 0, onOutput: () => undefined };
    const checkout = new Checkout(commit, environment, { ...options, hasLfs: false });
    expect((await checkout.fill()).ok).toBe(false);
    await checkout.remove();
    expect(proxy.hosts).toContain(`${BEHIND_PROXY}:443`);
  });

  it("reaches AWS through it", async () => {
    const program = `
      import { CLIENT_OPTIONS } from ${JSON.stringify(CLIENT_OPTIONS)};
      import { get } from "node:http";
      const { httpAgent: agent } = CLIENT_OPTIONS.requestHandler;
      get(${JSON.stringify(`${url}/health`)}, { agent }, ({ statusCode }) => {
        console.log(JSON.stringify(statusCode));
        process.exit();
      });`;
    expect(await evaluate(program, { HTTP_PROXY: proxy.url })).toBe(200);
    expect(proxy.hosts).toEqual([`${BEHIND_PROXY}:${port}`]);
  });

  it("gives its own proxies to tools, whatever the variables of a deployment are", () => {
    const runner = {
      HTTPS_PROXY: "http://mona:canary-of-proxy@127.0.0.1:9",
      no_proxy: "a",
      A: "b",
    };
    const environment = new CommandEnvironment(runner, {
      passed: [],
      allowed: [],
      allowedClasses: ["proxies"],
    });
    const given = [
      { name: "HTTPS_PROXY", value: "http://elsewhere.example.com" },
      { name: "no_proxy", value: "*" },
    ];
    expect(environment.createForTools(given)).toEqual({
      HTTPS_PROXY: runner.HTTPS_PROXY,
      no_proxy: "a",
    });
    expect(environment.create([])).toEqual({});
    expect(environment.secrets).toEqual(["canary-of-proxy"]);
  });
});
