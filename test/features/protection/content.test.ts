import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { newPreviewedDeployment as newDeployment } from "../../support/previewed-deployment.ts";
import { approve, newFreeze, protect } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { CONNECTION, newPool, newStack, type Pool } from "../../support/world.ts";

const shop = useShop({});
let production: string;
let staging: string;
let stackId: string;
let pools: { production: Pool; staging: Pool };

beforeEach(async () => {
  production = shop.environmentId;
  staging = await newEnvironment("staging");
  stackId = await newStack(shop.world.client, production, "api");
  await newStack(shop.world.client, staging, "api");
  pools = { production: shop.pool, staging: await newPool(shop.world, [staging]) };
});

const image = (tag: string) => ({ source: { registry: { image: `ghcr.io/acme/shop:${tag}` } } });
const set = (name: string, value: unknown) => ({ op: "add", path: `/${name}`, value });
const APPROVALS = { required: 1, approvers: { role: "owner" } };

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

async function newEnvironment(name: string): Promise<string> {
  return (await shop.world.client.post(`/v1/projects/${shop.project.id}/environments`, { name }))
    .body.id;
}

async function succeed(environmentId: string, pool: Pool, body: object = {}): Promise<string> {
  const { id } = await newDeployment(shop.world.client, environmentId, body);
  await (await Attempt.started(pool.runner)).succeed();
  return id;
}

const deploy = async (body: object): Promise<string> =>
  (await newDeployment(shop.world.client, production, body)).id;

/** The codes of rules and freezes alone. */
const codes = async (id: string): Promise<string[]> =>
  (await shop.reasons(id))
    .map(({ code }) => String(code))
    .filter((code) => !["runner", "deployment"].includes(code));

async function redeploy(id: string): Promise<string> {
  const reply = await shop.mona.client.post(`/v1/deployments/${id}/redeploy`, undefined);
  expect(reply.status, reply.text).toBe(201);
  return reply.body.id;
}

async function connect(fields: object): Promise<void> {
  const path = `/v1/projects/${shop.project.id}/connection`;
  const reply = await shop.world.client.put(path, { ...CONNECTION, ...fields });
  expect(reply.status, reply.text).toBe(200);
}

/** Rows as a database of the parent has them. */
async function forget(environmentId: string): Promise<void> {
  await run("delete from environment_successes where environment_id = ?", environmentId);
  await run(
    `update deployments set configuration_digest = null, start_basis = null, resulting = null, digests_due = 0
      where environment_id = ?`,
    environmentId,
  );
}

describe("a redeployment", () => {
  const RULES = { approvals: APPROVALS, exempt: ["restart", "rollback"] };
  let earlier: string;
  let newest: string;

  beforeEach(async () => {
    earlier = await succeed(production, pools.production, image("1"));
    newest = await succeed(production, pools.production, { ...image("2"), patch: [set("a", 1)] });
    await protect(shop.world.client, production, RULES);
  });

  const newComponent = async () => {
    const path = `/v1/environments/${production}/components`;
    return (await shop.world.client.post(path, { name: "admin", kind: "service" })).body.id;
  };

  it("is exempt as long as it does what has succeeded, also in a freeze", async () => {
    await shop.world.client.post(
      `/v1/projects/${shop.project.id}/freezes`,
      newFreeze({ starts_at: new Date(Date.now() - 1_000).toISOString() }),
    );
    for (const id of [earlier, newest]) expect(await codes(await redeploy(id))).toEqual([]);
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBeDefined();
  });

  it.each([
    ["a stack is renamed", async () => ({ name: "migrate" })],
    ["a stack gets another component", async () => ({ component_id: await newComponent() })],
  ])("is not exempt once %s, even after the offer", async (_, change) => {
    const path = `/v1/stacks/${stackId}`;
    const id = await redeploy(newest);
    const attempt = await Attempt.claim(pools.production.runner);
    const changed = await shop.mona.client.patch(path, await change());
    expect(changed.status, changed.text).toBe(200);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await codes(id)).toEqual(["approvals"]);
    for (const each of [earlier, newest])
      expect(await codes(await redeploy(each))).toEqual(["approvals"]);
    const preview = await shop.world.client.get(`/v1/deployments/${newest}/redeployment`);
    expect(preview.body.waiting_for.map(({ code }: Parsed) => code)).toContain("approvals");
    await shop.sweep();
    expect(await codes(await redeploy(newest))).toEqual(["approvals"]);
  });

  it("is not exempt with another connection", async () => {
    await connect({ region: "us-east-1" });
    expect(await codes(await redeploy(newest))).toEqual(["approvals"]);
  });

  it("of a success from before there were digests is exempt after a sweep, unless a stack has changed", async () => {
    await forget(production);
    const id = await redeploy(newest);
    expect(await codes(id)).toEqual(["approvals"]);
    await shop.sweep();
    expect(await codes(id)).toEqual([]);
    await forget(production);
    await shop.world.client.patch(`/v1/stacks/${stackId}`, { name: "migrate" });
    const other = await redeploy(newest);
    for (let sweeps = 0; sweeps < 2; sweeps += 1) await shop.sweep();
    expect(await codes(other)).toEqual(["approvals"]);
  });
});

