import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import {
  type Client,
  createClient,
  type LogEvent,
  type Schemas,
} from "../../../packages/client/src/index.ts";
import { newSecrets } from "../../../packages/server/src/secrets.ts";
import { type RunningWorker, start } from "../../../scripts/lib/workers.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { startService } from "../support/service.ts";

const LOGS = "/v1/deployments/{deployment_id}/logs";

const folder = mkdtempSync(join(tmpdir(), "longshore-stream-"));
const secrets = newSecrets();

let service: RunningWorker;
let organizationId: string;
let proxy: ScriptedProxy;
/** Without faults. */
let runnerProxy: ScriptedProxy;
let longshore: Client;
let projectId: string;

beforeAll(async () => {
  const started = await startService(secrets, folder);
  service = started;
  organizationId = started.organizationId;
  proxy = await ScriptedProxy.start(service.url);
  runnerProxy = await ScriptedProxy.start(service.url);
  longshore = createClient({ url: proxy.url, apiKey: started.owner.key });
  const project = await longshore.post("/v1/projects", { body: { name: "storefront" } });
  projectId = project.id;
  await longshore.put("/v1/projects/{project_id}/connection", {
    path: { project_id: project.id },
    body: { provider: "aws", account_id: "123456789012", region: "eu-central-1" },
  });
});

beforeEach(() => proxy.reset());

afterAll(async () => {
  await proxy.close();
  await runnerProxy.close();
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** A runner of the environment. */
async function newRunner(environmentId: string): Promise<Client> {
  const path = { org_id: organizationId };
  const pool = await longshore.post("/v1/orgs/{org_id}/runner-pools", {
    path,
    body: { name: `pool-${environmentId}`, environment_ids: [environmentId] },
  });
  const { token } = await longshore.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", {
    path: { ...path, pool_id: pool.id },
    body: { name: "test" },
  });
  return createClient({ url: runnerProxy.url, apiKey: token });
}

/** A started attempt of a new deployment of two stacks. */
async function startDeployment() {
  const environment = await longshore.post("/v1/projects/{project_id}/environments", {
    path: { project_id: projectId },
    body: { name: `env-${crypto.randomUUID().slice(0, 8)}` },
  });
  const runner = await newRunner(environment.id);
  const path = { environment_id: environment.id };
  const stacks: Schemas["Stack"][] = [];
  for (const name of ["web", "worker"]) {
    const body = { name };
    stacks.push(await longshore.post("/v1/environments/{environment_id}/stacks", { path, body }));
  }
  await longshore.post("/v1/environments/{environment_id}/deployments", { path, body: {} });
  const claim = await runner.post("/v1/runner/claims", {
    body: { request_id: crypto.randomUUID() },
  });
  if (!claim) throw new Error("There is nothing to claim.");
  const attempt = {
    path: { attempt_id: claim.attempt_id },
    headers: { "lease-token": claim.lease_token },
  };
  await runner.post("/v1/runner/attempts/{attempt_id}/start", attempt);
  let offset = 0;
  return {
    deployment: { path: { deployment_id: claim.deployment.id } },
    async print(stack: 0 | 1, text: string) {
      const query = { offset, stack_id: String(stacks[stack]?.id) };
      const written = await runner.post("/v1/runner/attempts/{attempt_id}/logs", {
        ...attempt,
        query,
        body: text,
      });
      offset = written.next_offset;
    },
    async complete() {
      for (const { id } of stacks) {
        await runner.put("/v1/runner/attempts/{attempt_id}/stacks/{stack_id}", {
          ...attempt,
          path: { ...attempt.path, stack_id: id },
          body: { seq: 1, status: "succeeded" },
        });
      }
      const body = { outcome: "succeeded" } as const;
      await runner.post("/v1/runner/attempts/{attempt_id}/complete", { ...attempt, body });
    },
  };
}

const toText = (events: readonly LogEvent[]) =>
  events.map((event) => (event.event === "line" ? event.data.text : "")).join("");

/** Whether each line begins where the one before it ends. */
function areContiguous(events: readonly LogEvent[]): boolean {
  const lines = events.flatMap((event) => (event.event === "line" ? [event] : []));
  return lines.every(({ data }, at) => data.offset === (at === 0 ? 0 : Number(lines[at - 1]?.id)));
}

