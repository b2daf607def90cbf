import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { newPreviewedDeployment as newDeployment } from "../../support/previewed-deployment.ts";
import { claimedBy } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { join, newKey, type Person } from "../../support/world.ts";

const APPROVALS = { approvals: { required: 1, approvers: { role: "owner" } } };

const shop = useShop({});

const override = ({ client }: Pick<Person, "client">, id: string, ...conditions: string[]) =>
  client.post(`/v1/deployments/${id}/override`, { reason: "The shop is down", conditions });

describe("an override", () => {
  it("of an owner starts a deployment in spite of the conditions that it names, and stays visible", async () => {
    await shop.protect(APPROVALS);
    await shop.freeze();
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    expect(await shop.codes(id)).toEqual(["approvals", "freeze"]);
    expect((await override(shop.world, id, "freeze")).status).toBe(200);
    expect(await shop.codes(id)).toEqual(["approvals"]);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    const { status, body } = await override(shop.world, id, "freeze", "approvals");
    const mark = {
      conditions: ["freeze", "approvals"],
      reason: "The shop is down",
      membership_id: shop.world.membershipId,
      created_at: expect.stringMatching(/Z$/),
    };
    expect([status, body.overridden]).toEqual([200, mark]);
    await shop.succeed();
    expect(await shop.read(id)).toMatchObject({ status: "succeeded", overridden: mark });
    const { body: log } = await shop.world.client.get(`/v1/orgs/${shop.world.id}/audit-log`);
    expect(log.data).toContainEqual(
      expect.objectContaining({
        action: "deployment.overridden",
        target: { type: "deployment", id },
        changes: { after: { conditions: ["freeze", "approvals"], reason: "The shop is down" } },
      }),
    );
  });

  it("holds for the content that the deployment has then", async () => {
    await shop.protect(APPROVALS);
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    await override(shop.world, id, "approvals");
    const path = `/v1/environments/${shop.environmentId}`;
    const { name } = (await shop.world.client.get(path)).body;
    await shop.world.client.put(path, { name, configuration: { replicas: 2 } });
    const attempt = await Attempt.claim(shop.pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await shop.codes(id)).toEqual(["approvals"]);
  });

  it("is for owners of the organization, with all that they may do", async () => {
    await shop.protect(APPROVALS);
    const admin = await join(shop.world, "admin");
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const callers = [
      shop.mona,
      admin,
      await newKey(shop.world, { isOwn: false }),
      await newKey(shop.world, { scopes: ["deployments:write"], isOwn: true }),
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
    for (const [reason, conditions] of invalid) {
      const sent = { reason, conditions };
      expect((await shop.world.client.post(`/v1/deployments/${id}/override`, sent)).status).toBe(
        400,
      );
    }
  });

  it("of a freeze is for those whom each of them names, too", async () => {
    const named = { override: [shop.mona.membershipId] };
    await shop.freeze(named);
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    expect((await override(shop.mona, id, "approvals")).status).toBe(403);
    const narrowed = await newKey(shop.world, {
      membershipId: shop.mona.membershipId,
      role: "member",
      scopes: ["deployments:write"],
      isOwn: true,
    });
    expect((await override(narrowed, id, "freeze")).status).toBe(403);
    expect((await override(shop.mona, id, "freeze")).status).toBe(200);
    expect(await claimedBy(shop.pool)).toBe(id);
    await shop.freeze();
    const { id: next } = await newDeployment(shop.mona.client, shop.environmentId);
    expect((await override(shop.mona, next, "freeze")).status).toBe(403);
  });
});

describe("an override of freezes", () => {
  const begin = (freezeId: string) =>
    env.DB.prepare("update freezes set starts_at = ? where id = ?")
      .bind(Date.now() - 1_000, freezeId)
      .run();

  it("lifts those that name the person, and no other that begins or is created later", async () => {
    await shop.freeze({ override: [shop.mona.membershipId] });
    const planned = await shop.freeze({ starts_at: "2099-01-01T00:00:00.000Z" });
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const { status, body } = await override(shop.mona, id, "freeze");
    expect([status, body.overridden.conditions]).toEqual([200, ["freeze"]]);
    expect(body.overridden).not.toHaveProperty("freeze_ids");
    expect(await shop.codes(id)).toEqual(["runner"]);
    await begin(planned.body.id);
    expect(await shop.codes(id)).toEqual(["freeze"]);
    const attempt = await Attempt.claim(shop.pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect((await override(shop.mona, id, "freeze")).status).toBe(403);
    await shop.world.client.delete(`/v1/freezes/${planned.body.id}`);
    expect(await shop.codes(id)).toEqual(["runner"]);
    await shop.freeze({ override: [shop.mona.membershipId] });
    expect(await shop.codes(id)).toEqual(["freeze"]);
    expect((await override(shop.mona, id, "freeze")).status).toBe(200);
    expect(await claimedBy(shop.pool)).toBe(id);
  });

  it("lifts all that there are for an owner, also before they begin", async () => {
    const planned = await shop.freeze({ starts_at: "2099-01-01T00:00:00.000Z" });
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    expect((await override(shop.world, id, "freeze")).status).toBe(200);
    await begin(planned.body.id);
    expect(await shop.codes(id)).toEqual(["runner"]);
    await shop.freeze();
    expect(await shop.codes(id)).toEqual(["freeze"]);
    expect(await claimedBy(shop.pool)).toBeUndefined();
  });
});

describe("an exempt redeployment", () => {
  const succeed = async () => shop.succeed();
  const redeploy = async (id: string): Promise<Parsed> =>
    (await shop.mona.client.post(`/v1/deployments/${id}/redeploy`, {})).body;

  it("of what runs, or of the last success before, waits for nothing", async () => {
    const first = await newDeployment(shop.mona.client, shop.environmentId);
    await succeed();
    const second = await newDeployment(shop.mona.client, shop.environmentId);
    await succeed();
    await shop.protect({ ...APPROVALS, exempt: ["rollback", "restart"] });
    await shop.freeze();
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
    const created = await newDeployment(shop.mona.client, shop.environmentId);
    expect(created["exempt"]).toBeUndefined();
    expect(await shop.codes(created.id)).toEqual(["approvals", "freeze"]);
  });

  it("waits for a freeze unless the rules that it keeps and the new ones all exempt it", async () => {
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    await succeed();
    await shop.freeze();
    const exempt = { group: "production", exempt: ["restart"] };
    const others = { group: "production", exempt: ["rollback"] };
    for (const [kept, present, expected] of [
      [exempt, others, "freeze"],
      [others, exempt, "freeze"],
      [exempt, { ...exempt, group: "canary" }, "runner"],
    ] as const) {
      await shop.protect(kept);
      const restart = await redeploy(id);
      await shop.protect(present);
      expect(await shop.codes(restart["id"])).toEqual([expected]);
      expect(await claimedBy(shop.pool)).toBe(expected === "freeze" ? undefined : restart["id"]);
      await shop.world.client.patch(`/v1/deployments/${restart["id"]}/cancel`);
    }
  });
});