describe("a success elsewhere", () => {
  const from = (fields: object = {}) => ({ from: { environment_ids: [staging], ...fields } });

  it("counts for the stacks that it had, by name", async () => {
    const noop = await newStack(shop.world.client, staging, "noop");
    await protect(shop.world.client, production, from());
    await succeed(staging, pools.staging, { ...image("1"), stack_ids: [noop] });
    const id = await deploy(image("1"));
    expect(await codes(id)).toEqual(["from"]);
    // It was called otherwise when it succeeded.
    const { data } = (await shop.world.client.get(`/v1/environments/${staging}/stacks`)).body;
    const api = data.find(({ name }: Parsed) => name === "api");
    await shop.world.client.patch(`/v1/stacks/${api.id}`, { name: "old" });
    await shop.world.client.patch(`/v1/stacks/${noop}`, { name: "api" });
    expect(await codes(id)).toEqual(["from"]);
    await succeed(staging, pools.staging, { ...image("1"), stack_ids: [noop] });
    expect(await codes(id)).toEqual([]);
  });

  it("counts together with others, of which each had some of the stacks", async () => {
    await newStack(shop.world.client, production, "web");
    const web = await newStack(shop.world.client, staging, "web");
    await protect(shop.world.client, production, from());
    const id = await deploy(image("1"));
    await succeed(staging, pools.staging, { ...image("1"), stack_ids: [web] });
    const [reason] = await shop.reasons(id);
    expect(reason?.["message"]).toBe(
      'Starts once a deployment of the same source has succeeded in "staging" with stack "api".',
    );
    const { data } = (await shop.world.client.get(`/v1/environments/${staging}/stacks`)).body;
    const rest = data.map(({ id: each }: Parsed) => each).filter((each: string) => each !== web);
    await succeed(staging, pools.staging, { ...image("1"), stack_ids: rest });
    expect(await codes(id)).toEqual([]);
    await shop.sweep();
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBe(id);
  });

  it("opens when the last of its stacks has been there for long enough", async () => {
    await newStack(shop.world.client, production, "web");
    const qa = await newEnvironment("qa");
    await newStack(shop.world.client, qa, "web");
    const rule = { environment_ids: [staging, qa], minimum_seconds: 7_200 };
    await protect(shop.world.client, production, { from: rule });
    const now = Date.now();
    const finish = (id: string, at: number) =>
      run("update deployments set finished_at = ?2 where id = ?1", id, at);
    const api = await succeed(staging, pools.staging, image("1"));
    const web = await succeed(qa, await newPool(shop.world, [qa]), image("1"));
    const id = await deploy(image("1"));
    for (const [first, last] of [
      [api, web],
      [web, api],
    ] as const) {
      await finish(first, now - 3_600_000);
      await finish(last, now - 1_800_000);
      const [reason] = await shop.reasons(id);
      expect(Date.parse(reason?.["opens_at"])).toBe(now - 1_800_000 + 7_200_000);
    }
  });

  it("has been there until the next one started, whatever came after that", async () => {
    const rule = { environment_ids: [staging], minimum_seconds: 3_600 };
    await protect(shop.world.client, production, { from: rule });
    const noon = Date.now() - 12 * 3_600_000;
    for (const [at, minutes] of [0, 30, 180].entries()) {
      const time = noon + minutes * 60_000;
      const id = await succeed(staging, pools.staging, image(String(at)));
      const sql = "update deployments set started_at = ?2, finished_at = ?2 where id = ?1";
      await run(sql, id, time);
    }
    const held = [];
    for (const tag of ["0", "1", "2"]) held.push(await codes(await deploy(image(tag))));
    expect(held).toEqual([["from"], [], []]);
  });

  it("does not count in an environment that was deleted", async () => {
    await protect(shop.world.client, production, from());
    await succeed(staging, pools.staging, image("1"));
    const id = await deploy(image("1"));
    expect(await codes(id)).toEqual([]);
    const attempt = await Attempt.claim(pools.production.runner);
    expect((await shop.world.client.delete(`/v1/environments/${staging}`)).status).toBe(204);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await codes(id)).toEqual(["from"]);
  });

  it("is compared by its configuration without a source", async () => {
    await protect(shop.world.client, production, from());
    await succeed(staging, pools.staging, { patch: [set("a", 1)] });
    const other = await deploy({ patch: [set("a", 2)] });
    expect((await shop.reasons(other))[0]).toMatchObject({
      code: "from",
      message: 'Starts once a deployment of the same configuration has succeeded in "staging".',
    });
    const same = await deploy({ patch: [set("a", 1)] });
    expect(await codes(same)).toEqual([]);
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBe(same);
  });

  it("is compared outside of some paths once its digest is there", async () => {
    const except = ["/replicas", "/hosts/1", "/a~1b/c"];
    const patch = (replicas: number, hosts: string[], search: boolean) => [
      set("replicas", replicas),
      set("hosts", hosts),
      set("search", search),
      set("a~1b", { c: replicas, d: 1 }),
    ];
    await succeed(staging, pools.staging, { patch: patch(1, ["a"], true) });
    await protect(shop.world.client, production, from({ same_configuration: { except } }));
    const same = await deploy({ patch: patch(2, ["a", "b"], true) });
    expect(await codes(same)).toEqual(["from"]);
    await shop.sweep();
    expect(await codes(same)).toEqual([]);
    for (const changed of [
      patch(1, ["a"], false),
      patch(1, ["b"], true),
      patch(1, ["a", "b", "c"], true),
      [...patch(1, ["a"], true), set("a~1b/d", 2)],
    ]) {
      const id = await deploy({ patch: changed });
      await shop.sweep();
      expect([changed, await codes(id)]).toEqual([changed, ["from"]]);
    }
    const again = await deploy({ patch: patch(9, ["a"], true) });
    expect(await codes(again)).toEqual([]);
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBe(again);
  });

  it("from before there were digests counts after a sweep, unless a stack has changed", async () => {
    await succeed(staging, pools.staging, { ...image("1"), patch: [set("a", 1)] });
    await forget(staging);
    await protect(shop.world.client, production, from({ same_configuration: { except: [] } }));
    await run("update deployments set digests_due = 0");
    const body = { ...image("1"), patch: [set("a", 1)] };
    const id = await deploy(body);
    await forget(production);
    expect(await codes(id)).toEqual(["from"]);
    await shop.sweep();
    await shop.sweep();
    expect(await codes(id)).toEqual([]);
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBe(id);
    await forget(staging);
    const { data } = (await shop.world.client.get(`/v1/environments/${staging}/stacks`)).body;
    const path = `/v1/stacks/${data[0].id}`;
    for (const name of ["other", "api"]) await shop.world.client.patch(path, { name });
    const later = await deploy(body);
    for (let sweeps = 0; sweeps < 2; sweeps += 1) await shop.sweep();
    expect(await codes(later)).toEqual(["from"]);
  });
});

