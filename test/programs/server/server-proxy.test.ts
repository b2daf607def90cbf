import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BEHIND_PROXY, ForwardProxy } from "../support/forward-proxy.ts";
import { InstalledServer, type OwnServer } from "../support/own-server.ts";
import { RunnerProcess } from "../support/runner-process.ts";
import type { Parsed } from "../support/service.ts";
import { type Certificate, makeCertificate, type Reply, TlsProxy } from "../support/tls-proxy.ts";

const HOOKS = "hooks.example.com";
/** A webhook has this port or none. */
const HOOKS_PORT = 8443;
/** Where nothing else listens. */
const HOOKS_ADDRESS = "127.0.0.88";
const POLLING = { interval: 50, timeout: 120_000 };

const installed = new InstalledServer();
let certificate: Certificate;
let proxy: TlsProxy;
let server: OwnServer;
let origin: string;

beforeAll(async () => {
  certificate = makeCertificate(installed.folder, [BEHIND_PROXY, HOOKS]);
  proxy = await TlsProxy.start(certificate, () => server.port);
  origin = `https://${BEHIND_PROXY}:${proxy.port}`;
  const address = ["--url", origin, "--trusted-proxy", "127.0.0.1"];
  server = await installed.start([...address, "--private-network", "127.0.0.0/8"], {
    environment: { NODE_EXTRA_CA_CERTS: certificate.file },
    prefix: canMount() ? withHost() : [],
  });
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  proxy.close();
  installed.remove();
});

/** Runs a program to which the host of webhooks is this machine. */
function withHost(): string[] {
  const hosts = installed.path("hosts");
  writeFileSync(hosts, `127.0.0.1 localhost\n${HOOKS_ADDRESS} ${HOOKS}\n`);
  return ["unshare", "--mount", "sh", "-c", `mount --bind ${hosts} /etc/hosts && exec "$@"`, "sh"];
}

