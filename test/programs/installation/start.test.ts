import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { Checkout } from "../support/checkout.ts";
import { ApiClient } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const READY = "Ctrl-C stops it.";
const NOBODY = 65_534;
const KEY = /API key {2}(lsh_\w+)/;
const LINK = /Console {2}(http:\S+\/sign-in\/\S+)/;

/** Without the lines that npm prints about the script. */
function printed(output: string): string {
  return output.replaceAll(/^(> .*)?\n/gm, "");
}

describe("npm start", () => {
  const checkout = new Checkout();
  let port: number;
  let client: ApiClient;
  let server: Terminal;

  beforeAll(async () => {
    port = await findFreePort();
  });

  afterAll(async () => {
    await server.interrupt();
    checkout.remove();
  });

  const url = () => new URL(`http://localhost:${port}`);

  const start = async (flags = "") => {
    server = new Terminal(checkout.folder);
    server.start(`npm start -- --port ${port} ${flags}`);
    await server.waitForOutput(READY);
    return KEY.exec(server.output)?.[1];
  };

  /** Runs a start that fails, and returns its output. Without npm, which takes longer than the start. */
  const fail = async (flags: string, options = {}) => {
    const terminal = new Terminal(checkout.folder, {}, options);
    const { output, status } = await terminal.run(`node --run start -- ${flags}`);
    await terminal.kill();
    expect(status).not.toBe(0);
    return printed(output);
  };

  it("prints a working key and nothing else, also while it serves requests", async () => {
    const key = await start();
    const link = LINK.exec(server.output)?.[1] ?? "";
    client = new ApiClient(url(), key ?? "");
    await client.call("POST", "/v1/projects", { name: "storefront" });
    await expect(client.call("GET", "/v1/projects/none")).rejects.toThrow("400");
    expect(printed(server.output)).toBe(
      `  Longshore is ready.
  API      http://localhost:${port}
  Docs     http://localhost:${port}/docs
  API key  ${key}
           Save it now: it is not shown again.
  Console  ${link}
           Signs in. It works once, within 10 minutes.
  Try it:
curl http://localhost:${port}/v1/projects -H 'x-api-key: ${key}'
  Log in the command line, for the next command of the README and the tour (docs/tour.md):
echo ${key} | node ${checkout.path("packages/cli/dist/longshore.js")} login --url http://localhost:${port}
  Ctrl-C stops it.
`,
    );
  });

  it("prints a link that opens the console in a browser, signed in", async () => {
    const link = LINK.exec(server.output)?.[1] ?? "";
    const signIn = await fetch(link, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
      redirect: "manual",
    });
    expect(signIn.status).toBe(303);
    const [cookie = ""] = signIn.headers.getSetCookie();
    const headers = { cookie: cookie.split(";")[0] ?? "" };
    const listed = await fetch(new URL("/v1/projects", url()), { headers });
    expect(await listed.json()).toMatchObject({ data: [{ name: "storefront" }] });
    const opened = await fetch(new URL(String(signIn.headers.get("location")), url()), { headers });
    const [, script = ""] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await opened.text()) ?? [];
    expect((await fetch(new URL(script, url()))).headers.get("content-type")).toContain(
      "javascript",
    );
  });

  it("refuses a second start on the same data, in one line, and keeps serving", async () => {
    expect(await fail(`--port ${await findFreePort()}`)).toMatch(
      new RegExp(
        `^Longshore already runs on this data, at ${url().origin}: stop process \\d+ .*\n$`,
      ),
    );
    expect((await client.call("GET", "/v1/projects")).data).toHaveLength(1);
  });

  it("stops with Ctrl-C, and leaves nothing running", async () => {
    await server.interrupt();
    await expect(client.call("GET", "/v1/projects")).rejects.toThrow("fetch failed");
    expect(existsSync(checkout.path(".wrangler/npm-start.lock"))).toBe(false);
  });

  it("replaces the lock of a process that was killed, and keeps keys and data", async () => {
    const { pid } = process;
    writeFileSync(checkout.path(".wrangler/npm-start.lock"), JSON.stringify({ pid, url: "" }));
    expect(await fail(`--port ${port}`)).toContain(`stop process ${pid} first`);
    const ended = 2 ** 22 + 1;
    writeFileSync(
      checkout.path(".wrangler/npm-start.lock"),
      JSON.stringify({ pid: ended, url: "" }),
    );
    const secrets = checkout.read(".dev.vars");
    expect(await start()).toBeUndefined();
    expect(server.output).toContain("npm start -- --new-key");
    expect(server.output).not.toMatch(LINK);
    expect(printed(server.output)).toContain(
      `\nnode ${checkout.path("packages/cli/dist/longshore.js")} console --profile localhost:${port}\n`,
    );
    expect(checkout.read(".dev.vars")).toBe(secrets);
    expect((await client.call("GET", "/v1/projects")).data).toHaveLength(1);
    await server.interrupt();
  });

  it("prints a command that opens the console with the stored key, from any folder, and creates no key", async (context) => {
    const home = mkdtempSync(join(tmpdir(), "longshore-home-"));
    await start("--new-key");
    const [, key = ""] = KEY.exec(server.output) ?? [];
    const login = /^echo lsh_.* login .*$/m.exec(server.output)?.[0] ?? "none";
    await server.interrupt();
    const terminal = new Terminal(home, { LONGSHORE_CONFIG_DIR: home });
    context.onTestFinished(async () => {
      await terminal.kill();
      rmSync(home, { recursive: true });
    });
    expect(await start()).toBeUndefined();
    expect((await terminal.run(login)).status).toBe(0);
    const command = /^node .* console .*$/m.exec(server.output)?.[0] ?? "none";
    const { output, status } = await terminal.run(command);
    expect([status, output]).toEqual([0, expect.stringMatching(/\nhttp:\S+\/sign-in\/lsl_\w+\n$/)]);
    const opened = new ApiClient(url(), key);
    const { data } = await opened.call("GET", "/v1/orgs");
    const keys = await opened.call("GET", `/v1/orgs/${data[0].id}/api-keys`);
    expect(keys.data.map(({ name }: { name: string }) => name)).toEqual(["npm start", "First key"]);
    await server.interrupt();
  });

  it("creates another key with --new-key, and prints requests with --verbose", async () => {
    const key = (await start("--new-key --verbose")) ?? "";
    const other = new ApiClient(url(), key);
    expect((await other.call("GET", "/v1/projects")).data).toHaveLength(1);
    expect((await client.call("GET", "/v1/projects")).data).toHaveLength(1);
    const { data } = await client.call("GET", "/v1/orgs");
    const keys = await other.call("GET", `/v1/orgs/${data[0].id}/api-keys`);
    expect(keys.data.map(({ role }: { role: string }) => role)).toEqual([
      "owner",
      "owner",
      "owner",
    ]);
    await server.waitForOutput("GET /v1/projects 200 OK");
    await server.interrupt();
  });

  it("names a port that is in use, in one line", async () => {
    const listener = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => listener.once("listening", resolve));
    const { port: used } = listener.address() as { port: number };
    expect(await fail(`--port ${used}`)).toBe(
      `Port ${used} is unavailable: another process listens on it. Choose another with npm start -- --port N.\n`,
    );
    listener.close();
  });

  it.each([
    ["--port 0", "Set --port to a number from 1 to 65535"],
    ["--port none", "Set --port to a number from 1 to 65535"],
    ["--new-keys", "Unknown option '--new-keys'"],
  ])("refuses %s with its usage", async (flags, message) => {
    const output = await fail(flags);
    expect(output).toContain(message);
    expect(output).toContain("Usage: npm start");
    expect(output).not.toContain("    at ");
  });

  it("names a folder that it cannot write, in one line", async (context) => {
    const readOnly = new Checkout();
    context.onTestFinished(() => {
      chmodSync(readOnly.folder, 0o700);
      readOnly.remove();
    });
    chmodSync(readOnly.folder, 0o555);
    // Permissions do not apply to root.
    const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const terminal = new Terminal(readOnly.folder, { HOME: "/nonexistent" }, identity);
    const { output, status } = await terminal.run("node --run start");
    await terminal.kill();
    expect(status).not.toBe(0);
    expect(printed(output)).toBe(
      `Cannot write ${readOnly.path(".wrangler")} (EACCES). Make it writable for this user, or use another folder.\n`,
    );
  });

  it("names a Node.js that is too old, in one line", async () => {
    const preload = checkout.path("old-node.cjs");
    writeFileSync(
      preload,
      'Object.defineProperty(process.versions, "node", { value: "22.11.0" });\n' +
        'Object.defineProperty(process, "version", { value: "v22.11.0" });\n',
    );
    const { scripts, engines } = JSON.parse(checkout.read("package.json"));
    const [check] = scripts.start.split(" && ");
    const terminal = new Terminal(checkout.folder, { NODE_OPTIONS: `--require ${preload}` });
    const { output, status } = await terminal.run(check);
    await terminal.kill();
    expect([output, status]).toEqual([
      `Longshore needs Node.js ${engines.node.slice(2)} or newer; this is v22.11.0. Install it from https://nodejs.org.\n`,
      1,
    ]);
    const current = new Terminal(checkout.folder);
    expect(await current.run(check)).toEqual({ output: "", status: 0 });
    await current.kill();
  });
});
