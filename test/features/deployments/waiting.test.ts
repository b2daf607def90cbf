import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newWorld,
  type Pool,
} from "../../support/world.ts";

const ONLINE_MS = LIMITS.runnerOnlineMs.value;
const FIFO = { queue: "fifo" };
const TIME = expect.stringMatching(/^20.*Z$/);

const shop = useShop();

const codesOf = (reasons: readonly Parsed[] | undefined) => reasons?.map(({ code }) => code);

const nameOf = async ({ id }: Pick<Pool, "id">): Promise<string> =>
  (await shop.world.client.get(`/v1/orgs/${shop.world.id}/runner-pools/${id}`)).body.name;

/** As if the runners of the pool had asked for work this long before. */
const age = ({ id }: Pick<Pool, "id">, ms: number) =>
  env.DB.prepare("update runners set last_seen_at = last_seen_at - ?2 where pool_id = ?1")
    .bind(id, ms)
    .run();

const startsAfter = (id: string) => ({
  code: "deployment",
  message: `It starts after the deployment ${id} of its environment has ended.`,
  deployment_id: id,
});

const takenBy = (pools: string) =>
  `A runner of the ${pools} takes it once its pool has no older deployment waiting.`;

describe("a queued deployment", () => {
  it("waits for a runner to ask: for one that is online, or else for one to be started", async () => {
    const name = await nameOf(shop.pool);
    const created = await shop.deploy();
    const none = {
      code: "runner",
      message: `No runner of the pool "${name}" has asked for work in the last 5 minutes: start one.`,
      pools: [{ id: shop.pool.id, name, online: false }],
    };
    expect(created["waiting_for"]).toEqual([none]);
    expect(await shop.reasons(created.id)).toEqual([none]);
    // One that asks for another deployment alone takes no other.
    const other = await shop.deploy(FIFO);
    await claim(shop.pool.runner, undefined, { deployment_id: other.id, runner: { name: "ci" } });
    expect(await shop.reasons(created.id)).toEqual([none]);
    const online = {
      code: "runner",
      message: takenBy(`pool "${name}"`),
      pools: [{ id: shop.pool.id, name, online: true, last_asked_at: TIME }],
    };
    const { body: offer } = await claim(shop.pool.runner, undefined, { runner: { name: "any" } });
    await new Attempt(shop.pool.runner, offer).post("release");
    expect(await shop.reasons(created.id)).toEqual([online]);
    await age(shop.pool, ONLINE_MS + 1_000);
    const offline = { ...none, pools: [{ ...none.pools[0], last_asked_at: TIME }] };
    expect(await shop.reasons(created.id)).toEqual([offline]);
    expect(await shop.reasons(other.id)).toEqual([startsAfter(created.id), offline]);
  });

  it("waits for no runner once it is offered to one, and for nothing once it has started", async () => {
    const { id } = await shop.deploy();
    const late = await Attempt.claim(shop.pool.runner);
    const offered = {
      code: "runner",
      message: "A runner has been offered it, and is about to start it.",
      pools: [{ id: shop.pool.id, online: true }],
    };
    expect(await shop.reasons(id)).toMatchObject([offered]);
    await env.DB.prepare("update attempts set offered_until = 0").run();
    expect((await shop.reasons(id))[0]?.["message"]).toMatch(/^A runner of the pool/);
    const attempt = await Attempt.claim(shop.pool.runner);
    expect(await shop.reasons(id)).toMatchObject([offered]);
    expect((await late.post("start")).status).toBe(409);
    expect((await attempt.post("start")).status).toBe(200);
    expect(await shop.read(id)).not.toHaveProperty("waiting_for");
  });

  it("waits for the deployment that is active in its environment, or else for the first before it", async () => {
    await claim(shop.pool.runner);
    const [first, second, third] = [
      await shop.deploy(FIFO),
      await shop.deploy(FIFO),
      await shop.deploy(FIFO),
    ];
    const elsewhere = await shop.newEnvironment("elsewhere");
    const unrelated = await newDeployment(shop.world.client, elsewhere, FIFO);
    expect(codesOf(unrelated["waiting_for"])).toEqual(["pool"]);
    expect(second["waiting_for"]).toEqual([startsAfter(first.id)]);
    expect(await shop.reasons(third.id)).toEqual([startsAfter(first.id)]);
    expect(codesOf(await shop.reasons(first.id))).toEqual(["runner"]);
    const attempt = await Attempt.started(shop.pool.runner);
    expect(await shop.read(first.id)).not.toHaveProperty("waiting_for");
    expect(await shop.reasons(second.id)).toEqual([startsAfter(first.id)]);
    // Its runner executes a deployment, so it is online although it does not ask.
    await age(shop.pool, ONLINE_MS + 1_000);
    expect(await shop.reasons(third.id)).toEqual([startsAfter(first.id)]);
    await env.DB.prepare("update attempts set lease_until = 0 where state = 'running'").run();
    expect(codesOf(await shop.reasons(third.id))).toEqual(["deployment", "runner"]);
    await attempt.succeed();
    expect(await shop.read(first.id)).not.toHaveProperty("waiting_for");
    expect(codesOf(await shop.reasons(second.id))).toEqual(["runner"]);
    expect(await shop.reasons(third.id)).toContainEqual(startsAfter(second.id));
    await shop.world.client.patch(`/v1/deployments/${second.id}/cancel`);
    expect(await shop.read(second.id)).not.toHaveProperty("waiting_for");
    expect(codesOf(await shop.reasons(third.id))).toEqual(["runner"]);
  });

  it("is not next while its pool has an older one in another environment, unless it is asked for alone", async () => {
    const elsewhere = await shop.newEnvironment("elsewhere");
    const both = await newPool(shop.world, [shop.environmentId, elsewhere]);
    await claim(both.runner);
    const [older, id] = [
      await newDeployment(shop.world.client, elsewhere, {}),
      (await shop.deploy()).id,
    ];
    const reasons = await shop.reasons(id);
    expect(codesOf(reasons)).toEqual(["runner"]);
    expect(reasons[0]?.["message"]).toMatch(
      / takes it once its pool has no older deployment waiting\.$/,
    );
    const { body } = await claim(both.runner);
    expect(body.deployment.id).toBe(older.id);
    const own = await claim(both.runner, undefined, { deployment_id: id });
    expect(own.body.deployment.id).toBe(id);
  });

  it("waits for a runner to be started while all others execute the only deployments that they have asked for", async () => {
    const [second, elsewhere] = [
      await shop.newEnvironment("second"),
      await shop.newEnvironment("elsewhere"),
    ];
    const alone = await newPool(shop.world, [shop.environmentId, elsewhere]);
    const any = await newPool(shop.world, [second, elsewhere]);
    const own = await shop.deploy();
    await newDeployment(shop.world.client, second, {});
    const { body } = await claim(alone.runner, undefined, { deployment_id: own.id });
    expect((await new Attempt(alone.runner, body).post("start")).status).toBe(200);
    const attempt = await Attempt.started(any.runner);
    for (const each of [alone, any]) await age(each, ONLINE_MS + 1_000);
    const { id } = await newDeployment(shop.world.client, elsewhere, {});
    const online = async () => {
      const [reason] = await shop.reasons(id);
      const isOnline = ({ id: poolId }: Pool) =>
        reason?.["pools"].find((each: Parsed) => each.id === poolId).online;
      return [isOnline(alone), isOnline(any), reason?.["message"].endsWith("start one.")];
    };
    expect(await online()).toEqual([false, true, false]);
    await attempt.succeed();
    expect(await online()).toEqual([false, false, true]);
  });

  it("waits for a pool while none of its organization has the environment", async () => {
    const elsewhere = await shop.newEnvironment("elsewhere");
    const first = await newDeployment(shop.world.client, elsewhere, FIFO);
    const second = await newDeployment(shop.world.client, elsewhere, FIFO);
    const none = { code: "pool", message: "No runner pool includes this environment." };
    expect(first["waiting_for"]).toEqual([none]);
    expect(second["waiting_for"]).toEqual([startsAfter(first.id), none]);
    const [one, two] = [
      await newPool(shop.world, [elsewhere]),
      await newPool(shop.world, [elsewhere]),
    ];
    await claim(two.runner);
    const attempt = await Attempt.claim(one.runner).catch(() => undefined);
    expect(attempt).toBeUndefined();
  });

  it("names the pools that have asked last, at most ten", async () => {
    const elsewhere = await shop.newEnvironment("elsewhere");
    const { id } = await newDeployment(shop.world.client, elsewhere, {});
    const pools = [];
    for (let at = 0; at < 12; at += 1) pools.push(await newPool(shop.world, [elsewhere]));
    const path = (each: Pool) => `/v1/orgs/${shop.world.id}/runner-pools/${each.id}`;
    const [silent, last, ...others] = pools;
    if (!silent || !last) throw new Error("There are no pools");
    await shop.world.client.patch(path(last), { name: "last ש" });
    for (const each of [...others, last]) {
      await env.DB.prepare("insert into runners select ?1, ?2, ?1, ?1, 'n', null, null, ?3, ?3")
        .bind(each.id, shop.world.id, Date.now() + (each === last ? 1 : -1_000))
        .run();
    }
    const [reason] = await shop.reasons(id);
    expect(reason?.["pools"]).toHaveLength(LIMITS.waitingPools.value);
    expect(reason?.["pools"][0]).toMatchObject({ id: last.id, name: "last ש" });
    expect(JSON.stringify(reason)).not.toContain(silent.id);
    expect(reason?.["message"]).toMatch(
      /^A runner of the pools "last ש", "n-.* takes it once its pool has no older deployment waiting\.$/,
    );
  });
});