describe("an approval", () => {
  it("is of the connection, too", async () => {
    await protect(shop.world.client, production, { approvals: APPROVALS });
    const { id } = await newDeployment(shop.mona.client, production, image("1"));
    const { digest } = (await approve(shop.world.client, id)).body;
    expect(await codes(id)).toEqual([]);
    const attempt = await Attempt.claim(pools.production.runner);
    await connect({ account_id: "999999999999" });
    expect((await attempt.post("start")).status).toBe(409);
    expect((await shop.reasons(id))[0]?.["message"]).toContain(
      "; 1 was given before a change of the connection.",
    );
    const again = await approve(shop.world.client, id, { digest });
    expect(again.status).toBe(409);
    // Back to what was approved.
    await connect({});
    expect(await codes(id)).toEqual([]);
    await shop.sweep();
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBe(id);
  });

  it("counts again for the same content, and does not expire before its digest is known", async () => {
    await protect(shop.world.client, production, {
      approvals: { ...APPROVALS, expires_after_seconds: 60 },
    });
    const { id } = await newDeployment(shop.mona.client, production, { patch: [set("a", 1)] });
    await approve(shop.world.client, id);
    await run("update deployments set created_at = created_at - 3600000 where id = ?", id);
    const path = `/v1/environments/${production}`;
    const { name } = (await shop.world.client.get(path)).body;
    for (const configuration of [{ b: 1 }, {}])
      expect((await shop.world.client.put(path, { name, configuration })).status).toBe(200);
    await protect(shop.world.client, production, {
      approvals: { ...APPROVALS, expires_after_seconds: 61 },
    });
    expect((await shop.world.client.get(`/v1/deployments/${id}`)).body.status).toBe("queued");
    await shop.sweep();
    expect(await codes(id)).toEqual([]);
    expect((await Attempt.started(pools.production.runner)).deploymentId).toBe(id);
  });
});
