import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import manifest from "../../packages/runner/package.json" with { type: "json" };
import { RunnerFixture } from "./support/fixture.ts";
import { RunnerProcess } from "./support/runner-process.ts";
import type { Parsed } from "./support/service.ts";

const WAITS = "until [ -e go ]; do sleep 0.1; done";

const POLLING = { interval: 100, timeout: 300_000 };

let fixture: RunnerFixture;

beforeAll(async () => {
  fixture = await RunnerFixture.start();
});

afterAll(() => fixture.close());

async function runnersOf(poolId: string): Promise<Parsed[]> {
  const { owner, organizationId } = fixture.service;
  const path = `/v1/orgs/${organizationId}/runner-pools/${poolId}/runners?sort_by=created_at`;
  return (await owner.call("GET", path)).data;
}

describe.concurrent("the name of a reference runner", () => {
  it("is in the list of the runners of its pool, with its version and its deployment", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const named = run(WAITS, "--once", "--name", "Bauhof 1 ☕");
    await named.waitForRuns(1);
    const [busy] = await runnersOf(project.poolId);
    const { version } = manifest;
    expect(busy).toMatchObject({ name: "Bauhof 1 ☕", version, state: "busy", deployment_id: id });
    const unnamed = run("true", "--once");
    const both = await vi.waitUntil(async () => {
      const runners = await runnersOf(project.poolId);
      return runners.length === 2 && runners;
    }, POLLING);
    const own = { name: hostname().slice(0, 100), version, state: "idle" };
    expect(both).toMatchObject([{ state: "busy" }, own]);
    named.make("go");
    expect(await named.exited).toBe(0);
    unnamed.signal("SIGTERM");
    expect(await unnamed.exited).toBe(0);
    expect((await runnersOf(project.poolId)).map(({ state }) => state)).toEqual(["idle", "idle"]);
  });

  it.each(["", " ", "a\nb", "n".repeat(101)])("cannot be %j", async (name) => {
    const runner = new RunnerProcess({
      ...{ url: "http://127.0.0.1:1", token: "unused", command: "true" },
      flags: ["--name", name],
    });
    expect(await runner.exited).toBe(2);
    expect(runner.output).toMatch(/^Set --name to one line of 1 to 100 characters\.\nUsage:/m);
    await runner.stop();
  });

  it("is left out for a server of an earlier release, which refuses it", async (context) => {
    const { project } = await fixture.prepare(context);
    const claims: string[][] = [];
    const earlier = createServer(async (request, response) => {
      const { url = "", method = "", headers } = request;
      const body = await text(request);
      if (url.endsWith("/claims")) claims.push(Object.keys(JSON.parse(body)));
      if (url.endsWith("/claims") && claims.at(-1)?.includes("runner")) {
        const refusal = { code: "bad_input", message: "The request is invalid." };
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify(refusal));
        return;
      }
      const { "x-api-key": key, "lease-token": lease } = headers;
      const reply = await fetch(new URL(url, fixture.service.url), {
        method,
        headers: {
          "x-api-key": String(key),
          "content-type": String(headers["content-type"]),
          ...(lease !== undefined && { "lease-token": String(lease) }),
        },
        ...(body && { body }),
      });
      const retry = reply.headers.get("retry-after");
      response.writeHead(reply.status, retry ? { "retry-after": retry } : {});
      response.end(await reply.text());
    }).listen(0, "127.0.0.1");
    context.onTestFinished(() => void earlier.close());
    await once(earlier, "listening");
    const { port } = earlier.address() as AddressInfo;
    const { id } = await project.deploy();
    const url = `http://127.0.0.1:${port}`;
    const options = { url, token: project.token, command: "true", flags: ["--once"] };
    const runner = new RunnerProcess(options);
    context.onTestFinished(() => runner.stop());
    expect(await runner.exited).toBe(0);
    expect((await project.waitForEnd(id)).status).toBe("succeeded");
    expect(claims).toEqual([["request_id", "runner"], ["request_id"]]);
  });
});
