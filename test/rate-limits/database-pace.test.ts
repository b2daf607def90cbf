import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/lib/limits.ts";
import { DatabasePace } from "../../src/rate-limits/database-pace.ts";
import { BUDGETS, WINDOW_MS } from "../../src/rate-limits/policies.ts";
import type { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { reportingDatabase } from "../support/reporting-database.ts";
import { Attempt } from "../support/runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newProject,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

const UNITS_PER_MS = BUDGETS.caller / WINDOW_MS;
const LONGEST = LIMITS.paceWaitMs.value * UNITS_PER_MS;
const payer = (organizationId: string, consumerId = "ada") => ({
  organizationId,
  consumerId,
  policy: "default" as const,
});
const refusal = (waitMs: number) => new Error(`refused for ${Math.ceil(waitMs)} ms`);

describe("the pace of an organization", () => {
  it("lets a request start at once, unless those before it are ahead of it", async () => {
    let now = 0;
    const pace = new DatabasePace(() => now);
    const first = pace.turnOf(payer("org"), "read");
    expect(first.take(refusal)).toBeUndefined();
    first.charge(10, 0);
    first.end();
    expect(pace.turnOf(payer("org"), "read").take(refusal)).toBeUndefined();
    const large = pace.turnOf(payer("org"), "write");
    large.take(refusal);
    large.charge(LIMITS.burstUnits.value + LONGEST * 2, 0);
    large.end();
    expect(() => pace.turnOf(payer("org"), "read").take(refusal)).toThrow("refused for");
    expect(pace.turnOf(payer("other"), "read").take(refusal)).toBeUndefined();
    now += WINDOW_MS;
    expect(pace.turnOf(payer("org"), "read").take(refusal)).toBeUndefined();
  });

  it("is four fifths for one consumer, so that another starts before it", () => {
    let now = 0;
    const pace = new DatabasePace(() => now);
    const busy = pace.turnOf(payer("org", "busy"), "write");
    busy.take(refusal);
    busy.charge(LIMITS.burstUnits.value + LONGEST, 0);
    busy.end();
    // Until another request fits in the burst again.
    now += LIMITS.paceWaitMs.value + 1_000 / UNITS_PER_MS;
    expect(pace.turnOf(payer("org", "other"), "read").take(refusal)).toBeUndefined();
    expect(pace.turnOf(payer("org", "busy"), "read").take(refusal)).toBeInstanceOf(Promise);
  });

  it("has a line of its own for runners", () => {
    const pace = new DatabasePace(() => 0);
    const runner = pace.turnOf({ ...payer("org"), policy: "runner" }, "report");
    runner.take(refusal);
    runner.charge(BUDGETS.runner, 0);
    runner.end();
    const again = pace.turnOf({ ...payer("org"), policy: "runner" }, "report");
    expect(() => again.take(refusal)).toThrow("refused for");
    expect(pace.turnOf(payer("org"), "read").take(refusal)).toBeUndefined();
  });

  it("counts what a request has cost, and not what was expected of it", () => {
    const pace = new DatabasePace(() => 0);
    const expensive = pace.turnOf(payer("org"), "list");
    expensive.take(refusal);
    expensive.charge(LIMITS.burstUnits.value / 2, 0);
    expensive.end();
    for (let sent = 0; sent < 10; sent += 1) {
      const cheap = pace.turnOf(payer("other"), "list");
      expect(cheap.take(refusal)).toBeUndefined();
      cheap.charge(1, 0);
      cheap.end();
    }
  });

  it("exempts what no budget refuses, until it has cost a burst more than it has changed", () => {
    let now = 0;
    const pace = new DatabasePace(() => now);
    const end = (organizationId: string, units: number, rowsWritten: number) => {
      const turn = pace.turnOf(payer(organizationId), "delete");
      turn.charge(units, rowsWritten);
      turn.end();
      return pace.turnOf(payer(organizationId, "grace"), "cancel").mayExceedBudget();
    };
    const burst = LIMITS.burstUnits.value;
    expect(end("org", 10 * burst + 50, (10 * burst) / 50)).toBe(true);
    expect(end("org", burst - 50, 0)).toBe(true);
    expect(end("org", 50, 0)).toBe(false);
    expect(end("org", 10 * burst, (20 * burst) / 50)).toBe(false);
    expect(end("other", 1, 0)).toBe(true);
    now += 100 / (UNITS_PER_MS / 5);
    expect(end("org", 0, 0)).toBe(true);

    const read = pace.turnOf(payer("third"), "read");
    read.take(refusal);
    read.charge(2 * burst, 0);
    read.end();
    expect(end("third", 0, 0)).toBe(true);
    const runner = pace.turnOf({ ...payer("org"), policy: "runner" }, "start");
    runner.charge(10 * burst, 0);
    runner.end();
    expect(runner.mayExceedBudget()).toBe(true);
  });
});

describe("an organization whose requests have cost more than its pace", () => {
  let world: World;
  let other: World;
  let pool: Pool;
  let environmentId: string;

  beforeAll(async () => {
    [world, other] = await Promise.all([newWorld(), newWorld()]);
    ({ environmentId, pool } = await newDeployableProject(world));
  });

  it("is refused with the headers of its budget, except what ends something, and nobody else is", async () => {
    let cost: Partial<D1Meta> = {};
    const worker = new Instrumented({ database: reportingDatabase(() => cost) });
    const via = (client: Client) => client.via(worker.fetch);
    const member = await join(world);
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    // Far less than the budget, so that another isolate admits requests.
    cost = { rows_read: LIMITS.burstUnits.value + 2 * LONGEST };
    expect((await via(world.client).get("/v1/projects")).status).toBe(200);
    cost = {};
    for (const { client } of [world, member]) {
      const refused = await via(client).get("/v1/projects");
      expect([refused.status, refused.body.code]).toEqual([429, "rate"]);
      expect(refused.headers.get("ratelimit-policy")).toMatch(/^"organization";/);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    const cancel = `/v1/deployments/${attempt.deploymentId}/cancel`;
    expect((await via(world.client).request("PATCH", cancel)).status).toBe(200);
    expect((await via(other.client).get("/v1/projects")).status).toBe(200);
    expect((await world.client.get("/v1/projects")).status).toBe(200);
  });

  it("is also refused what ends something, once that has cost much and changed little", async () => {
    const [wasteful, effective] = await Promise.all([newWorld(), newWorld()]);
    let cost: Partial<D1Meta> = {};
    const worker = new Instrumented({ database: reportingDatabase(() => cost) });
    const projectsOf = async ({ client }: World) => [
      (await newProject(client)).id,
      (await newProject(client)).id,
    ];
    const [first, second] = await projectsOf(effective);
    const [kept] = await projectsOf(wasteful);
    const rows = LIMITS.burstUnits.value + 2 * LONGEST;
    const remove = async ({ client }: World, id: string) =>
      (await client.via(worker.fetch).delete(`/v1/projects/${id}`)).status;
    cost = { rows_read: rows, rows_written: rows / 25 };
    expect(await remove(effective, first)).toBe(204);
    cost = { rows_read: rows, rows_written: 0 };
    expect(await remove(wasteful, first)).toBe(404);
    cost = {};
    expect(await remove(effective, second)).toBe(204);
    expect(await remove(wasteful, kept)).toBe(429);
    expect((await wasteful.client.delete(`/v1/projects/${kept}`)).status).toBe(204);
  });

  it("waits for a short time, and is served then", async () => {
    let cost: Partial<D1Meta> = {};
    const worker = new Instrumented({ database: reportingDatabase(() => cost) });
    const client = other.client.via(worker.fetch);
    cost = { rows_read: LIMITS.burstUnits.value + 100 * UNITS_PER_MS };
    await client.get("/v1/projects");
    cost = {};
    const sent = performance.now();
    expect((await client.get("/v1/projects")).status).toBe(200);
    expect(performance.now() - sent).toBeGreaterThan(20);
  });
});
