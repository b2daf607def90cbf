import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt, claim } from "../support/runner.ts";
import { useShop } from "../support/shop.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newToken,
} from "../support/world.ts";

const ONLINE_MS = LIMITS.runnerOnlineMs.value;
const SAVED_MS = LIMITS.runnerSavedMs.value;
const MOST = LIMITS.runnersOfPool.value;
const TIME = expect.stringMatching(/^20.*Z$/);

const shop = useShop();

const pathOf = (poolId: string) => `/v1/orgs/${shop.world.id}/runner-pools/${poolId}/runners`;

async function runnersOf(poolId: string, query = ""): Promise<Parsed[]> {
  const { client } = await newKey(shop.world);
  const { status, body } = await client.get(`${pathOf(poolId)}${query}`);
  expect(status).toBe(200);
  return body.data;
}

const ask = (runner: Client, name?: string, fields: object = {}) =>
  claim(runner, undefined, { ...(name !== undefined && { runner: { name } }), ...fields });

const namesOf = (runners: readonly Parsed[]) => runners.map(({ name }) => name).toSorted();

/** As if the runners of the pool had asked for work this long before. */
const age = (poolId: string, ms: number) =>
  env.DB.prepare("update runners set last_seen_at = last_seen_at - ?2 where pool_id = ?1")
    .bind(poolId, ms)
    .run();

async function countRows(poolId: string): Promise<number> {
  const row = await env.DB.prepare("select count(*) as n from runners where pool_id = ?")
    .bind(poolId)
    .first<number>("n");
  return Number(row);
}

