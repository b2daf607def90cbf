import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newPreviewedDeployment } from "../../support/previewed-deployment.ts";
import { approve, joinProject, protect } from "../../support/protection.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newServiceAccount,
  newStack,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "../../support/world.ts";

const image = (tag: string) => ({ source: { registry: { image: `ghcr.io/acme/shop:${tag}` } } });
const set = (name: string, value: unknown) => ({ op: "add", path: `/${name}`, value });

let world: World;
let project: Parsed;
let production: string;
let staging: string;
let pools: { production: Pool; staging: Pool };
let mona: Person;

beforeEach(async () => {
  world = await newWorld();
  const made = await newDeployableProject(world);
  ({ project, environmentId: production } = made);
  const path = `/v1/projects/${project.id}/environments`;
  staging = (await world.client.post(path, { name: "staging" })).body.id;
  for (const id of [production, staging]) await newStack(world.client, id);
  pools = { production: made.pool, staging: await newPool(world, [staging]) };
  mona = await joinProject(world, project.id, "contributor");
});

const previewPath = (id: string) => `/v1/environments/${id}/deployment-preview`;

async function preview(client: Client, body: object = {}): Promise<Parsed> {
  const reply = await client.post(previewPath(production), body);
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
}

/** Of rules and freezes, and of what is before it. */
const codes = (reasons: Parsed[]) =>
  reasons.map(({ code }) => String(code)).filter((code) => code !== "runner");

/** The preview says what the deployment then says. Returns the codes. */
async function expectSame(client: Client, body: object = {}): Promise<string[]> {
  const { id, waiting_for } = await newPreviewedDeployment(client, production, body);
  await world.client.patch(`/v1/deployments/${id}/cancel`);
  return codes(waiting_for);
}

async function succeed(environmentId: string, pool: Pool, body: object): Promise<string> {
  const { id } = await newDeployment(world.client, environmentId, body);
  await (await Attempt.started(pool.runner)).succeed();
  return id;
}

describe("the preview of a deployment", () => {
  it("waits for nothing without rules, and says what it would change", async () => {
    await claim(pools.production.runner);
    const { id } = await newDeployment(world.client, production, image("1"));
    const shown = await preview(world.client, { patch: [set("replicas", 3)], ...image("2") });
    expect(shown).toEqual({
      environment_id: production,
      patch: [set("replicas", 3)],
      ...image("2"),
      stack_ids: [expect.any(String)],
      references: [],
      superseded_ids: [id],
      waiting_for: [],
    });
    expect((await preview(world.client, { queue: "fifo" }))["superseded_ids"]).toEqual([]);
    expect(await expectSame(mona.client, image("2"))).toEqual([]);
    const list = await world.client.get(`/v1/environments/${production}/deployments?status=queued`);
    expect(list.body.data).toEqual([]);
  });

  it("waits for a pool, for a runner that is online, and for what is before it", async () => {
    await world.client.delete(`/v1/orgs/${world.id}/runner-pools/${pools.production.id}`);
    expect(await expectSame(mona.client)).toEqual(["pool"]);
    const pool = await newPool(world, [production]);
    const [offline] = (await preview(mona.client))["waiting_for"];
    expect(offline).toMatchObject({ code: "runner", pools: [{ id: pool.id, online: false }] });
    expect(offline.message).toMatch(/^No runner of the pool ".+" has asked for work/);
    await claim(pool.runner);
    expect((await preview(mona.client))["waiting_for"]).toEqual([]);
    const { id } = await newDeployment(world.client, production, { queue: "fifo" });
    expect((await preview(mona.client))["waiting_for"]).toEqual([]);
    const [before] = (await preview(mona.client, { queue: "fifo" }))["waiting_for"];
    expect(before).toMatchObject({ code: "deployment", deployment_id: id });
    const attempt = await Attempt.started(pool.runner);
    for (const body of [{}, { queue: "fifo" }]) {
      expect(await expectSame(mona.client, body)).toEqual(["deployment"]);
    }
    await attempt.succeed();
    expect((await preview(mona.client, { queue: "fifo" }))["waiting_for"]).toEqual([]);
  });

  it("without a source has that of its environment", async () => {
    await succeed(production, pools.production, image("1"));
    await protect(world.client, production, { from: { environment_ids: [staging] } });
    expect(await expectSame(world.client)).toEqual(["from"]);
    await succeed(staging, pools.staging, image("1"));
    expect(await expectSame(world.client)).toEqual([]);
    expect(await expectSame(world.client, { source: null })).toEqual(["from"]);
  });

  it("has the error that the request would have, and creates nothing", async () => {
    const inputs: object[] = [{ patch: [{ op: "remove", path: "/missing" }] }, { stack_ids: [] }];
    for (const input of inputs) {
      const shown = await preview(world.client, input);
      const refused = await world.client.post(`/v1/environments/${production}/deployments`, input);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      const { code, message } = refused.body;
      expect([input, shown["error"]]).toEqual([input, { code, message }]);
    }
    const viewer = await joinProject(world, project.id, "viewer");
    expect((await viewer.client.post(previewPath(production), {})).status).toBe(403);
    await protect(world.client, production, { access: { deploy: { role: "owner" } } });
    expect((await preview(mona.client))["error"].message).toBe(
      "Only owners of the project and admins of the organization may deploy to this environment.",
    );
    expect((await preview(world.client))["error"]).toBeUndefined();
    for (const scope of ["deployments:write", "environments:read"] as const) {
      const { client } = await newKey(world, { scopes: [scope] });
      expect((await client.post(previewPath(production), {})).status).toBe(403);
    }
    const stranger = await newWorld();
    expect((await stranger.client.post(previewPath(production), {})).status).toBe(404);
  });
});

