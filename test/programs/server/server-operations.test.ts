import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { InstalledServer, type OwnServer } from "../support/own-server.ts";
import { ApiClient } from "../support/service.ts";

const installed = new InstalledServer();
const data = installed.path("data");
let server: OwnServer;
let apiKey: string;
let metricsPort: number;

beforeAll(async () => {
  metricsPort = await findFreePort();
  const metrics = ["--metrics-port", String(metricsPort)];
  server = await installed.start(["--data", data, "--log", "json", ...metrics]);
  apiKey = server.apiKey;
});

afterAll(async () => {
  await server.stop();
  installed.remove();
});

const clientOf = ({ url }: OwnServer) => new ApiClient(url, apiKey);

async function readMetrics(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  expect(response.headers.get("content-type")).toContain("version=0.0.4");
  return response.text();
}

async function newDeployment() {
  const client = clientOf(server);
  const project = await client.call("POST", "/v1/projects", { name: crypto.randomUUID() });
  const environment = project.default_environment_id;
  await client.call("POST", `/v1/environments/${environment}/stacks`, { name: "web" });
  await client.call("POST", `/v1/environments/${environment}/deployments`, {});
  return project;
}

/** Sends a request whose body is not complete until the caller ends it. */
function open(path: string, method: string, headers: Record<string, string>, agent?: Agent) {
  const sent = request(new URL(path, server.url).href, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json", ...headers },
    agent,
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).once("error", reject);
  });
  return { sent, response };
}

