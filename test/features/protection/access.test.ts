import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Reply } from "../../support/client.ts";
import { protect } from "../../support/protection.ts";
import { useShop } from "../../support/shop.ts";
import {
  join,
  newDeployment,
  newKey,
  newServiceAccount,
  newStack,
  newWorld,
  signIn,
} from "../../support/world.ts";

const OWNERS_DEPLOY = { access: { deploy: { role: "owner" } } };
const DEPLOYERS =
  "Only owners of the project and admins of the organization may deploy to this environment.";
const CONFIGURERS =
  "Only owners of the project and admins of the organization may write the variables and the " +
  "configuration of this environment.";

const shop = useShop({});

const protection = () => `${shop.environment}/protection`;

const expectRefused = ({ status, body }: Reply, message: string) =>
  expect([status, body]).toMatchObject([403, { code: "forbidden", message }]);

const variable = (name: string) => ({ name, storage_method: "string", value: "x" });

describe("the rules of an environment", () => {
  it("are shown with their defaults", async () => {
    const open = { deploy: { role: "contributor" }, configure: { role: "contributor" } };
    const shown = await shop.mona.client.get(protection());
    expect(shown.body).toEqual({
      environment_id: shop.environmentId,
      access: open,
    });
    const approvals = { required: 2, approvers: { role: "contributor" } };
    const replaced = await shop.world.client.put(protection(), { approvals });
    expect(replaced.body).toEqual({
      environment_id: shop.environmentId,
      access: { ...open, configure: { role: "owner" } },
      approvals: { ...approvals, prevent_self_approval: true, expires_after_seconds: 86_400 },
      approvers_verified_by: "identity_provider",
      updated_at: expect.stringMatching(/Z$/),
    });
  });

  it("are for project owners and admins, with all that the person may do", async () => {
    const olga = await shop.join("owner");
    const admin = await join(shop.world, "admin");
    for (const { client } of [olga, admin, await signIn(olga)]) {
      expect((await client.put(protection(), OWNERS_DEPLOY)).status).toBe(200);
    }
    expect((await shop.mona.client.put(protection(), {})).body.code).toBe("forbidden");
    const own = { membershipId: olga.membershipId, role: "member", isOwn: true } as const;
    for (const narrowed of [
      { environmentIds: [shop.environmentId] },
      { expiresAt: Date.now() + 60_000 },
    ]) {
      const { client } = await newKey(shop.world, { ...own, ...narrowed });
      const { status, body } = await client.put(protection(), {});
      expect([status, body.code]).toEqual([403, "unauthorized"]);
    }
  });

  it("name members of the organization, and people as approvers", async () => {
    const other = await newWorld();
    const stranger = { membership_ids: [other.membershipId] };
    const rules = (approvers: object) => ({ approvals: { required: 1, approvers } });
    for (const body of [rules(stranger), { access: { deploy: stranger } }]) {
      expect((await shop.world.client.put(protection(), body)).status).toBe(404);
    }
    const program = { membership_ids: [await newServiceAccount(shop.world)] };
    const refused = await shop.world.client.put(protection(), rules(program));
    expect(refused.body.cause.issues).toEqual([
      {
        path: "approvals.approvers.membership_ids.0",
        message: "Send a person: programs approve nothing.",
      },
    ]);
    expect(
      (await shop.world.client.put(protection(), { access: { deploy: program } })).status,
    ).toBe(200);
    for (const members of [{}, { role: "owner", ...program }, { role: "viewer" }]) {
      const { status, body } = await shop.world.client.put(protection(), {
        access: { deploy: members },
      });
      expect([status, body.code]).toEqual([400, "bad_input"]);
    }
  });

  it("need 1 to 6 approvals, within a minute to 30 days", async () => {
    const rules = (fields: object) => ({
      approvals: { required: 1, approvers: { role: "owner" }, ...fields },
    });
    const statusOf = async (fields: object) =>
      (await shop.world.client.put(protection(), rules(fields))).status;
    for (const required of [1, 6]) expect(await statusOf({ required })).toBe(200);
    for (const required of [0, 7, 1.5]) expect(await statusOf({ required })).toBe(400);
    for (const seconds of [60, 2_592_000])
      expect(await statusOf({ expires_after_seconds: seconds })).toBe(200);
    for (const seconds of [59, 2_592_001])
      expect(await statusOf({ expires_after_seconds: seconds })).toBe(400);
  });
});

describe("who may deploy", () => {
  it("is a list of members and programs, which gives no role", async () => {
    await newStack(shop.world.client, shop.environmentId);
    const bot = await newServiceAccount(shop.world);
    const viewer = await shop.join("viewer");
    await shop.world.client.post(`/v1/projects/${shop.project.id}/members`, {
      member_ids: [bot],
      role: "contributor",
    });
    const deploy = { membership_ids: [bot, viewer.membershipId, shop.mona.membershipId] };
    await shop.protect({ access: { deploy } });
    const path = `${shop.environment}/deployments`;
    const program = await newKey(shop.world, { membershipId: bot, role: "member" });
    for (const { client } of [shop.mona, program])
      expect((await client.post(path, {})).status).toBe(201);
    expect((await viewer.client.post(path, {})).body.message).toContain("role contributor");
    const refused = await shop.world.client.post(path, {});
    expect(refused.status).toBe(403);
    expect(refused.body.message).toMatch(/^Only "[^"]+", "[^"]+" and "[^"]+" may deploy/);
  });
});

describe("who may configure", () => {
  it("are owners by default, with approvals", async () => {
    const path = `${shop.environment}/variables`;
    expect((await shop.mona.client.post(path, variable("A"))).status).toBe(201);
    const approvals = { required: 1, approvers: { role: "contributor" } };
    await shop.protect({ approvals });
    expectRefused(await shop.mona.client.post(path, variable("B")), CONFIGURERS);
    const access = { configure: { role: "contributor" } };
    await shop.protect({ approvals, access });
    expect((await shop.mona.client.post(path, variable("B"))).status).toBe(201);
  });
});

describe("who may not deploy", () => {
  it.each(["redeploy", "promote"])("is refused before documents are compared: %s", async (verb) => {
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const environments = `/v1/projects/${shop.project.id}/environments`;
    const { body: target } = await shop.world.client.post(environments, { name: "target" });
    const deployed = verb === "promote" ? target.id : shop.environmentId;
    await protect(shop.world.client, deployed, OWNERS_DEPLOY);
    // Its comparison would fail.
    await env.DB.prepare("update deployments set configuration = '{broken' where id = ?")
      .bind(id)
      .run();
    const body = verb === "promote" ? { environment_id: target.id } : {};
    expectRefused(await shop.mona.client.post(`/v1/deployments/${id}/${verb}`, body), DEPLOYERS);
  });
});
