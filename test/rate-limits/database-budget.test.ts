import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { UNITS } from "../../src/lib/database-units.ts";
import type { LimitedRequest, LimiterNamespace } from "../../src/rate-limits/limited-request.ts";
import { Limiter } from "../../src/rate-limits/limiter.ts";
import { BUDGETS, type BudgetName, organizationLimit } from "../../src/rate-limits/policies.ts";
import type { StoredUse } from "../../src/rate-limits/shared-use.ts";
import { ISOLATE_REPORTED_UNITS, UnreportedCosts } from "../../src/rate-limits/unreported-costs.ts";
import { Client, type Reply } from "../support/client.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { spend } from "../support/full-window.ts";
import { Attempt, claim } from "../support/runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newProject,
  newToken,
  newWorld,
  type Person,
  type World,
} from "../support/world.ts";

const CALLER = BUDGETS.caller;
const RUNNER = BUDGETS.runner;
const FIFTH = CALLER / 5;
const ORGANIZATION = `"organization";q=${organizationLimit("default")};w=60`;

function expectRefused({ status, headers, body }: Reply): void {
  expect([status, body.code]).toEqual([429, "rate"]);
  expect(headers.get("ratelimit-policy")).toMatch(/^"organization";/);
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

/** What the organization was charged in the last minute, once it is at least `least`. */
async function charged(organizationId: string, budget: BudgetName, least: number) {
  const object = env.ORGANIZATION_LIMITER.getByName(organizationId);
  return vi.waitUntil(
    () =>
      runInDurableObject(object, async (_, { storage }) => {
        const stored = await storage.get<StoredUse>(`budget:${budget}`);
        const total = stored?.log.reduce((sum, [, units]) => sum + units, 0) ?? 0;
        return total >= least ? { total, consumers: stored?.consumers ?? [] } : undefined;
      }),
    { interval: 50, timeout: 300_000 },
  );
}

const variablesOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `${prefix}_${at}`,
    storage_method: "string",
    value: `value ${at}`,
  }));

/** More than what the requests of a test cost. */
const REST = 200_000;

/** Another key of the membership: one that is in use has prefetched tokens. */
const freshKey = async (world: World, { membershipId }: Pick<Person, "membershipId">) =>
  (await newKey(world, { membershipId, role: "member" })).client;

describe("an organization that has used four fifths of its budget of database work", () => {
  it("refuses the membership that has used them, except what ends something", async () => {
    const world = await newWorld();
    const [busy, other] = [await join(world, "admin"), await join(world)];
    const { environmentId } = await newDeployableProject(world);
    const { id: deployment } = await newDeployment(world.client, environmentId);
    const { id: project } = await newProject(busy.client);
    const fresh = await newKey(world, { membershipId: busy.membershipId, role: "admin" });
    const [first, second] = [await freshKey(world, busy), await freshKey(world, other)];
    freezeTime();
    await spend(world.id, "caller", busy.membershipId, 4 * FIFTH - REST);
    expect((await first.get("/v1/projects")).status).toBe(200);
    await spend(world.id, "caller", busy.membershipId, REST);

    const { client } = fresh;
    const refused = await client.get("/v1/projects");
    expectRefused(refused);
    expect(refused.headers.get("ratelimit-policy")).toBe(ORGANIZATION);
    expectRefused(await client.post("/v1/projects", { name: "another" }));
    expectRefused(await client.patch(`/v1/projects/${project}`, { name: "renamed" }));
    expect((await client.patch(`/v1/deployments/${deployment}/cancel`, {})).status).toBe(200);
    expect((await client.delete(`/v1/projects/${project}`)).status).toBe(204);
    const key = `/v1/orgs/${world.id}/api-keys/${busy.keyId}`;
    expect((await client.delete(key)).status).toBeLessThan(300);
    expect((await second.get("/v1/projects")).status).toBe(200);
  });

  it("refuses everyone once it has used all, until the time that the refusal names", async () => {
    const world = await newWorld();
    const [busy, light, idle] = [await join(world), await join(world), await join(world)];
    const keys = await Promise.all([light, light, idle].map((person) => freshKey(world, person)));
    freezeTime();
    await spend(world.id, "caller", busy.membershipId, 4 * FIFTH);
    await spend(world.id, "caller", light.membershipId, FIFTH - REST);
    expect((await keys[0]?.get("/v1/projects"))?.status).toBe(200);
    await spend(world.id, "caller", light.membershipId, REST);
    for (const key of keys.slice(1)) if (key) expectRefused(await key.get("/v1/projects"));
    const refused = await keys[2]?.get("/v1/projects");
    const resetMs = Number(refused?.headers.get("x-ratelimit-reset")) * 1_000;
    expect(resetMs).toBeGreaterThan(50_000);
    vi.setSystemTime(Date.now() + resetMs - 2_000);
    expect((await keys[2]?.get("/v1/projects"))?.status).toBe(429);
    vi.setSystemTime(Date.now() + 2_000);
    expect((await keys[2]?.get("/v1/projects"))?.status).toBe(200);
  });

  it("leaves the budget of its runners alone, and that of other organizations", async () => {
    const [world, elsewhere] = [await newWorld(), await newWorld()];
    const { pool } = await newDeployableProject(world);
    const fresh = await newKey(world);
    await spend(world.id, "caller", world.membershipId);
    expectRefused(await fresh.client.get("/v1/projects"));
    expect((await claim(pool.runner)).status).toBe(204);
    expect((await elsewhere.client.get("/v1/projects")).status).toBe(200);
  });
});