describe("the preview of a copy", () => {
  const RULES = { approvals: { required: 1, approvers: { role: "contributor" } } };
  const codesOf = async (path: string): Promise<string[]> =>
    codes((await mona.client.get(path)).body.waiting_for);

  it("of a redeployment knows whether the rules exempt it", async () => {
    const first = await succeed(production, pools.production, image("1"));
    const last = await succeed(production, pools.production, image("2"));
    const codesFor = (id: string) => codesOf(`/v1/deployments/${id}/redeployment`);
    expect(await codesFor(last)).toEqual([]);
    await protect(world.client, production, RULES);
    expect([await codesFor(first), await codesFor(last)]).toEqual([["approvals"], ["approvals"]]);
    await protect(world.client, production, { ...RULES, exempt: ["rollback"] });
    expect([await codesFor(first), await codesFor(last)]).toEqual([[], ["approvals"]]);
    await protect(world.client, production, { ...RULES, exempt: ["restart"] });
    expect([await codesFor(first), await codesFor(last)]).toEqual([["approvals"], []]);
    for (const id of [first, last]) {
      const before = await codesFor(id);
      const { body } = await mona.client.post(`/v1/deployments/${id}/redeploy`, undefined);
      const { data } = (await world.client.get(`/v1/deployments/${body.id}/approvals`)).body;
      expect(data).toEqual([]);
      const made = await world.client.get(`/v1/deployments/${body.id}`);
      const waits = made.body.waiting_for.some(({ code }: Parsed) => code === "approvals");
      expect(waits).toBe(before.length > 0);
      await world.client.patch(`/v1/deployments/${body.id}/cancel`);
    }
  });

  it("of a promotion compares it with where it has succeeded", async () => {
    const id = await succeed(staging, pools.staging, { ...image("1"), patch: [set("a", 1)] });
    const path = `/v1/deployments/${id}/promotion/${production}`;
    await protect(world.client, production, {
      from: { environment_ids: [staging], same_configuration: { except: [] } },
    });
    await new Instrumented().sweep();
    expect(await codesOf(path)).toEqual([]);
    const held = { environment_ids: [staging], minimum_seconds: 3_600 };
    await protect(world.client, production, { ...RULES, from: held });
    expect(await codesOf(path)).toEqual(["approvals", "from"]);
    const { body } = await mona.client.post(`/v1/deployments/${id}/promote`, {
      environment_id: production,
    });
    await approve(world.client, body.id);
    const made = await world.client.get(`/v1/deployments/${body.id}`);
    expect(made.body.waiting_for.map(({ code }: Parsed) => code)).toEqual(["from"]);
    // An approval is of one deployment, and not of the next.
    expect(await codesOf(path)).toEqual(["approvals", "from"]);
  });

  it("of a program is as for the program", async () => {
    const membershipId = await newServiceAccount(world, "member");
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    const { client } = await newKey(world, { membershipId, role: "member" });
    await protect(world.client, production, {
      access: { deploy: { membership_ids: [membershipId] } },
    });
    expect((await preview(client))["error"]).toBeUndefined();
    expect((await preview(mona.client))["error"].code).toBe("forbidden");
  });
});