function canMount(): boolean {
  try {
    execFileSync("unshare", ["--mount", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Calls the API through the proxy. */
async function call(method: string, path: string, body?: object): Promise<Parsed> {
  const reply = await proxy.send(new URL(path, origin), {
    method,
    headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply.text ? JSON.parse(reply.text) : undefined;
}

function cookieOf({ headers }: Reply): string {
  return (headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
}

describe("the packed server behind a proxy with TLS", () => {
  it("signs in, opens the console, and checks where requests come from", async () => {
    const link = /Console {2}(https:\S+)/.exec(server.output)?.[1] ?? "";
    expect(new URL(link).origin).toBe(origin);
    const asked = await proxy.send(new URL(link));
    expect(asked.text).toContain("<form");
    const foreign = { origin: `http://127.0.0.1:${server.port}` };
    expect((await proxy.send(new URL(link), { method: "POST", headers: foreign })).status).toBe(
      403,
    );
    const own = { origin };
    const signedIn = await proxy.send(new URL(link), { method: "POST", headers: own });
    expect([signedIn.status, signedIn.headers["location"]]).toEqual([303, "/console/"]);
    expect(signedIn.headers["set-cookie"]?.[0]).toMatch(/^__Host-longshore=.*; Secure; HttpOnly/);
    const headers = { cookie: cookieOf(signedIn), ...own };
    const page = await proxy.send(new URL("/console/", origin), { headers });
    const [script = ""] = /\/console\/assets\/[\w-]+\.js/.exec(page.text) ?? [];
    const loaded = await proxy.send(new URL(script, origin));
    expect(loaded.headers["content-type"]).toContain("javascript");
    const projects = new URL("/v1/projects", origin);
    expect((await proxy.send(projects, { headers })).status).toBe(200);
    const body = JSON.stringify({ name: "from the console" });
    const write = { method: "POST", body };
    const type = { "content-type": "application/json" };
    const refused = { ...headers, ...type, origin: `http://localhost:${server.port}` };
    expect((await proxy.send(projects, { ...write, headers: refused })).status).toBe(403);
    const created = await proxy.send(projects, { ...write, headers: { ...headers, ...type } });
    expect(created.status).toBe(201);
  });

  it("gives links of its own address, whatever Host says", async () => {
    const headers = { "x-api-key": server.apiKey, host: "evil.example.com" };
    const reply = await proxy.send(new URL("/v1/sign-in-links", origin), {
      method: "POST",
      headers,
    });
    expect(new URL(JSON.parse(reply.text).url).origin).toBe(origin);
    expect((await proxy.send(new URL("/docs", origin), { headers })).text).toContain(origin);
  });

  it("runs a deployment, and streams its log while it runs", async (context) => {
    const { environmentId, token } = await makePool();
    const forward = await ForwardProxy.start(proxy.port);
    const runner = new RunnerProcess({
      url: origin,
      token,
      command: "echo hello from the stack; while [ ! -e go ]; do sleep 0.1; done; echo bye",
      environment: { HTTPS_PROXY: forward.url, NODE_EXTRA_CA_CERTS: certificate.file },
    });
    context.onTestFinished(async () => {
      runner.signal("SIGKILL");
      await runner.exited;
      forward.close();
    });
    const path = `/v1/environments/${environmentId}/deployments`;
    const { id } = await call("POST", path, {});
    const stream = followLog(id);
    await vi.waitFor(() => expect(stream.text).toContain("hello from the stack"), POLLING);
    expect(stream.text).not.toContain("bye");
    runner.make("go");
    await stream.ended;
    expect(stream.text).toContain("bye");
    expect((await call("GET", `/v1/deployments/${id}`)).status).toBe("succeeded");
    expect(forward.hosts.every((host) => host === new URL(origin).host)).toBe(true);
  });

  it.runIf(canMount())(
    "sends webhooks to a host over TLS, with its certificate",
    async (context) => {
      const received: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
      const receiver = createServer(certificate, async (incoming, response) => {
        received.push({ headers: incoming.headers, body: await text(incoming) });
        response.writeHead(204).end();
      });
      context.onTestFinished(() => void receiver.close());
      await new Promise<void>((resolve) => receiver.listen(HOOKS_PORT, HOOKS_ADDRESS, resolve));
      const url = `https://${HOOKS}:${HOOKS_PORT}/hook`;
      const project = await call("POST", "/v1/projects", { name: "with a webhook" });
      const integrations = `/v1/projects/${project.id}/notification-integrations`;
      const body = { type: "webhook", configuration: { changelog: true }, url };
      const { secret } = await call("POST", integrations, body);
      await call("POST", `/v1/projects/${project.id}/environments`, { name: "later" });
      await vi.waitFor(() => expect(received.length).toBeGreaterThanOrEqual(2), POLLING);
      const webhook = new Webhook(secret);
      for (const each of received) {
        webhook.verify(each.body, each.headers as Record<string, string>);
      }
      const plain = { ...body, url: url.replace("https:", "http:") };
      const refused = await proxy.send(new URL(integrations, origin), {
        method: "POST",
        headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
        body: JSON.stringify(plain),
      });
      expect(refused.status).toBe(400);
    },
  );
});

/** What may say which address a client has. */
const ADDRESS_HEADERS = [
  "cf-connecting-ip",
  "CF-Connecting-IPv6",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "x-forwarded-for",
  "mf-cf-blob",
  "longshore-server-token",
];
const FALSE_ADDRESS = "203.0.113.9";

describe("the address of a client", () => {
  /** The address that the audit log has for a request. */
  const addressOf = async (send: (path: string, body: string) => Promise<number>) => {
    const name = `key ${crypto.randomUUID()}`;
    const { data: organizations } = await call("GET", "/v1/orgs");
    const path = `/v1/orgs/${organizations[0].id}/api-keys`;
    expect(await send(path, JSON.stringify({ name }))).toBe(201);
    const { data } = await call("GET", `/v1/orgs/${organizations[0].id}/audit-log?limit=20`);
    return data.find(({ target }: Parsed) => target?.name === name)?.client_address;
  };
  const common = () => ({ "x-api-key": server.apiKey, "content-type": "application/json" });

  /** Past the proxy, from an address that is not trusted. */
  const sendDirectly = (headers: Record<string, string>) => (path: string, body: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(
        new URL(path, server.url).href,
        { method: "POST", headers: { ...common(), ...headers }, localAddress: "127.0.0.2" },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      sent.once("error", reject).end(body);
    });

  it.each(ADDRESS_HEADERS)("is that of the socket, whatever %s says", async (name) => {
    expect(await addressOf(sendDirectly({ [name]: FALSE_ADDRESS }))).toBe("127.0.0.2");
  });

  it("is that of the socket, whatever Forwarded says", async () => {
    const forwarded = `for=${FALSE_ADDRESS};host=evil.example.com;proto=http`;
    expect(await addressOf(sendDirectly({ forwarded }))).toBe("127.0.0.2");
  });

  it("is that of the socket, also if Connection names its header", async () => {
    const connection = "keep-alive, cf-connecting-ip";
    expect(await addressOf(sendDirectly({ connection }))).toBe("127.0.0.2");
  });

  it("is the last one that the trusted proxy has not been told", async () => {
    const viaProxy = (headers: Record<string, string>) => async (path: string, body: string) => {
      const options = { method: "POST", headers: { ...common(), ...headers }, body };
      const reply = await proxy.send(new URL(path, origin), {
        ...options,
        localAddress: "127.0.0.3",
      });
      return reply.status;
    };
    expect(await addressOf(viaProxy({}))).toBe("127.0.0.3");
    expect(await addressOf(viaProxy({ "x-forwarded-for": FALSE_ADDRESS }))).toBe("127.0.0.3");
    expect(await addressOf(viaProxy({ "cf-connecting-ip": FALSE_ADDRESS }))).toBe("127.0.0.3");
  });

  it("is not believed of another program of this machine that calls workerd itself", async () => {
    const ports = runtimePorts();
    expect(ports.length).toBeGreaterThanOrEqual(3);
    for (const port of ports) {
      const headers = {
        ...common(),
        "cf-connecting-ip": FALSE_ADDRESS,
        "mf-route-override": "longshore",
      };
      const response = await fetch(`http://127.0.0.1:${port}/v1/projects`, { headers }).catch(
        () => undefined,
      );
      expect(response?.status ?? 403).toBeGreaterThanOrEqual(400);
      expect((await response?.text()) ?? "").not.toContain('"data"');
    }
  });
});

/** The ports at which workerd listens. */
function runtimePorts(): string[] {
  const listening = execFileSync("ss", ["-ltnp"], { encoding: "utf8" }).split("\n");
  const pid = readFileSync(installed.path("longshore-data/workerd.pid"), "utf8");
  const lines = listening.filter((line) => line.includes(`pid=${pid},`));
  return lines.flatMap((line) => /127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? []);
}

async function makePool() {
  const { data: organizations } = await call("GET", "/v1/orgs");
  const project = await call("POST", "/v1/projects", { name: "with a runner" });
  const environmentId: string = project.default_environment_id;
  await call("POST", `/v1/environments/${environmentId}/stacks`, { name: "web" });
  const pools = `/v1/orgs/${organizations[0].id}/runner-pools`;
  const pool = await call("POST", pools, { name: "here", environment_ids: [environmentId] });
  const { token } = await call("POST", `${pools}/${pool.id}/tokens`, { name: "runner" });
  return { environmentId, token };
}

/** Reads the log as events, in a request of its own. */
function followLog(deploymentId: string) {
  const stream = { text: "", ended: Promise.resolve() };
  const url = new URL(`/v1/deployments/${deploymentId}/logs`, origin);
  const headers = { "x-api-key": server.apiKey, accept: "text/event-stream" };
  stream.ended = proxy.follow(url, headers, (chunk) => {
    stream.text += chunk;
  });
  return stream;
}
