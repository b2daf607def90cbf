import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { approve, claimedBy, joinProject, newFreeze, protect } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "../../support/world.ts";

const APPROVALS = { approvals: { required: 1, approvers: { role: "owner" } } };

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;
let mona: Person;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newDeployableProject(world));
  mona = await joinProject(world, project.id, "contributor");
});

const freeze = (fields: object = {}) =>
  world.client.post(
    `/v1/projects/${project.id}/freezes`,
    newFreeze({ starts_at: new Date(Date.now() - 1_000).toISOString(), ...fields }),
  );

const override = ({ client }: Pick<Person, "client">, id: string, ...conditions: string[]) =>
  client.post(`/v1/deployments/${id}/override`, { reason: "The shop is down", conditions });

const read = async (id: string): Promise<Parsed> =>
  (await world.client.get(`/v1/deployments/${id}`)).body;

const codes = async (id: string): Promise<string[]> =>
  (await read(id))["waiting_for"].map(({ code }: Parsed) => code);

describe("an override", () => {
  it("of an owner starts a deployment in spite of the conditions that it names, and stays visible", async () => {
    await protect(world.client, environmentId, APPROVALS);
    await freeze();
    const { id } = await newDeployment(mona.client, environmentId);
    expect(await codes(id)).toEqual(["approvals", "freeze"]);
    expect((await override(world, id, "freeze")).status).toBe(200);
    expect(await codes(id)).toEqual(["approvals"]);
    expect(await claimedBy(pool)).toBeUndefined();
    const { status, body } = await override(world, id, "freeze", "approvals");
    const mark = {
      conditions: ["freeze", "approvals"],
      reason: "The shop is down",
      membership_id: world.membershipId,
      created_at: expect.stringMatching(/Z$/),
    };
    expect([status, body.overridden]).toEqual([200, mark]);
    await (await Attempt.started(pool.runner)).succeed();
    expect(await read(id)).toMatchObject({ status: "succeeded", overridden: mark });
    const { body: log } = await world.client.get(`/v1/orgs/${world.id}/audit-log`);
    expect(log.data).toContainEqual(
      expect.objectContaining({
        action: "deployment.overridden",
        target: { type: "deployment", id },
        changes: { after: { conditions: ["freeze", "approvals"], reason: "The shop is down" } },
      }),
    );
  });

  it("holds for the content that the deployment has then", async () => {
    await protect(world.client, environmentId, APPROVALS);
    const { id } = await newDeployment(mona.client, environmentId);
    await override(world, id, "approvals");
    const path = `/v1/environments/${environmentId}`;
    const { name } = (await world.client.get(path)).body;
    await world.client.put(path, { name, configuration: { replicas: 2 } });
    const attempt = await Attempt.claim(pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await codes(id)).toEqual(["approvals"]);
  });

  it("is for owners of the organization, with all that they may do", async () => {
    await protect(world.client, environmentId, APPROVALS);
    const admin = await join(world, "admin");
    const { id } = await newDeployment(mona.client, environmentId);
    const callers = [
      mona,
      admin,
      await newKey(world, { isOwn: false }),
      await newKey(world, { scopes: ["deployments:write"], isOwn: true }),
    ];
    for (const caller of callers) {
      const { status, body } = await override(caller, id, "approvals");
      expect([status, body.code]).toEqual([403, "unauthorized"]);
    }
    const invalid: [reason: string, conditions: string[]][] = [
      ["", ["approvals"]],
      ["x", []],
      ["x", ["group"]],
    ];
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = { reason: "The shop is down", conditions: ["approvals"] };
    const send = () =>
      world.client.request("POST", `/v1/deployments/${id}/override`, body, headers);
    const first = await send();
    const repeat = await send();
    expect([first.status, repeat.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(repeat.body.overridden).toEqual(first.body.overridden);
    for (const [reason, conditions] of invalid) {
      const sent = { reason, conditions };
      expect((await world.client.post(`/v1/deployments/${id}/override`, sent)).status).toBe(400);
    }
  });

  it("of a freeze is for those whom each of them names, too", async () => {
    const named = { override: [mona.membershipId] };
    await freeze(named);
    const { id } = await newDeployment(mona.client, environmentId);
    expect((await override(mona, id, "approvals")).status).toBe(403);
    const narrowed = await newKey(world, {
      membershipId: mona.membershipId,
      role: "member",
      scopes: ["deployments:write"],
      isOwn: true,
    });
    expect((await override(narrowed, id, "freeze")).status).toBe(403);
    expect((await override(mona, id, "freeze")).status).toBe(200);
    expect(await claimedBy(pool)).toBe(id);
    await freeze();
    const { id: next } = await newDeployment(mona.client, environmentId);
    expect((await override(mona, next, "freeze")).status).toBe(403);
  });
});

describe("an override of freezes", () => {
  const begin = (freezeId: string) =>
    env.DB.prepare("update freezes set starts_at = ? where id = ?")
      .bind(Date.now() - 1_000, freezeId)
      .run();

  it("lifts those that name the person, and no other that begins or is created later", async () => {
    await freeze({ override: [mona.membershipId] });
    const planned = await freeze({ starts_at: "2099-01-01T00:00:00.000Z" });
    const { id } = await newDeployment(mona.client, environmentId);
    const { status, body } = await override(mona, id, "freeze");
    expect([status, body.overridden.conditions]).toEqual([200, ["freeze"]]);
    expect(body.overridden).not.toHaveProperty("freeze_ids");
    expect(await codes(id)).toEqual(["runner"]);
    await begin(planned.body.id);
    expect(await codes(id)).toEqual(["freeze"]);
    const attempt = await Attempt.claim(pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect((await override(mona, id, "freeze")).status).toBe(403);
    await world.client.delete(`/v1/freezes/${planned.body.id}`);
    expect(await codes(id)).toEqual(["runner"]);
    await freeze({ override: [mona.membershipId] });
    expect(await codes(id)).toEqual(["freeze"]);
    expect((await override(mona, id, "freeze")).status).toBe(200);
    expect(await claimedBy(pool)).toBe(id);
  });

  it("lifts all that there are for an owner, also before they begin", async () => {
    const planned = await freeze({ starts_at: "2099-01-01T00:00:00.000Z" });
    const { id } = await newDeployment(mona.client, environmentId);
    expect((await override(world, id, "freeze")).status).toBe(200);
    await begin(planned.body.id);
    expect(await codes(id)).toEqual(["runner"]);
    await freeze();
    expect(await codes(id)).toEqual(["freeze"]);
    expect(await claimedBy(pool)).toBeUndefined();
  });
});

describe("an exempt redeployment", () => {
  const succeed = async () => (await Attempt.started(pool.runner)).succeed();
  const redeploy = async (id: string): Promise<Parsed> =>
    (await mona.client.post(`/v1/deployments/${id}/redeploy`, {})).body;

  it("of what runs, or of the last success before, waits for nothing", async () => {
    const first = await newDeployment(mona.client, environmentId);
    await succeed();
    const second = await newDeployment(mona.client, environmentId);
    await succeed();
    await protect(world.client, environmentId, { ...APPROVALS, exempt: ["rollback", "restart"] });
    await freeze();
    const restart = await redeploy(second.id);
    expect([restart["exempt"], restart["waiting_for"][0].code]).toEqual(["restart", "runner"]);
    const rollback = await redeploy(first.id);
    expect([rollback["exempt"], rollback["waiting_for"][0].code]).toEqual(["rollback", "runner"]);
    await succeed();
    // What was rolled back is neither.
    const again = await redeploy(second.id);
    expect([again["exempt"], again["waiting_for"][0].code]).toEqual(["rollback", "runner"]);
    const other = await redeploy(first.id);
    expect([other["exempt"], other["waiting_for"][0].code]).toEqual([undefined, "approvals"]);
    const created = await newDeployment(mona.client, environmentId);
    expect(created["exempt"]).toBeUndefined();
    expect(await codes(created.id)).toEqual(["approvals", "freeze"]);
  });

  it("waits for a freeze unless the rules that it keeps and the new ones all exempt it", async () => {
    const { id } = await newDeployment(mona.client, environmentId);
    await succeed();
    await freeze();
    const exempt = { group: "production", exempt: ["restart"] };
    const others = { group: "production", exempt: ["rollback"] };
    for (const [kept, present, expected] of [
      [exempt, others, "freeze"],
      [others, exempt, "freeze"],
      [exempt, { ...exempt, group: "canary" }, "runner"],
    ] as const) {
      await protect(world.client, environmentId, kept);
      const restart = await redeploy(id);
      await protect(world.client, environmentId, present);
      expect(await codes(restart["id"])).toEqual([expected]);
      expect(await claimedBy(pool)).toBe(expected === "freeze" ? undefined : restart["id"]);
      await world.client.patch(`/v1/deployments/${restart["id"]}/cancel`);
    }
  });

  it("waits like others without the rule, or with the other one alone", async () => {
    const { id } = await newDeployment(mona.client, environmentId);
    await succeed();
    for (const exempt of [{}, { exempt: ["rollback"] }]) {
      await protect(world.client, environmentId, { ...APPROVALS, ...exempt });
      const restart = await redeploy(id);
      expect([restart["exempt"], restart["waiting_for"][0].code]).toEqual(["restart", "approvals"]);
    }
    expect((await approve(world.client, (await redeploy(id)).id)).status).toBe(201);
  });
});