describe("the stream of a log", () => {
  it("has every byte once, in order, over ten lost connections", async () => {
    const { deployment, print, complete } = await startDeployment();
    let printed = "";
    for (let at = 0; at < 60; at++) {
      const text = `${at}: Creating the bucket é 🚢 ${"·".repeat(at % 7)}\u001b[0m\r\n`;
      printed += text;
      await print(at % 2 === 0 ? 0 : 1, text);
    }
    await complete();
    proxy.reset(
      ...[40, 250, 400, 777, 999, 1_200, 600, 801, 1_500, 1_001].map((cutAfter) => ({ cutAfter })),
    );
    const events: LogEvent[] = [];
    for await (const event of longshore.stream(LOGS, deployment)) events.push(event);
    expect(proxy.requests).toHaveLength(11);
    expect(proxy.requests.map(({ headers }) => headers["last-event-id"])[0]).toBeUndefined();
    expect(toText(events)).toBe(printed);
    expect(areContiguous(events)).toBe(true);
    expect(events.filter(({ event }) => event === "status")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({
      event: "end",
      data: { status: "succeeded", truncated: false },
    });
  });

  it("follows a deployment through a proxy that restarts, errors and silence", async () => {
    const { deployment, print, complete } = await startDeployment();
    proxy.reset({ reply: 502, body: "<html>" }, "lost request", "none");
    const events: LogEvent[] = [];
    const options = { ...deployment, idleTimeoutMs: 700 };
    const followed = (async () => {
      for await (const event of longshore.stream(LOGS, options)) events.push(event);
    })();
    await print(0, "one\n");
    await expect.poll(() => toText(events), { timeout: 300_000 }).toBe("one\n");
    await proxy.close();
    await print(1, "two\n");
    await proxy.open();
    await expect.poll(() => toText(events), { timeout: 300_000 }).toBe("one\ntwo\n");
    const before = proxy.requests.length;
    // Nothing is printed: the stream is taken for lost, and continued.
    await expect.poll(() => proxy.requests.length, { timeout: 300_000 }).toBeGreaterThan(before);
    await print(0, "three\n");
    await complete();
    await followed;
    expect(toText(events)).toBe("one\ntwo\nthree\n");
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "succeeded" } });
    const states = events.flatMap((event) => (event.event === "status" ? [event.data.status] : []));
    expect([states[0], states.at(-1)]).toEqual(["in_progress", "succeeded"]);
  });

  it("continues after the service has ended and started again", async () => {
    const { deployment, print, complete } = await startDeployment();
    const events: LogEvent[] = [];
    // However long the start of the service takes.
    const options = { ...deployment, retries: 1_000 };
    const followed = (async () => {
      for await (const event of longshore.stream(LOGS, options)) events.push(event);
    })();
    await print(0, "before\n");
    await expect.poll(() => toText(events), { timeout: 300_000 }).toBe("before\n");
    await service.stop();
    service = await start(inject("bundle"), secrets, {
      folder,
      settings: inject("workerSettings"),
    });
    proxy.target = service.url;
    runnerProxy.target = service.url;
    await print(1, "after\n");
    await complete();
    await followed;
    expect(toText(events)).toBe("before\nafter\n");
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "succeeded" } });
  });

  it("can begin after a byte, with one stack only", async () => {
    const { deployment, print, complete } = await startDeployment();
    await print(0, "one\n");
    await print(1, "two\n");
    await print(0, "three\n");
    await complete();
    const lines = await longshore.get(LOGS, deployment);
    const stackId = String(lines.data[0]?.stack_id);
    const query = { after: 4, stack_id: stackId };
    const events: LogEvent[] = [];
    for await (const event of longshore.stream(LOGS, { ...deployment, query })) events.push(event);
    expect(toText(events)).toBe("three\n");
    const listed: string[] = [];
    for await (const line of longshore.list(LOGS, deployment)) listed.push(line.text);
    expect(listed).toEqual(["one\n", "two\n", "three\n"]);
    const response = await longshore.request("GET", LOGS, {
      ...deployment,
      headers: { Accept: "text/plain" },
    });
    expect(await response.text()).toBe("one\ntwo\nthree\n");
  });

  it("ends with the error of the service, and with the reason of the signal", async () => {
    const unknown = longshore.stream(LOGS, { path: { deployment_id: "1Cg38jbq6cZAbs5tGiyPJx" } });
    await expect(unknown.next()).rejects.toMatchObject({ code: "not_found" });
    const { deployment, complete } = await startDeployment();
    const reason = new Error("The user has pressed Ctrl-C.");
    const controller = new AbortController();
    const events: LogEvent[] = [];
    const followed = (async () => {
      const options = { ...deployment, signal: controller.signal };
      for await (const event of longshore.stream(LOGS, options)) events.push(event);
    })();
    await expect.poll(() => events.length, { timeout: 300_000 }).toBeGreaterThan(0);
    controller.abort(reason);
    await expect(followed).rejects.toBe(reason);
    await complete();
  });

  it("ends with an error if no connection has an event, or none is a stream", async () => {
    const path = { deployment_id: "1Cg38jbq6cZAbs5tGiyPJx" };
    const headers = { "content-type": "text/event-stream" };
    const empty = { reply: 200, headers, body: "retry: 1\n\n" };
    proxy.reset(empty, empty, empty);
    const stream = longshore.stream(LOGS, { path, retries: 2 });
    await expect(stream.next()).rejects.toMatchObject({ name: "ConnectionError" });
    expect(proxy.requests).toHaveLength(3);
    proxy.reset({ reply: 200, headers: { "content-type": "text/html" }, body: "<html>" });
    await expect(longshore.stream(LOGS, { path }).next()).rejects.toMatchObject({
      code: "unexpected_response",
    });
  });

  it("closes the connection when the caller stops reading", async () => {
    const { deployment, complete } = await startDeployment();
    proxy.reset();
    for await (const event of longshore.stream(LOGS, deployment)) {
      expect(event.event).toBe("status");
      break;
    }
    const [request] = proxy.requests;
    await expect.poll(() => request?.socket.destroyed, { timeout: 300_000 }).toBe(true);
    await complete();
  });
});