describe("a server of one's own", () => {
  it("counts requests by route and status, durations, refusals, and what its database knows", async () => {
    await newDeployment();
    await fetch(new URL("/v1/projects/none", server.url), { headers: { "x-api-key": apiKey } });
    await fetch(new URL("/docs/none.css", server.url));
    const { data: organizations } = await clientOf(server).call("GET", "/v1/orgs");
    const keys = `/v1/orgs/${organizations[0].id}/api-keys`;
    const { key } = await clientOf(server).call("POST", keys, { name: "too fast" });
    let status = 0;
    for (let sent = 0; status !== 429 && sent < 1_000; sent += 1) {
      ({ status } = await fetch(new URL("/v1/whoami", server.url), {
        headers: { "x-api-key": key },
      }));
    }
    const metrics = await readMetrics();
    expect(metrics).toMatch(
      /^longshore_requests_total\{route="\/v1\/projects",method="POST",status="201"\} \d+$/m,
    );
    expect(metrics).toMatch(/route="\/v1\/projects\/\{project_id\}",method="GET",status="400"/);
    expect(metrics).toMatch(
      /^longshore_request_duration_seconds_bucket\{le="1",route="\/v1\/projects"\} \d+$/m,
    );
    expect(metrics).toMatch(/^longshore_rate_limited_total\{policy="[\w-]+"\} \d+$/m);
    expect(metrics).toMatch(/^longshore_deployments\{status="queued"\} [1-9]/m);
    expect(metrics).toMatch(/^longshore_database_bytes [1-9]/m);
    expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]/m);
    const ids = /[A-Za-z0-9]{22}|lsh_/;
    expect(metrics.split("\n").filter((line) => ids.test(line.replace(/^\S+ /, "")))).toEqual([]);
    const response = await fetch(new URL("/metrics", server.url));
    expect(response.status).toBe(401);
  });

  it("logs one JSON object for each line, without the key", async () => {
    const lines = server.output.split("\n").filter((line) => line.startsWith("{"));
    const routes = lines.map((line) => JSON.parse(line)).map(({ route }) => route);
    expect(routes).toContain("/v1/projects");
    expect(lines.join("\n")).not.toContain(apiKey);
  });

  it("backs up while it runs, and restores into an empty folder that has the same keys", async () => {
    const project = await newDeployment();
    const client = clientOf(server);
    const variables = `/v1/environments/${project.default_environment_id}/variables`;
    const variable = await client.call("POST", variables, {
      name: "TOKEN",
      value: "sealed",
      storage_method: "secret",
    });
    const file = installed.path("backup");
    const saved = await installed.run(["backup", file, "--data", data]);
    expect([saved.code, saved.output]).toEqual([0, expect.stringMatching(/^\S+ has \d+ rows\. /)]);

    const restored = installed.path("restored");
    const result = await installed.run(["restore", file, "--data", restored]);
    expect([result.code, result.output]).toEqual([
      0,
      expect.stringMatching(/^Restored \d+ rows\. /),
    ]);
    const again = await installed.run(["restore", file, "--data", restored]);
    expect([again.code, again.output]).toEqual([
      1,
      expect.stringContaining("nothing was restored"),
    ]);
    const refused = await installed.run(["--data", restored, "--port", "1"]);
    expect(refused.code).not.toBe(0);
    copyFileSync(join(data, "secrets.env"), join(restored, "secrets.env"));
    const other = await installed.start(["--data", restored]);
    expect(other.apiKey).toBe("");
    // The object that knows the versions of keys is another: see docs/operations.md, Admit credentials.
    const { value } = await clientOf(other).call("GET", `/v1/variables/${variable.id}/value`);
    expect(value).toBe("sealed");
    await other.stop();
  });

  it("says what is wrong with the file or the folder of a backup", async () => {
    const nowhere = await installed.run(["backup", "/nonexistent/file", "--data", data]);
    expect([nowhere.code, nowhere.output]).toEqual([1, "There is no folder /nonexistent.\n"]);
    const empty = installed.path("nothing");
    const nothing = await installed.run(["backup", installed.path("b"), "--data", empty]);
    expect(nothing.output).toBe(
      `${empty} has no database. Name the server's folder with --data.\n`,
    );
    expect(existsSync(empty)).toBe(false);
    const missing = await installed.run(["restore", installed.path("no"), "--data", empty]);
    expect(missing.output).toBe(`There is no file ${installed.path("no")}.\n`);
    const running = await installed.run(["restore", join(data, "secrets.env"), "--data", data]);
    expect(running.output).toContain("Longshore already runs on this data");
  });

  it.each([2, 20])(
    "refuses a body of %i MB with what to send, while it is sent",
    async (megabytes) => {
      const { sent, response } = open("/v1/projects", "POST", {});
      sent.end(Buffer.alloc(megabytes << 20, "x"));
      const refused = await response;
      expect(refused.statusCode).toBe(400);
      expect(JSON.parse(await text(refused)).message).toContain(
        "The body is over 1 MiB; send less.",
      );
    },
  );

  it("keeps serving metrics, and what was acknowledged, when workerd is killed", async () => {
    const client = clientOf(server);
    const { id } = await client.call("POST", "/v1/projects", { name: "kept" });
    process.kill(Number(readFileSync(join(data, "workerd.pid"), "utf8")), "SIGKILL");
    const scraped = await Promise.all([readMetrics(), readMetrics()]);
    for (const metrics of scraped) expect(metrics).toContain("longshore_requests_total");
    await expect.poll(() => fetch(new URL("/health", server.url)).then(({ ok }) => ok)).toBe(true);
    expect(await client.call("GET", `/v1/projects/${id}`)).toMatchObject({ name: "kept" });
    expect(await readMetrics()).toContain("longshore_database_bytes");
    const file = installed.path("after-kill");
    const backup = await installed.run(["backup", file, "--data", data]);
    expect([backup.code, backup.output]).toEqual([0, expect.stringContaining(`${file} has`)]);
  });

  it("finishes what runs when it is stopped, ends streams with retry, and takes no claims", async () => {
    const project = await newDeployment();
    const environment = project.default_environment_id;
    const { data: deployments } = await clientOf(server).call(
      "GET",
      `/v1/environments/${environment}/deployments`,
    );
    const logs = `/v1/deployments/${deployments[0].id}/logs`;
    const stream = open(logs, "GET", { accept: "text/event-stream" });
    stream.sent.end();
    const streamed = await stream.response;
    const events = text(streamed);
    const body = JSON.stringify({ name: "written while it stops" });
    const length = { "content-length": String(body.length) };
    const writing = open("/v1/projects", "POST", length);
    writing.sent.write(body.slice(0, 5));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = open("/health", "GET", {}, agent);
    first.sent.end();
    await text(await first.response);

    server.signal("SIGTERM");
    await server.waitFor("Stopping.");
    expect(await events).toMatch(/retry: 1000\n\n$/);
    await expect(fetch(new URL("/health", server.url))).rejects.toThrow("fetch failed");
    let hasExited = false;
    server.exited.finally(() => {
      hasExited = true;
    });
    writing.sent.end(body.slice(5));
    const written = await writing.response;
    expect([written.statusCode, hasExited]).toEqual([201, false]);
    const { id } = JSON.parse(await text(written));
    expect(await server.exited).toBe(0);
    expect(existsSync(join(data, "runtime.json"))).toBe(false);

    server = await installed.start(["--data", data]);
    expect((await clientOf(server).call("GET", `/v1/projects/${id}`)).id).toBe(id);
  });

  it("refuses claims while it stops, on a connection that is open", async () => {
    const { port } = server;
    const body = JSON.stringify({ name: "held open" });
    const writing = open("/v1/projects", "POST", { "content-length": String(body.length) });
    writing.sent.write(body.slice(0, 5));
    // Its request has begun, so its connection is not closed.
    const claiming = connect(port, "127.0.0.1");
    const claimed = text(claiming);
    const head = "POST /v1/runner/claims HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n";
    await new Promise((resolve) => claiming.write(head, resolve));
    // So that both have arrived.
    await fetch(new URL("/health", server.url));
    server.signal("SIGTERM");
    await server.waitFor("Stopping.");
    claiming.write("\r\n{}");
    const refused = await claimed;
    expect(refused).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 1\r\n/);
    expect(refused).toContain('{"code":"internal","message":"The server is stopping. Try again."}');
    writing.sent.end(body.slice(5));
    expect((await writing.response).statusCode).toBe(201);
    expect(await server.exited).toBe(0);
    server = await installed.start(["--data", data], { port });
  });

  it("creates another key for its first owner", async () => {
    await server.stop();
    server = await installed.start(["--data", data, "--new-key"]);
    expect(server.apiKey).toMatch(/^lsh_/);
    expect(server.apiKey).not.toBe(apiKey);
    expect((await server.client.call("GET", "/v1/whoami")).organization).toBeDefined();
    expect(readFileSync(join(data, "secrets.env"), "utf8")).not.toContain(server.apiKey);
  });

  it("starts from the package alone, which names its release", async () => {
    const { code, output } = await installed.run(["--version"]);
    expect([code, output.trim()]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    const help = await installed.run(["--help"]);
    expect(help.output).toMatch(/^Usage: longshore-server \[options\]\n/);
    rmSync(installed.path("backup"), { force: true });
  });
});
