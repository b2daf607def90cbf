import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { beforeBatch, Instrumented } from "../../support/instruments.ts";
import { beforeWrite } from "../../support/intercepted-writes.ts";
import {
  approve,
  claimedBy,
  joinProject,
  newFreeze,
  newProtectedEnvironment,
  protect,
  reject,
} from "../../support/protection.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  newDeployment,
  newKey,
  newServiceAccount,
  newWorld,
  type Person,
  type Pool,
  signIn,
  type World,
} from "../../support/world.ts";

const OWNERS = { approvals: { required: 1, approvers: { role: "owner" } } };

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;
let mona: Person;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newProtectedEnvironment(world, OWNERS));
  mona = await joinProject(world, project.id, "contributor");
});

const deploy = (body: object = {}) => newDeployment(mona.client, environmentId, body);

const read = async (id: string): Promise<Parsed> =>
  (await world.client.get(`/v1/deployments/${id}`)).body;

const waitsFor = async (id: string): Promise<string[]> =>
  (await read(id))["waiting_for"].map(({ code }: Parsed) => code);

const messageOf = async (id: string): Promise<string> => (await read(id))["waiting_for"][0].message;

const edit = async (configuration: object) => {
  const path = `/v1/environments/${environmentId}`;
  const { body } = await world.client.get(path);
  expect((await world.client.put(path, { name: body.name, configuration })).status).toBe(200);
};

describe("a deployment that needs approvals", () => {
  it("waits, and no runner gets it before it has them", async () => {
    const { id, waiting_for } = await deploy();
    expect(waiting_for[0]).toEqual({
      code: "approvals",
      message: "0 of 1 approval by owners of the project and admins of the organization.",
      expires_at: expect.stringMatching(/Z$/),
    });
    expect(await claimedBy(pool)).toBeUndefined();
    const { status, body } = await approve(world.client, id, { comment: "Looks good" });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        deployment_id: id,
        membership_id: world.membershipId,
        name: "Olive Owner",
        decision: "approve",
        comment: "Looks good",
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        created_at: expect.any(String),
      },
    ]);
    expect(await waitsFor(id)).toEqual(["runner"]);
    expect((await world.client.get(`/v1/deployments/${id}/approvals`)).body).toEqual({
      data: [body],
      has_more: false,
    });
    const attempt = await Attempt.claim(pool.runner);
    expect(attempt.deploymentId).toBe(id);
    expect((await attempt.post("start")).status).toBe(200);
    expect((await attempt.succeed()).status).toBe(200);
  });

  it("counts two people, and each once", async () => {
    const olga = await joinProject(world, project.id, "owner");
    const other = await joinProject(world, project.id, "owner");
    const rules = {
      required: 2,
      approvers: { membership_ids: [olga.membershipId, other.membershipId] },
    };
    await protect(world.client, environmentId, { approvals: rules });
    const { id } = await deploy();
    const second = await newKey(world, {
      membershipId: olga.membershipId,
      role: "member",
      isOwn: true,
    });
    for (const { client } of [olga, second]) expect((await approve(client, id)).status).toBe(201);
    expect(await messageOf(id)).toBe("1 of 2 approvals.");
    expect(await claimedBy(pool)).toBeUndefined();
    expect((await approve(world.client, id)).status).toBe(403);
    expect((await approve(other.client, id)).status).toBe(201);
    expect(await claimedBy(pool)).toBe(id);
  });

  it("ends canceled with a rejection", async () => {
    const { id } = await deploy();
    expect((await reject(world.client, id, "not on a Friday")).status).toBe(201);
    expect(await read(id)).toMatchObject({
      status: "canceled",
      failure_reason: "rejected",
      message: "Rejected: not on a Friday",
      data: { stacks: [{ status: "canceled" }] },
    });
    expect((await approve(world.client, id)).body.message).toBe(
      "The deployment has started or ended: it is canceled.",
    );
  });

  it("is superseded by a later one, and one in the queue fifo waits behind it", async () => {
    const first = await deploy();
    const second = await deploy();
    const third = await deploy({ queue: "fifo" });
    expect((await read(first.id)).status).toBe("superseded");
    expect((await approve(world.client, third.id)).status).toBe(201);
    expect(await claimedBy(pool)).toBeUndefined();
    expect(await waitsFor(third.id)).toEqual(["deployment"]);
    expect((await approve(world.client, second.id)).status).toBe(201);
    expect(await claimedBy(pool)).toBe(second.id);
  });
});