describe("the runners of a pool", () => {
  it("are those that have asked for work, with what they send, and are idle", async () => {
    const other = await newToken(shop.world, shop.pool);
    const elsewhere = await newPool(shop.world, [shop.environmentId]);
    expect(await runnersOf(shop.pool.id)).toEqual([]);
    await claim(shop.pool.runner, undefined, { runner: { name: "builder-1", version: "1.4.0" } });
    await ask(other.runner);
    await ask(elsewhere.runner, "elsewhere");
    const idle = { id: expect.any(String), state: "idle", created_at: TIME, last_seen_at: TIME };
    const runners = await runnersOf(shop.pool.id, "?sort_by=created_at");
    expect(runners).toEqual([
      {
        ...idle,
        name: "builder-1",
        version: "1.4.0",
        token: { id: shop.pool.tokenId, name: "test" },
      },
      { ...idle, token: { id: other.tokenId, name: "test" } },
    ]);
    expect(new Set(runners.map(({ id }) => id)).size).toBe(2);
    expect(namesOf(await runnersOf(elsewhere.id))).toEqual(["elsewhere"]);
  });

  it("are busy from the offer to the end, also when they have not asked for long", async () => {
    const { environmentId: second } = await newDeployableProject(shop.world);
    const both = await newPool(shop.world, [shop.environmentId, second]);
    const first = await newDeployment(shop.world.client, shop.environmentId);
    await ask(both.runner, "idle");
    const offered = await ask(both.runner, "busy");
    const stateOf = async () =>
      Object.fromEntries(
        (await runnersOf(both.id)).map(({ name, state, deployment_id }) => [
          name,
          [state, deployment_id],
        ]),
      );
    // The first to ask has got it.
    expect(offered.status).toBe(204);
    expect(await stateOf()).toEqual({ idle: ["busy", first.id], busy: ["idle", undefined] });
    const { id } = await newDeployment(shop.world.client, second);
    const { body } = await ask(both.runner, "busy");
    const attempt = new Attempt(both.runner, body);
    await attempt.post("start");
    expect((await stateOf())["busy"]).toEqual(["busy", id]);
    await age(both.id, ONLINE_MS + 1_000);
    await env.DB.prepare("update attempts set lease_until = lease_until - 20000 where id = ?")
      .bind(body.attempt_id)
      .run();
    const seen = (await runnersOf(both.id)).find(({ name }) => name === "busy");
    expect(Date.now() - Date.parse(seen?.["last_seen_at"])).toBeLessThan(60_000);
    await attempt.post("heartbeat");
    const later = (await runnersOf(both.id)).find(({ name }) => name === "busy");
    expect(Date.parse(later?.["last_seen_at"])).toBeGreaterThan(Date.parse(seen?.["last_seen_at"]));
    await attempt.succeed();
    // The other one has an offer, and this one has not asked for long.
    expect(await stateOf()).toEqual({ idle: ["busy", first.id] });
    await ask(both.runner, "busy");
    expect((await stateOf())["busy"]).toEqual(["idle", undefined]);
  });

  it("are not listed when they have not asked for five minutes", async () => {
    await ask(shop.pool.runner, "gone");
    await age(shop.pool.id, ONLINE_MS - 10_000);
    expect(namesOf(await runnersOf(shop.pool.id))).toEqual(["gone"]);
    await age(shop.pool.id, 11_000);
    await ask(shop.pool.runner, "here");
    expect(namesOf(await runnersOf(shop.pool.id))).toEqual(["here"]);
    await ask(shop.pool.runner, "gone");
    expect(namesOf(await runnersOf(shop.pool.id))).toEqual(["gone", "here"]);
  });

  it("may ask for one deployment alone", async () => {
    const { id } = await newDeployment(shop.world.client, shop.environmentId, { queue: "fifo" });
    const next = await newDeployment(shop.world.client, shop.environmentId, { queue: "fifo" });
    await ask(shop.pool.runner, "ci", { deployment_id: next.id });
    await ask(shop.pool.runner, "any");
    const found = await runnersOf(shop.pool.id);
    expect(found.map(({ name, wanted_deployment_id: wanted }) => [name, wanted])).toEqual([
      ["any", undefined],
      ["ci", next.id],
    ]);
    expect(found.find(({ name }) => name === "any")).toMatchObject({ deployment_id: id });
  });

  it("have no token once it is revoked, and are deleted with their pool", async () => {
    const [kept, removed] = [shop.pool, await newPool(shop.world, [shop.environmentId])];
    await ask(kept.runner, "kept");
    await ask(removed.runner, "removed");
    const pools = `/v1/orgs/${shop.world.id}/runner-pools`;
    await shop.world.client.delete(`${pools}/${kept.id}/tokens/${kept.tokenId}`);
    const [found] = await runnersOf(kept.id);
    expect(found).not.toHaveProperty("token");
    expect((await shop.world.client.delete(`${pools}/${removed.id}`)).status).toBe(204);
    expect([await countRows(kept.id), await countRows(removed.id)]).toEqual([1, 0]);
  });

  it.each([
    [{ name: " " }, "runner.name"],
    [{ name: "n".repeat(101) }, "runner.name"],
    [{ name: "a\nb" }, "runner.name"],
    [{ version: "1" }, "runner.name"],
    [{ name: "n", version: "v".repeat(101) }, "runner.version"],
    [{ name: "n", other: 1 }, "runner.other"],
    ["n", "runner"],
  ])("do not send %j", async (runner, path) => {
    const refused = await claim(shop.pool.runner, undefined, { runner });
    expect([refused.status, refused.body.cause?.issues[0]?.path]).toEqual([400, path]);
    expect(await countRows(shop.pool.id)).toBe(0);
    const longest = { name: "n".repeat(100), version: "v".repeat(100) };
    expect((await claim(shop.pool.runner, undefined, { runner: longest })).status).toBe(204);
    expect(await runnersOf(shop.pool.id)).toMatchObject([longest]);
  });
});

