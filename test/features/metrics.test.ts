import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { newAddress } from "../support/client.ts";
import { newDelivery, newIntegration } from "../support/integrations.ts";
import { Attempt } from "../support/runner.ts";
import { newDeployableProject, newDeployment, newWorld } from "../support/world.ts";

const TOKEN = "the metrics token of these tests, which is long";
const START = Date.now();
let ahead = 0;

/** By default, so long after the one before that no gauge is cached. */
async function read(authorization: string | undefined, token = TOKEN, aheadMs = 15_000) {
  ahead += aheadMs;
  const now = START + ahead;
  const app = createApp({ clock: { now: () => now }, log: () => undefined });
  const headers = { "cf-connecting-ip": newAddress(), ...(authorization && { authorization }) };
  const request = new Request("https://longshore.example.com/metrics", { headers });
  const execution = createExecutionContext();
  const response = await app.fetch(request, { ...env, METRICS_TOKEN: token } as Env, execution);
  await waitOnExecutionContext(execution);
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    text: await response.text(),
  };
}

function gaugeOf(text: string, name: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`longshore_${name} `));
  return Number(line?.split(" ")[1]);
}

describe("GET /metrics", () => {
  it("has the gauges of the database in the text format of Prometheus", async () => {
    const { status, type, text } = await read(`Bearer ${TOKEN}`);
    expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    const names = [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      "longshore_deliveries_pending",
      "longshore_delivery_overdue_seconds",
      "longshore_runners_online",
      "longshore_deployments",
      "longshore_database_bytes",
      "longshore_sweep_lag_seconds",
    ]);
    expect(text).toMatch(/^longshore_deployments\{status="queued"\} \d+$/m);
    expect(Number(/^longshore_database_bytes (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
    for (const line of text.trim().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) .+|longshore_\w+(\{status="\w+"\})? [\d.]+)$/);
    }
  });

  it("counts what runs and what waits, at most every 15 seconds", async () => {
    const before = await read(`Bearer ${TOKEN}`);
    const world = await newWorld();
    const { project, environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    const { id } = await newIntegration(world.client, project.id);
    await newDelivery(id, { status: "pending" });
    const other = await newDeployableProject(world);
    await newDeployment(world.client, other.environmentId);
    await Attempt.started(pool.runner);
    expect((await read(`Bearer ${TOKEN}`, TOKEN, 0)).text).toBe(before.text);

    const after = await read(`Bearer ${TOKEN}`);
    const added = (name: string) => gaugeOf(after.text, name) - gaugeOf(before.text, name);
    expect(added("runners_online")).toBe(1);
    expect(added("deliveries_pending")).toBeGreaterThanOrEqual(1);
    expect(added('deployments{status="queued"}')).toBe(1);
    expect(added('deployments{status="in_progress"}')).toBe(1);
    expect(gaugeOf(after.text, "delivery_overdue_seconds")).toBeGreaterThan(1_000_000);
  });

  it("says how long the schedule has not ended what is over", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    const { deploymentId } = await Attempt.started(pool.runner);
    const lostAt = Date.now() - 90_000;
    await env.DB.prepare("update attempts set lost_at = ?1 where deployment_id = ?2")
      .bind(lostAt, deploymentId)
      .run();
    const { text } = await read(`Bearer ${TOKEN}`);
    expect(gaugeOf(text, "sweep_lag_seconds")).toBeGreaterThanOrEqual(90);
  });

  it("needs the operator's token, and does not exist without one", async () => {
    expect((await read(undefined)).status).toBe(401);
    expect((await read(`Bearer ${TOKEN}x`)).status).toBe(401);
    expect((await read(`Bearer ${TOKEN}`, "")).status).toBe(404);
    expect((await read("Bearer ", "")).status).toBe(404);
  });

  it("refuses to run with a token that can be guessed", async () => {
    expect((await read("Bearer short", "short")).status).toBe(500);
  });
});