describe("waiting_for", () => {
  it("is in the responses that create, redeploy and promote, and in their repeats", async () => {
    const { id } = await shop.deploy();
    await (await Attempt.started(shop.pool.runner)).succeed();
    const staging = await shop.newEnvironment("staging");
    const requests: [string, object][] = [
      [`/v1/environments/${shop.environmentId}/deployments`, {}],
      [`/v1/deployments/${id}/redeploy`, {}],
      [`/v1/deployments/${id}/promote`, { environment_id: staging }],
    ];
    for (const [path, body] of requests) {
      const headers = { "idempotency-key": crypto.randomUUID() };
      const first = await shop.world.client.request("POST", path, body, headers);
      expect(first.status).toBe(201);
      expect(codesOf(first.body["waiting_for"])).toEqual([
        path.endsWith("promote") ? "pool" : "runner",
      ]);
      const own = await shop.world.client.get(`/v1/deployments/${first.body.id}`);
      expect([own.body, own.headers.get("etag")]).toEqual([first.body, first.headers.get("etag")]);
      await newPool(shop.world, [path.endsWith("promote") ? staging : shop.environmentId]);
      const repeat = await shop.world.client.request("POST", path, body, headers);
      expect([repeat.headers.get("idempotency-replayed"), repeat.body]).toEqual([
        "true",
        first.body,
      ]);
    }
  });

  it("is in no list, and in nothing that a runner gets", async () => {
    await shop.deploy();
    const lists = ["/v1/deployments", `/v1/environments/${shop.environmentId}/deployments`];
    for (const path of lists) {
      const { body } = await shop.world.client.get(path);
      expect(body.data).toMatchObject([{ status: "queued" }]);
      expect(body.data[0]).not.toHaveProperty("waiting_for");
    }
    const { body } = await claim(shop.pool.runner);
    expect(body.deployment).toMatchObject({ status: "queued" });
    expect(body.deployment).not.toHaveProperty("waiting_for");
  });

  it("names no deployment and no pool of another organization", async () => {
    const other = await newWorld();
    const theirs = await newDeployableProject(other);
    await newDeployment(other.client, theirs.environmentId);
    await claim(theirs.pool.runner);
    const created = await shop.deploy();
    expect(JSON.stringify(created["waiting_for"])).not.toContain(theirs.pool.id);
    expect(created["waiting_for"][0]["pools"].map(({ id }: Parsed) => id)).toEqual([shop.pool.id]);
  });

  /** Returns a function that reads a deployment, and returns the rows that its one statement has read. */
  async function meter() {
    const worker = new Instrumented();
    const { client } = await newKey(shop.world);
    const caller: Client = client.via(worker.fetch);
    await caller.get("/v1/orgs");
    return async (deploymentId: string) => {
      worker.forget();
      expect((await caller.get(`/v1/deployments/${deploymentId}`)).status).toBe(200);
      expect(worker.database).toHaveLength(1);
      const [{ sql, params }] = worker.database.flatMap(({ statements }) => statements) as [
        { sql: string; params: unknown[] },
      ];
      const { meta } = await env.DB.prepare(sql)
        .bind(...params)
        .all();
      return meta.rows_read;
    };
  }

  it("costs no statement, and reads few rows however long the history and the queue are", async () => {
    const { id } = await shop.deploy(FIFO);
    const waiting = await shop.deploy(FIFO);
    const rowsOf = await meter();
    const before = await rowsOf(waiting.id);
    expect(before).toBeLessThan(30);
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
       insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
         queue, patch, configuration, created_at, updated_at)
       select 'x' || i, organization_id, project_id, environment_id, -i, 'superseded', 'superseded', 'fifo',
         '[]', '', 0, 0 from n join deployments on deployments.id = ?`,
    )
      .bind(id)
      .run();
    expect(await rowsOf(waiting.id)).toBeLessThan(30);
  });

  it("reads few rows however many pools have the environment, with whatever runners", async () => {
    const { id } = await shop.deploy(FIFO);
    const rowsOf = await meter();
    const elsewhere = await shop.newEnvironment("elsewhere");
    const { id: other } = await newDeployment(shop.world.client, elsewhere, {});
    const before = await rowsOf(id);
    const numbers = (most: number) =>
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${most})`;
    const { results: columns } = await env.DB.prepare("pragma table_info(runner_pools)").all<{
      name: string;
    }>();
    const copied = columns.map(({ name }) => {
      if (name === "id") return "substr(id, 1, 18) || replace(1000 + i, '0', 'a')";
      return name === "name" ? "'pool ' || i" : name;
    });
    const isMany = "name like 'pool %'";
    await env.DB.batch([
      env.DB.prepare(
        `${numbers(300)} insert into runner_pools select ${copied} from n join runner_pools where id = ?`,
      ).bind(shop.pool.id),
      env.DB.prepare(
        `insert into runner_pool_environments select id, ?, organization_id from runner_pools where ${isMany}`,
      ).bind(shop.environmentId),
      env.DB.prepare(
        `${numbers(60)}, pool as (select * from runner_pools where ${isMany}) insert into runners
           select pool.name || ' ' || i, organization_id, pool.id, 'token', i, null, 'wanted ' || i, 0, ? + i
           from n join pool`,
      ).bind(Date.now()),
    ]);
    const rows = await rowsOf(id);
    expect({ rows, isBounded: rows - before < 600 }).toMatchObject({ isBounded: true });
    const [reason] = await shop.reasons(id);
    expect(reason?.["pools"]).toHaveLength(LIMITS.waitingPools.value);
    expect(reason?.["message"]).toMatch(/: start one\.$/);
    await env.DB.prepare(
      "update runners set wanted_id = ? where id in ('pool 40 3', 'pool 50 7', 'pool 260 9')",
    )
      .bind(id)
      .run();
    await env.DB.prepare("update runners set wanted_id = null where id = 'pool 60 5'").run();
    const online = (await shop.reasons(id))[0]?.["pools"].filter((each: Parsed) => each["online"]);
    // The last one is beyond the pools that are read.
    expect(online.map(({ name }: Parsed) => name)).toEqual(["pool 50", "pool 60", "pool 40"]);
    expect(await rowsOf(other)).toBeLessThan(30);
  });
});