describe("what is written for a runner that asks again and again", () => {
  let now: number;
  let isolates: Instrumented[];

  beforeEach(() => {
    now = Date.now();
    const clock = { now: () => now };
    isolates = [new Instrumented({ clock }), new Instrumented({ clock })];
  });

  const askEverywhere = (
    times: number,
    nameOf: (at: number) => string,
    runner = shop.pool.runner,
  ) =>
    Promise.all(
      Array.from({ length: times }, (_, at) => {
        const isolate = isolates[at % isolates.length];
        return ask(isolate ? runner.via(isolate.fetch) : runner, nameOf(at));
      }),
    );

  function rowsWritten(): number {
    const rows = isolates.flatMap(({ database }) => database.map((each) => each.rowsWritten ?? 0));
    for (const isolate of isolates) isolate.forget();
    return rows.reduce((sum, each) => sum + each, 0);
  }

  const seenAt = async () =>
    (
      await env.DB.prepare(
        "select name, last_seen_at as at from runners where pool_id = ? order by name",
      )
        .bind(shop.pool.id)
        .all<{ name: string; at: number }>()
    ).results;

  it("is one row a minute, over all isolates", async () => {
    await askEverywhere(2, () => "a");
    await askEverywhere(2, () => "b");
    const asked = now;
    rowsWritten();
    for (const step of [0, 1_000, SAVED_MS - 2_000]) {
      now += step;
      const replies = await askEverywhere(20, (at) => (at % 3 === 0 ? "a" : "b"));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([204]));
    }
    expect(rowsWritten()).toBe(0);
    expect(await seenAt()).toEqual([
      { name: "a", at: asked },
      { name: "b", at: asked },
    ]);
    now = asked + SAVED_MS;
    await askEverywhere(20, () => "a");
    // The row, and its place in the index of the times.
    expect(rowsWritten()).toBe(2);
    expect(await seenAt()).toEqual([
      { name: "a", at: now },
      { name: "b", at: asked },
    ]);
  });

  it("has what a runner sends since, in any isolate: another version, none, or another name", async () => {
    const shown = async () =>
      (await runnersOf(shop.pool.id, "?sort_by=created_at"))
        .map(({ name, version }) => ({ name, version }))
        .toSorted((one, other) => one.name.localeCompare(other.name));
    const askAs = async (at: number, runner: { name: string; version?: string }) => {
      now += SAVED_MS;
      const isolate = isolates[at] as Instrumented;
      await claim(shop.pool.runner.via(isolate.fetch), undefined, { runner });
    };
    for (const [at, version] of [
      [0, "1.4.0"],
      [1, "1.5.0"],
      [0, "1.6.0"],
      [1, undefined],
    ] as const) {
      await askAs(at, { name: "a", ...(version && { version }) });
      expect(await shown()).toEqual([{ name: "a", version }]);
    }
    await askAs(0, { name: "b", version: "1.6.0" });
    expect(await shown()).toEqual([
      { name: "a", version: undefined },
      { name: "b", version: "1.6.0" },
    ]);
  });

  it("shows who has taken the row of another runner in a full pool", async () => {
    const other = await newToken(shop.world, shop.pool);
    await askEverywhere(MOST, (at) => `old-${at}`);
    now += SAVED_MS;
    const runner = { name: "new", version: "2.0.0" };
    const client = other.runner.via((isolates[0] as Instrumented).fetch);
    await claim(client, undefined, { runner });
    expect(await countRows(shop.pool.id)).toBe(MOST);
    const listed = await runnersOf(shop.pool.id, "?limit=100");
    expect(listed.filter(({ name }) => name === "new")).toMatchObject([
      { ...runner, token: { id: other.tokenId }, created_at: new Date(now).toISOString() },
    ]);
  });

  it("is at most as many rows as a pool keeps, whatever names it sends", async () => {
    const other = await newToken(shop.world, shop.pool);
    await ask(other.runner.via((isolates[0] as Instrumented).fetch), "honest");
    now += 1_000;
    const made = await askEverywhere(MOST + 30, (at) => `made-up-${at}`);
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([204]));
    expect(await countRows(shop.pool.id)).toBe(MOST);
    expect(namesOf(await seenAt())).toContain("honest");
    rowsWritten();
    await askEverywhere(30, (at) => `again-${at}`);
    expect(rowsWritten()).toBe(0);
    await askEverywhere(MOST, (at) => `made-up-${at}`);
    expect(rowsWritten()).toBe(0);
    const elsewhere = await newPool(shop.world, [shop.environmentId]);
    await ask(elsewhere.runner, "elsewhere");
    // The oldest goes first, once it is a minute old.
    now += SAVED_MS - 1_000;
    const ids = async () =>
      (await env.DB.prepare("select id, name from runners").all<{ id: string; name: string }>())
        .results;
    const before = await ids();
    await askEverywhere(2, (at) => `late-${at}`);
    const names = namesOf(await seenAt());
    expect(names.filter((name) => name?.startsWith("late"))).toHaveLength(1);
    expect(names).not.toContain("honest");
    expect(names).toHaveLength(MOST);
    const known = new Set(before.map(({ id }) => id));
    const added = (await ids()).filter(({ id }) => !known.has(id));
    expect(added.map(({ name }) => name.startsWith("late"))).toEqual([true]);
    expect(namesOf(await runnersOf(elsewhere.id))).toEqual(["elsewhere"]);
    // One that has a row keeps it.
    now += SAVED_MS;
    const [kept = ""] = names.filter((name) => name?.startsWith("late"));
    await askEverywhere(1, () => kept);
    expect(namesOf(await seenAt())).toEqual(names);
    expect((await ids()).filter(({ id }) => !known.has(id))).toEqual(added);
  });
});
