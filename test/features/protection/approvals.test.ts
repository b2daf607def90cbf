import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { beforeBatch, Instrumented } from "../../support/instruments.ts";
import { beforeWrite } from "../../support/intercepted-writes.ts";
import { newPreviewedDeployment as newDeployment } from "../../support/previewed-deployment.ts";
import { approve, claimedBy, newFreeze, reject } from "../../support/protection.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { newKey, newServiceAccount, signIn } from "../../support/world.ts";

const OWNERS = { approvals: { required: 1, approvers: { role: "owner" } } };

const shop = useShop(OWNERS);

describe("a deployment that needs approvals", () => {
  it("waits, and no runner gets it before it has them", async () => {
    const { id, waiting_for } = await newDeployment(shop.mona.client, shop.environmentId);
    expect(waiting_for[0]).toEqual({
      code: "approvals",
      message: "0 of 1 approval by owners of the project and admins of the organization.",
      expires_at: expect.stringMatching(/Z$/),
    });
    expect(await claimedBy(shop.pool)).toBeUndefined();
    const { status, body } = await approve(shop.world.client, id, { comment: "Looks good" });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        deployment_id: id,
        membership_id: shop.world.membershipId,
        name: "Olive Owner",
        decision: "approve",
        comment: "Looks good",
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        created_at: expect.any(String),
      },
    ]);
    expect(await shop.codes(id)).toEqual(["runner"]);
    expect((await shop.world.client.get(`/v1/deployments/${id}/approvals`)).body).toEqual({
      data: [body],
      has_more: false,
    });
    const attempt = await Attempt.claim(shop.pool.runner);
    expect(attempt.deploymentId).toBe(id);
    expect((await attempt.post("start")).status).toBe(200);
    expect((await attempt.succeed()).status).toBe(200);
  });

  it("counts two people, and each once", async () => {
    const olga = await shop.join("owner");
    const other = await shop.join("owner");
    const rules = {
      required: 2,
      approvers: { membership_ids: [olga.membershipId, other.membershipId] },
    };
    await shop.protect({ approvals: rules });
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const second = await newKey(shop.world, {
      membershipId: olga.membershipId,
      role: "member",
      isOwn: true,
    });
    for (const { client } of [olga, second]) expect((await approve(client, id)).status).toBe(201);
    expect((await shop.reasons(id))[0]?.["message"]).toBe("1 of 2 approvals.");
    expect(await claimedBy(shop.pool)).toBeUndefined();
    expect((await approve(shop.world.client, id)).status).toBe(403);
    expect((await approve(other.client, id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBe(id);
  });

  it("ends canceled with a rejection", async () => {
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    expect((await reject(shop.world.client, id, "not on a Friday")).status).toBe(201);
    expect(await shop.read(id)).toMatchObject({
      status: "canceled",
      failure_reason: "rejected",
      message: "Rejected: not on a Friday",
      data: { stacks: [{ status: "canceled" }] },
    });
    expect((await approve(shop.world.client, id)).body.message).toBe(
      "The deployment has started or ended: it is canceled.",
    );
  });

  it("is superseded by a later one, and one in the queue fifo waits behind it", async () => {
    const first = await newDeployment(shop.mona.client, shop.environmentId);
    const second = await newDeployment(shop.mona.client, shop.environmentId);
    const third = await newDeployment(shop.mona.client, shop.environmentId, { queue: "fifo" });
    expect((await shop.read(first.id)).status).toBe("superseded");
    expect((await approve(shop.world.client, third.id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    expect(await shop.codes(third.id)).toEqual(["deployment"]);
    expect((await approve(shop.world.client, second.id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBe(second.id);
  });
});

describe("an approval", () => {
  it("is refused to who created the deployment, unless the rule permits it", async () => {
    const olga = await shop.join("owner");
    const own = await newDeployment(olga.client, shop.environmentId);
    const { status, body } = await approve(olga.client, own.id);
    expect([status, body]).toMatchObject([
      403,
      {
        code: "forbidden",
        message:
          "Only owners of the project and admins of the organization may approve or reject it, and never of one's own deployment.",
      },
    ]);
    const rule = { ...OWNERS.approvals, prevent_self_approval: false };
    await shop.protect({ approvals: rule });
    const other = await newDeployment(olga.client, shop.environmentId);
    expect((await approve(olga.client, other.id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBe(other.id);
  });

  it("does not count from who made the key of the program that deploys", async () => {
    const membershipId = await newServiceAccount(shop.world);
    await shop.world.client.post(`/v1/projects/${shop.project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    const olga = await shop.join("owner");
    const key = await newKey(shop.world, {
      membershipId,
      role: "member",
      isOwn: false,
      createdByMembershipId: shop.world.membershipId,
    });
    // A key that the program has made with it.
    const descendant = await newKey(shop.world, {
      membershipId,
      role: "member",
      isOwn: false,
      createdByKeyId: key.keyId,
      createdByMembershipId: membershipId,
    });
    for (const { client } of [key, descendant]) {
      const { id } = await newDeployment(client, shop.environmentId);
      expect((await approve(shop.world.client, id)).status).toBe(403);
      expect((await approve(olga.client, id)).status).toBe(201);
    }
  });

  it("needs a credential of the person's own that is not narrowed", async () => {
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const fields = { membershipId: shop.world.membershipId };
    const keys = {
      "made by somebody else": await newKey(shop.world, { ...fields, isOwn: false }),
      scopes: await newKey(shop.world, { ...fields, scopes: ["deployments:write"] }),
      projects: await newKey(shop.world, { ...fields, projectIds: [shop.project.id] }),
      environments: await newKey(shop.world, { ...fields, environmentIds: [shop.environmentId] }),
    };
    for (const [name, { client }] of Object.entries(keys)) {
      const { status, body } = await approve(client, id);
      expect([name, status, body.code]).toEqual([name, 403, "unauthorized"]);
      expect(body.message).toContain("Only people approve");
    }
    const session = await signIn(await newKey(shop.world, fields));
    expect((await approve(session.client, id)).status).toBe(201);
  });

  it("is refused to others, with who may", async () => {
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const nils = await shop.join("contributor");
    expect((await approve(nils.client, id)).body).toMatchObject({
      code: "forbidden",
      message:
        "Only owners of the project and admins of the organization may approve or reject it.",
    });
    await shop.protect({
      approvals: { required: 1, approvers: { membership_ids: [nils.membershipId] } },
    });
    const next = await newDeployment(shop.mona.client, shop.environmentId);
    expect((await approve(shop.world.client, next.id)).body.message).toBe(
      'Only "Molly Member" may approve or reject it.',
    );
    expect((await approve(nils.client, next.id)).status).toBe(201);
  });

  it("does not count once the person may not approve any more", async () => {
    const olga = await shop.join("owner");
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    expect((await approve(olga.client, id)).status).toBe(201);
    const attempt = await Attempt.claim(shop.pool.runner);
    const member = `/v1/projects/${shop.project.id}/members/${olga.membershipId}`;
    expect((await shop.world.client.put(member, { role: "contributor" })).status).toBe(200);
    const { status, body, headers } = await attempt.post("start");
    expect([status, body.code, headers.get("deployment-desired")]).toEqual([
      409,
      "conflict",
      "stop",
    ]);
    expect(body.message).toContain("0 of 1 approval by owners");
    expect(await shop.codes(id)).toEqual(["approvals"]);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    const row = await env.DB.prepare(
      "select outcome, lapsed_offers from attempts join deployments on deployments.id = deployment_id where deployment_id = ?",
    )
      .bind(id)
      .first();
    expect(row).toEqual({ outcome: "refused", lapsed_offers: 0 });
    expect((await attempt.post("start")).status).toBe(409);
    expect((await approve(shop.world.client, id)).status).toBe(201);
    expect((await shop.start()).deploymentId).toBe(id);
  });

  it("is refused if the content changes before it is written", async () => {
    const olga = await shop.join("owner");
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const { digest } = (await approve(shop.world.client, id)).body;
    const change = () => shop.edit({ features: { search: true } });
    const worker = new Instrumented({ database: beforeWrite(change) });
    const { status, body } = await approve(olga.client.via(worker.fetch), id, { digest });
    expect([status, body.code]).toEqual([409, "conflict"]);
    const count = env.DB.prepare(
      "select count(*) as n from deployment_approvals where deployment_id = ?",
    );
    expect(await count.bind(id).first("n")).toBe(1);
  });

  it("does not offer the deployment if a freeze begins before that is written", async () => {
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const starts_at = new Date(Date.now() - 1_000).toISOString();
    const freeze = async () => {
      const path = `/v1/projects/${shop.project.id}/freezes`;
      expect((await shop.world.client.post(path, newFreeze({ starts_at }))).status).toBe(201);
    };
    // The second batch writes the approval, and the third what follows from it.
    const worker = new Instrumented({ database: beforeBatch(3, freeze) });
    expect((await approve(shop.world.client.via(worker.fetch), id)).status).toBe(201);
    const held = env.DB.prepare("select held_until from deployments where id = ?").bind(id);
    expect(await held.first("held_until")).not.toBe(0);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    expect(await shop.codes(id)).toEqual(["freeze"]);
  });

  it("holds for one content, and names what differs", async () => {
    const { id } = await newDeployment(shop.mona.client, shop.environmentId, {
      patch: [{ op: "add", path: "/replicas", value: 3 }],
    });
    expect((await approve(shop.world.client, id)).status).toBe(201);
    await shop.edit({ features: { search: true } });
    const attempt = await Attempt.claim(shop.pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect((await shop.reasons(id))[0]?.["message"]).toBe(
      "0 of 1 approval by owners of the project and admins of the organization; 1 was given before a change of the configuration.",
    );
    // Back to what was approved.
    await shop.edit({});
    expect(await shop.codes(id)).toEqual(["runner"]);
    await shop.edit({ features: {} });
    const { body } = await shop.world.client.get(`/v1/deployments/${id}/configuration`);
    expect(body).toMatchObject({ before: { features: {} }, after: { features: {}, replicas: 3 } });
    expect((await approve(shop.world.client, id, { digest: "0".repeat(64) })).status).toBe(409);
    expect((await approve(shop.world.client, id, { digest: body.digest })).status).toBe(201);
    expect((await shop.start()).deploymentId).toBe(id);
  });

  it("does not hold for another source or other stacks", async () => {
    const image = (tag: string) => ({
      source: { registry: { image: `ghcr.io/acme/shop:${tag}` } },
    });
    const first = await newDeployment(shop.mona.client, shop.environmentId, image("1"));
    await approve(shop.world.client, first.id);
    await (await shop.start()).succeed();
    const { id, stack_ids } = await newDeployment(shop.mona.client, shop.environmentId);
    const { digest } = (await approve(shop.world.client, id)).body;
    await shop.world.client.patch(`/v1/stacks/${stack_ids[0]}`, { name: "renamed" });
    expect((await shop.reasons(id))[0]?.["message"]).toContain(
      "1 was given before a change of the stacks.",
    );
    const again = (await approve(shop.world.client, id)).body.digest;
    expect(again).not.toBe(digest);
    expect((await shop.start()).deploymentId).toBe(id);
  });
});

describe("rules that change while a deployment waits", () => {
  it("apply beside the earlier ones", async () => {
    const nils = await shop.join("contributor");
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    const listed = { required: 1, approvers: { membership_ids: [nils.membershipId] } };
    await shop.protect({ approvals: listed });
    expect((await approve(nils.client, id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    await shop.protect({});
    expect((await shop.reasons(id))[0]?.["message"]).toBe(
      "0 of 1 approval by owners of the project and admins of the organization.",
    );
    expect((await approve(shop.world.client, id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBe(id);
  });

  it("end the deployment with the first of their times for approvals, whichever rule is newer", async () => {
    const rule = (expires_after_seconds: number) => ({
      approvals: { required: 1, approvers: { role: "owner" }, expires_after_seconds },
    });
    for (const [kept, current] of [
      [60, 3_600],
      [3_600, 60],
    ] as const) {
      await shop.protect(rule(kept));
      const { id, created_at } = await newDeployment(shop.mona.client, shop.environmentId);
      await shop.protect(rule(current));
      const [reason, ...others] = await shop.reasons(id);
      expect([reason?.["code"], others]).toEqual(["approvals", []]);
      expect(Date.parse(reason?.["expires_at"]) - Date.parse(created_at)).toBe(60_000);
    }
  });

  it("apply to what was queued before there were any", async () => {
    await shop.protect({});
    const { id } = await newDeployment(shop.mona.client, shop.environmentId);
    await shop.protect(OWNERS);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    expect(await shop.codes(id)).toEqual(["approvals"]);
    await approve(shop.world.client, id);
    expect((await claim(shop.pool.runner)).body.deployment.id).toBe(id);
  });
});