describe("runners that have used their budget of database work", () => {
  it("start, report ends, complete and release; they claim and report progress later", async () => {
    const world = await newWorld();
    const { project, environmentId, pool } = await newDeployableProject(world);
    const component = await world.client.post(`/v1/projects/${project.id}/components`, {
      name: "web",
    });
    const stack = await world.client.post(`/v1/environments/${environmentId}/stacks`, {
      name: "web",
      component_id: component.body.id,
    });
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.claim(pool.runner);
    await spend(world.id, "runner", pool.id, RUNNER);

    expectRefused(await claim(pool.runner));
    expectRefused(await claim((await newToken(world, pool)).runner));
    expect((await attempt.post("start")).status).toBe(200);
    expect((await attempt.post("heartbeat")).status).toBe(200);
    const progress = await attempt.report(stack.body.id, { seq: 1, status: "in_progress" });
    expectRefused(progress);
    const end = await attempt.report(stack.body.id, { seq: 1, status: "succeeded" });
    expect(end.status).toBe(200);
    expect((await attempt.succeed()).status).toBe(200);
    expect((await world.client.get(`/v1/deployments/${attempt.deploymentId}`)).body.status).toBe(
      "succeeded",
    );
    expect((await world.client.get("/v1/projects")).status).toBe(200);
  });
});

const PAYER: LimitedRequest = {
  ...{ id: "request", key: "key", organizationId: "organization", consumerId: "consumer" },
  ...{ policy: "default", version: 0, sessionId: undefined, exemptFromBudget: false },
};

/** Together they cost more than what waits for the next call. */
const REQUESTS = 8;

/** A database that answers a batch only once `answered` has ended. */
function answeringLater(answered: () => Promise<void>): D1Database {
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (query: string) => session.prepare(query),
      batch: async (statements: D1PreparedStatement[]) => {
        const results = await session.batch(statements);
        await answered();
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

describe("the cost of requests", () => {
  it("is charged to the membership that caused it, after a second", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    const path = `/v1/environments/${project.default_environment_id}/variables`;
    const reply = await world.client.put(path, {
      mode: "merge",
      variables: variablesOf("SETTING", 40),
    });
    expect(reply.status).toBe(200);
    const { total, consumers } = await charged(world.id, "caller", 40 * UNITS.rowWritten);
    expect(total).toBeLessThan(FIFTH);
    expect(consumers.map(([id]) => id)).not.toContain("");
  });

  it.each(["GET", "PUT"])(
    "is charged for a %s whose client disconnects before the database has answered",
    async (method) => {
      const world = await newWorld();
      const project = await newProject(world.client);
      const path = `/v1/environments/${project.default_environment_id}/variables`;
      const bodyOf = (prefix: string, count: number) => ({
        mode: "merge",
        variables: variablesOf(prefix, count),
      });
      expect((await world.client.put(path, bodyOf("A", 200))).status).toBe(200);
      const { total } = await charged(world.id, "caller", 200 * UNITS.rowWritten);
      const answers = Promise.withResolvers<void>();
      const asked = vi.fn();
      const app = createApp({ log: () => undefined });
      const DB = answeringLater(async () => {
        asked();
        await answers.promise;
      });
      // After a disconnect, the runtime continues only these.
      const background: Promise<unknown>[] = [];
      const waitUntil = (work: Promise<unknown>) => background.push(work);
      const abort = new AbortController();
      const send = () =>
        app.fetch(
          new Request(`https://longshore.test${path}?limit=240`, {
            method,
            headers: { "x-api-key": world.client.key ?? "", "content-type": "application/json" },
            ...(method === "PUT" && { body: JSON.stringify(bodyOf("B", 50)) }),
            signal: abort.signal,
          }),
          { ...env, DB },
          { waitUntil } as unknown as ExecutionContext,
        );
      const responses = Array.from({ length: REQUESTS }, send);
      await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(REQUESTS), 10_000);
      abort.abort();
      const ended = vi.fn();
      for (const work of background) work.finally(ended);
      expect(ended).not.toHaveBeenCalled();
      answers.resolve();
      await vi.waitFor(
        () => expect(ended.mock.calls.length).toBeGreaterThanOrEqual(REQUESTS),
        10_000,
      );
      await Promise.all(background);
      await Promise.allSettled(responses);
      await charged(world.id, "caller", total + ISOLATE_REPORTED_UNITS);
    },
    60_000,
  );

  it("is kept for the next call if a report to the key's object fails, with what is added meanwhile", async () => {
    const costs = new UnreportedCosts(() => undefined);
    const [sent, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const report = vi.fn(() => {
      sent.resolve();
      return failed.promise;
    });
    const namespace = { getByName: () => ({ report }) } as unknown as LimiterNamespace;
    const background: Promise<unknown>[] = [];
    costs.charge(namespace, PAYER, ISOLATE_REPORTED_UNITS, (work) => background.push(work));
    await sent.promise;
    costs.add(PAYER.key, 7);
    failed.reject(new Error("The object failed"));
    await Promise.all(background);
    expect(report).toHaveBeenCalledTimes(2);
    expect(costs.take(PAYER.key)?.units).toBe(ISOLATE_REPORTED_UNITS + 7);
    expect(costs.take(PAYER.key)).toBeUndefined();
  });

  it.each([false, true])(
    "is kept for the next call if the one that has it fails, overloaded: %s",
    async (overloaded) => {
      const limiter = new Limiter(systemClock, () => undefined);
      const consume = vi.fn().mockRejectedValue(Object.assign(new Error("Failed"), { overloaded }));
      const namespace = { getByName: () => ({ consume }) } as unknown as LimiterNamespace;
      limiter.costs.add(PAYER.key, 5_000);
      await limiter.consume(namespace, PAYER);
      expect(consume.mock.calls.map((args) => args.at(-1).cost.units)).toEqual(
        overloaded ? [5_000] : [5_000, 5_000],
      );
      expect(limiter.costs.take(PAYER.key)?.units).toBe(5_000);
    },
  );

  it("of runners is charged to their own budget", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    expect((await attempt.succeed()).status).toBe(200);
    const { total } = await charged(world.id, "runner", UNITS.rowWritten);
    expect(total).toBeLessThan(RUNNER / 5);
  });
});