describe("an approval", () => {
  it("is refused to who created the deployment, unless the rule permits it", async () => {
    const olga = await joinProject(world, project.id, "owner");
    const own = await newDeployment(olga.client, environmentId);
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
    await protect(world.client, environmentId, { approvals: rule });
    const other = await newDeployment(olga.client, environmentId);
    expect((await approve(olga.client, other.id)).status).toBe(201);
    expect(await claimedBy(pool)).toBe(other.id);
  });

  it("does not count from who made the key of the program that deploys", async () => {
    const membershipId = await newServiceAccount(world);
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    const olga = await joinProject(world, project.id, "owner");
    const key = await newKey(world, {
      membershipId,
      role: "member",
      isOwn: false,
      createdByMembershipId: world.membershipId,
    });
    // A key that the program has made with it.
    const descendant = await newKey(world, {
      membershipId,
      role: "member",
      isOwn: false,
      createdByKeyId: key.keyId,
      createdByMembershipId: membershipId,
    });
    for (const { client } of [key, descendant]) {
      const { id } = await newDeployment(client, environmentId);
      expect((await approve(world.client, id)).status).toBe(403);
      expect((await approve(olga.client, id)).status).toBe(201);
    }
  });

  it("needs a credential of the person's own that is not narrowed", async () => {
    const { id } = await deploy();
    const fields = { membershipId: world.membershipId };
    const keys = {
      "made by somebody else": await newKey(world, { ...fields, isOwn: false }),
      scopes: await newKey(world, { ...fields, scopes: ["deployments:write"] }),
      projects: await newKey(world, { ...fields, projectIds: [project.id] }),
      environments: await newKey(world, { ...fields, environmentIds: [environmentId] }),
    };
    for (const [name, { client }] of Object.entries(keys)) {
      const { status, body } = await approve(client, id);
      expect([name, status, body.code]).toEqual([name, 403, "unauthorized"]);
      expect(body.message).toContain("Only people approve");
    }
    const session = await signIn(await newKey(world, fields));
    expect((await approve(session.client, id)).status).toBe(201);
  });

  it("is refused to others, with who may", async () => {
    const { id } = await deploy();
    const nils = await joinProject(world, project.id, "contributor");
    expect((await approve(nils.client, id)).body).toMatchObject({
      code: "forbidden",
      message:
        "Only owners of the project and admins of the organization may approve or reject it.",
    });
    await protect(world.client, environmentId, {
      approvals: { required: 1, approvers: { membership_ids: [nils.membershipId] } },
    });
    const next = await deploy();
    expect((await approve(world.client, next.id)).body.message).toBe(
      'Only "Molly Member" may approve or reject it.',
    );
    expect((await approve(nils.client, next.id)).status).toBe(201);
  });

  it("does not count once the person may not approve any more", async () => {
    const olga = await joinProject(world, project.id, "owner");
    const { id } = await deploy();
    expect((await approve(olga.client, id)).status).toBe(201);
    const attempt = await Attempt.claim(pool.runner);
    const member = `/v1/projects/${project.id}/members/${olga.membershipId}`;
    expect((await world.client.put(member, { role: "contributor" })).status).toBe(200);
    const { status, body, headers } = await attempt.post("start");
    expect([status, body.code, headers.get("deployment-desired")]).toEqual([
      409,
      "conflict",
      "stop",
    ]);
    expect(body.message).toContain("0 of 1 approval by owners");
    expect(await waitsFor(id)).toEqual(["approvals"]);
    expect(await claimedBy(pool)).toBeUndefined();
    const row = await env.DB.prepare(
      "select outcome, lapsed_offers from attempts join deployments on deployments.id = deployment_id where deployment_id = ?",
    )
      .bind(id)
      .first();
    expect(row).toEqual({ outcome: "refused", lapsed_offers: 0 });
    expect((await attempt.post("start")).status).toBe(409);
    expect((await approve(world.client, id)).status).toBe(201);
    expect((await Attempt.started(pool.runner)).deploymentId).toBe(id);
  });

  it("is refused if the content changes before it is written", async () => {
    const olga = await joinProject(world, project.id, "owner");
    const { id } = await deploy();
    const { digest } = (await approve(world.client, id)).body;
    const change = () => edit({ features: { search: true } });
    const worker = new Instrumented({ database: beforeWrite(change) });
    const { status, body } = await approve(olga.client.via(worker.fetch), id, { digest });
    expect([status, body.code]).toEqual([409, "conflict"]);
    const count = env.DB.prepare(
      "select count(*) as n from deployment_approvals where deployment_id = ?",
    );
    expect(await count.bind(id).first("n")).toBe(1);
  });

  it("does not offer the deployment if a freeze begins before that is written", async () => {
    const { id } = await deploy();
    const starts_at = new Date(Date.now() - 1_000).toISOString();
    const freeze = async () => {
      const path = `/v1/projects/${project.id}/freezes`;
      expect((await world.client.post(path, newFreeze({ starts_at }))).status).toBe(201);
    };
    // The second batch writes the approval, and the third what follows from it.
    const worker = new Instrumented({ database: beforeBatch(3, freeze) });
    expect((await approve(world.client.via(worker.fetch), id)).status).toBe(201);
    const held = env.DB.prepare("select held_until from deployments where id = ?").bind(id);
    expect(await held.first("held_until")).not.toBe(0);
    expect(await claimedBy(pool)).toBeUndefined();
    expect(await waitsFor(id)).toEqual(["freeze"]);
  });

  it("holds for one content, and names what differs", async () => {
    const { id } = await deploy({ patch: [{ op: "add", path: "/replicas", value: 3 }] });
    expect((await approve(world.client, id)).status).toBe(201);
    await edit({ features: { search: true } });
    const attempt = await Attempt.claim(pool.runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await messageOf(id)).toBe(
      "0 of 1 approval by owners of the project and admins of the organization; 1 was given before a change of the configuration.",
    );
    // Back to what was approved.
    await edit({});
    expect(await waitsFor(id)).toEqual(["runner"]);
    await edit({ features: {} });
    const { body } = await world.client.get(`/v1/deployments/${id}/configuration`);
    expect(body).toMatchObject({ before: { features: {} }, after: { features: {}, replicas: 3 } });
    expect((await approve(world.client, id, { digest: "0".repeat(64) })).status).toBe(409);
    expect((await approve(world.client, id, { digest: body.digest })).status).toBe(201);
    expect((await Attempt.started(pool.runner)).deploymentId).toBe(id);
  });

  it("does not hold for another source or other stacks", async () => {
    const image = (tag: string) => ({
      source: { registry: { image: `ghcr.io/acme/shop:${tag}` } },
    });
    const first = await deploy(image("1"));
    await approve(world.client, first.id);
    await (await Attempt.started(pool.runner)).succeed();
    const { id, stack_ids } = await deploy();
    const { digest } = (await approve(world.client, id)).body;
    await world.client.patch(`/v1/stacks/${stack_ids[0]}`, { name: "renamed" });
    expect(await messageOf(id)).toContain("1 was given before a change of the stacks.");
    const again = (await approve(world.client, id)).body.digest;
    expect(again).not.toBe(digest);
    expect((await Attempt.started(pool.runner)).deploymentId).toBe(id);
  });
});

describe("rules that change while a deployment waits", () => {
  it("apply beside the earlier ones", async () => {
    const nils = await joinProject(world, project.id, "contributor");
    const { id } = await deploy();
    const listed = { required: 1, approvers: { membership_ids: [nils.membershipId] } };
    await protect(world.client, environmentId, { approvals: listed });
    expect((await approve(nils.client, id)).status).toBe(201);
    expect(await claimedBy(pool)).toBeUndefined();
    await protect(world.client, environmentId, {});
    expect(await messageOf(id)).toBe(
      "0 of 1 approval by owners of the project and admins of the organization.",
    );
    expect((await approve(world.client, id)).status).toBe(201);
    expect(await claimedBy(pool)).toBe(id);
  });

  it("apply to what was queued before there were any", async () => {
    await protect(world.client, environmentId, {});
    const { id } = await deploy();
    await protect(world.client, environmentId, OWNERS);
    expect(await claimedBy(pool)).toBeUndefined();
    expect(await waitsFor(id)).toEqual(["approvals"]);
    await approve(world.client, id);
    expect((await claim(pool.runner)).body.deployment.id).toBe(id);
  });
});
