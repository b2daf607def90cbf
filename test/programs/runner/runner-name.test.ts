import { hostname } from "node:os";
import { describe, expect, it, vi } from "vitest";
import manifest from "../../../packages/runner/package.json" with { type: "json" };
import { RunnerFixture } from "../support/fixture.ts";
import { RunnerProcess } from "../support/runner-process.ts";
import type { Parsed } from "../support/service.ts";

const WAITS = "until [ -e go ]; do sleep 0.1; done";

const POLLING = { interval: 100, timeout: 300_000 };

const fixture = RunnerFixture.use();

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
});