describe("an organization that a key has founded", () => {
  const foundedBy = async (founder: World) => {
    const { body } = await founder.client.post("/v1/orgs", { name: "Founded" });
    return { id: String(body.id), client: new Client(body.api_key.key) };
  };
  const limitsOf = (id: string) =>
    env.DB.prepare("select limits_organization_id as limits from organizations where id = ?")
      .bind(id)
      .first("limits");

  it("shares the windows and the budget of its founder, also if it founds another", async () => {
    const world = await newWorld();
    const founded = await foundedBy(world);
    const grandchild = await foundedBy({ ...world, client: founded.client });
    expect([await limitsOf(founded.id), await limitsOf(grandchild.id)]).toEqual([
      world.id,
      world.id,
    ]);
    const elsewhere = await foundedBy(await newWorld());
    const people = [
      { id: founded.id, client: founded.client },
      { id: grandchild.id, client: grandchild.client },
    ];
    const fresh = [];
    for (const { id, client } of people) {
      const path = `/v1/orgs/${id}/api-keys`;
      fresh.push(new Client((await client.post(path, { name: "fresh", role: "owner" })).body.key));
    }
    await spend(world.id, "caller", world.membershipId);
    for (const client of fresh) expectRefused(await client.get("/v1/projects"));
    expect((await elsewhere.client.get("/v1/projects")).status).toBe(200);
  });

  it("has its own once its founder is deleted", async () => {
    const world = await newWorld();
    const founded = await foundedBy(world);
    const other = await foundedBy(world);
    expect((await other.client.delete(`/v1/orgs/${other.id}`)).status).toBe(204);
    expect(await limitsOf(founded.id)).toBe(world.id);
    expect((await world.client.delete(`/v1/orgs/${world.id}`)).status).toBe(204);
    expect(await limitsOf(founded.id)).toBeNull();
    await spend(world.id, "caller", world.membershipId);
    expect((await founded.client.get("/v1/projects")).status).toBe(200);
  });

  it("has its own if the first organization has founded it", async () => {
    const world = await newWorld();
    await env.DB.prepare("delete from bootstraps").run();
    await env.DB.prepare("insert into bootstraps values (1, ?, 0)").bind(world.id).run();
    const founded = await foundedBy(world);
    expect(await limitsOf(founded.id)).toBeNull();
    const grandchild = await foundedBy({ ...world, client: founded.client });
    expect(await limitsOf(grandchild.id)).toBe(founded.id);
    await spend(world.id, "caller", world.membershipId);
    expect((await founded.client.get("/v1/projects")).status).toBe(200);
  });
});
