import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { followDeployment } from "../../../packages/cli/src/deployments/follow.ts";
import { exitCodeOf } from "../../../packages/cli/src/deployments/outcome.ts";
import { type Client, createClient, type Fetch } from "../../../packages/client/src/index.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { type Fault, ScriptedProxy } from "../support/scripted-proxy.ts";
import { useService } from "../support/service.ts";

const SOON = { timeout: 300_000 };
const service = useService();
let environment: DeployedEnvironment;
let proxy: ScriptedProxy;
let client: Client;

beforeAll(async () => {
  environment = await DeployedEnvironment.make(service);
  proxy = await ScriptedProxy.start(service.url);
  client = createClient({ url: proxy.url, apiKey: environment.apiKey, retries: 1 });
});

afterAll(() => proxy.close());

/** A client whose requests for logs get this response instead of the service's. */
function withoutLogs({ apiKey }: DeployedEnvironment, respond: () => Response): Client {
  const fetchOther: Fetch = (url, init) =>
    url.includes("/logs") ? Promise.resolve(respond()) : fetch(url, init);
  return createClient({ url: service.url.href, apiKey, fetch: fetchOther });
}

const page = () =>
  new Response("<html>", { status: 502, headers: { "content-type": "text/html" } });
const error = (status: number, code: string) => () =>
  Response.json({ code, message: "No." }, { status });
const silence = () =>
  new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
/** A stream that says what is not so. */
const lie = () =>
  new Response('event: end\ndata: {"status":"succeeded","truncated":false}\n\n', {
    headers: { "content-type": "text/event-stream" },
  });

async function startDeployment(of = environment) {
  const { id } = await of.deploy();
  const started = await of.start();
  return { id, started };
}

// They mostly wait, each for its own deployment.
describe.concurrent("the outcome of a deployment", () => {
  it.each([
    ["a service without logs", error(404, "not_found")],
    ["a key that may not read logs", error(403, "unauthorized")],
    ["a proxy that refuses streams", page],
    ["a stream that is silent", silence],
    ["a stream that says something else", lie],
  ])("is read from the deployment, with %s", async (_, respond) => {
    const own = await DeployedEnvironment.make(service);
    const { id, started } = await startDeployment(own);
    const statuses: string[] = [];
    const incomplete: boolean[] = [];
    const followed = followDeployment(withoutLogs(own, respond), id, {
      onStatus: ({ status }) => statuses.push(status),
      onIncompleteLog: () => incomplete.push(true),
    });
    await expect.poll(() => statuses, SOON).toContain("in_progress");
    await started.complete("failed");
    expect(await followed).toMatchObject({ id, status: "failed" });
    // The stacks may change between two reads.
    expect(statuses.filter((each, at) => each !== statuses[at - 1])).toEqual([
      "in_progress",
      "failed",
    ]);
    expect(incomplete).toEqual(respond === lie ? [] : [true]);
  });

  it("is found by one last read when the time is over", async () => {
    const { id, started } = await startDeployment();
    const early = followDeployment(client, id, { timeoutMs: 1_500 });
    await expect(early).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining(
        `The deployment ${id} has not ended within 1s: it is in_prog`,
      ),
    });
    let reads = 0;
    const fetchSlowly: Fetch = async (url, init) => {
      if (url.includes("/logs")) return silence();
      reads += 1;
      // The first response is from before the end, and the pause after it takes the rest of the time.
      const response = await fetch(url, init);
      if (reads === 1) await started.complete("canceled");
      return response;
    };
    const slow = createClient({
      url: service.url.href,
      apiKey: environment.apiKey,
      fetch: fetchSlowly,
    });
    const { status } = await followDeployment(slow, id, { timeoutMs: 1_000 });
    expect([exitCodeOf(status), reads]).toEqual([3, 2]);
  });
});

describe("a wait", () => {
  it("ends with the exit code 6 after a time without a response, and not before", async () => {
    const { id, started } = await startDeployment();
    const faults = (fault: Fault) => Array.from({ length: 200 }, () => fault);
    for (const fault of ["silence", "lost request", { reply: 502, body: "<html>" }] as const) {
      proxy.reset(...faults(fault));
      const before = performance.now();
      const followed = followDeployment(client, id, { unreachableMs: 2_500 });
      await expect(followed).rejects.toMatchObject({
        exitCode: 6,
        message: expect.stringContaining("The service has not responded for 2s: "),
      });
      expect(performance.now() - before).toBeGreaterThan(2_400);
    }
    proxy.reset();
    await started.complete("succeeded");
  });

  it("lasts through refusals of the rate limit, which are responses", async () => {
    const { id, started } = await startDeployment();
    await started.complete("succeeded");
    const body = '{"code":"rate","message":"Wait."}';
    const limit = { reply: 429, headers: { "retry-after": "1" }, body };
    proxy.reset(...Array.from({ length: 8 }, () => limit));
    const { status } = await followDeployment(client, id, { unreachableMs: 5_000 });
    expect(status).toBe("succeeded");
  });

  it.each([
    ["unauthenticated", 401],
    ["forbidden", 403],
    ["not_found", 404],
  ])("ends at once if the deployment is %s", async (code, status) => {
    const { id } = await environment.deploy();
    const refused = createClient({
      url: service.url.href,
      apiKey: "lsh_x",
      fetch: () => Promise.resolve(error(status, code)()),
    });
    await expect(followDeployment(refused, id)).rejects.toMatchObject({ code });
  });

  it("ends with the reason of the signal, and with an error of the caller", async () => {
    const { id, started } = await startDeployment();
    const controller = new AbortController();
    const reason = new Error("The user has left.");
    const followed = followDeployment(client, id, { signal: controller.signal });
    controller.abort(reason);
    await expect(followed).rejects.toBe(reason);
    const onLine = () => {
      throw reason;
    };
    const broken = expect(followDeployment(client, id, { onLine })).rejects.toBe(reason);
    await started.print(1, "one\n");
    await broken;
    await started.complete("succeeded");
  });
});

it("has an exit code only for a deployment that has ended", () => {
  expect((["succeeded", "failed", "canceled", "superseded"] as const).map(exitCodeOf)).toEqual([
    0, 2, 3, 4,
  ]);
  expect(() => exitCodeOf("canceling")).toThrow("canceling is not the outcome of a deployment.");
});
