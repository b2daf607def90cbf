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
    first.charge(10);
    first.end();
    expect(pace.turnOf(payer("org"), "read").take(refusal)).toBeUndefined();
    const large = pace.turnOf(payer("org"), "write");
    large.take(refusal);
    large.charge(LIMITS.burstUnits.value + LONGEST * 2);
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
    busy.charge(LIMITS.burstUnits.value + LONGEST);
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
    runner.charge(BUDGETS.runner);
    runner.end();
    const again = pace.turnOf({ ...payer("org"), policy: "runner" }, "report");
    expect(() => again.take(refusal)).toThrow("refused for");
    expect(pace.turnOf(payer("org"), "read").take(refusal)).toBeUndefined();
  });

  it("counts what a request has cost, and not what was expected of it", () => {
    const pace = new DatabasePace(() => 0);
    const expensive = pace.turnOf(payer("org"), "list");
    expensive.take(refusal);
    expensive.charge(LIMITS.burstUnits.value / 2);
    expensive.end();
    for (let sent = 0; sent < 10; sent += 1) {
      const cheap = pace.turnOf(payer("other"), "list");
      expect(cheap.take(refusal)).toBeUndefined();
      cheap.charge(1);
      cheap.end();
    }
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
