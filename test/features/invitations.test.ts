import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { INVITATION_TOKEN_PATTERN } from "../../src/auth/credentials.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { auditOf } from "../support/audit.ts";
import { Client, type Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  accept,
  join,
  newEmail,
  newInvitation,
  newKey,
  newWorld,
  type World,
} from "../support/world.ts";

const DAY_MS = 24 * 3_600_000;
const ACCEPT = "/v1/invitations/accept";

let world: World;
let invitations: string;
let members: string;
/** Without a key. */
let invitee: Client;

beforeEach(async () => {
  world = await newWorld();
  invitations = `/v1/orgs/${world.id}/invitations`;
  members = `/v1/orgs/${world.id}/members`;
  invitee = new Client(undefined);
});
const invite = (body: object) => world.client.post(invitations, { role: "member", ...body });
const acceptWith = (token: string, client = invitee) => client.post(ACCEPT, { token });

describe("an invitation", () => {
  it("has a link that only the response to its creation shows", async () => {
    const email = newEmail();
    const { status, body } = await invite({ email: email.toUpperCase(), name: "Grace Hopper" });
    expect(status).toBe(201);
    const { url, ...record } = body;
    expect(record).toMatchObject({
      org_id: world.id,
      email,
      name: "Grace Hopper",
      role: "member",
      created_by: { key_id: world.keyId, membership_id: world.membershipId },
    });
    expect(Date.parse(record.expires_at) - Date.parse(record.created_at)).toBe(7 * DAY_MS);
    const [, token = ""] = /^https:\/\/longshore\.test\/invitations\/(.+)$/.exec(url) ?? [];
    expect(token).toMatch(INVITATION_TOKEN_PATTERN);
    expect((await world.client.get(`${invitations}/${record.id}`)).body).toEqual(record);
    const list = await world.client.get(invitations);
    expect(list.body.data).toEqual([record]);
    const secret = token.slice(27, 70);
    const { results } = await env.DB.prepare("select * from invitations").all();
    const stored = JSON.stringify([results, await auditOf(world.id)]);
    expect(list.text + stored).not.toContain(secret);
  });

  it("gets the same response whether or not an account with the address exists elsewhere", async () => {
    const other = await newWorld();
    const email = newEmail();
    const bio = `canary-${crypto.randomUUID()}`;
    const added = await other.client.post(`/v1/orgs/${other.id}/members`, {
      email,
      name: bio,
      role: "owner",
      profile: { bio },
    });
    const proven = await env.DB.prepare("select email from accounts where id = ?")
      .bind(other.accountId)
      .first<string>("email");
    const known = [await invite({ email }), await invite({ email: String(proven) })];
    const unknown = await invite({ email: newEmail() });
    const shapeOf = ({ status, body }: Reply) => [
      status,
      Object.entries(body).map(([name, value]) => [name, JSON.stringify(value).length]),
    ];
    const shapeWithoutEmail = (reply: Reply) => JSON.stringify(shapeOf(withoutEmail(reply)));
    for (const reply of known) {
      expect(shapeWithoutEmail(reply)).toBe(shapeWithoutEmail(unknown));
      expect(reply.text).not.toContain(added.body.account_id);
      expect(reply.text).not.toContain(bio);
    }
    const { body } = await acceptWith(String(known[0]?.body.url.split("/").at(-1)));
    expect(body.membership).toMatchObject({ name: "New member", profile: {} });
    expect(body.membership.account_id).not.toBe(added.body.account_id);
    expect(JSON.stringify([body, await auditOf(world.id)])).not.toContain(bio);
  });

  it("is a conflict for an address with an open one, or of a member of this organization", async () => {
    const email = newEmail();
    const { body } = await invite({ email });
    const second = await invite({ email: email.toUpperCase() });
    expect([second.status, second.body.code]).toEqual([409, "conflict"]);
    expect(second.body.message).toContain("open invitation");
    await world.client.delete(`${invitations}/${body.id}`);
    expect((await invite({ email })).status).toBe(201);
    const member = newEmail();
    await world.client.post(members, { email: member, name: "Member", role: "member" });
    const refused = await invite({ email: member });
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect(refused.body.message).toContain("already a member");
  });

  it("is created, read and revoked by admins only, and that of an owner by owners only", async () => {
    const open = await newInvitation(world);
    const path = `${invitations}/${open.id}`;
    const body = { email: newEmail(), role: "member" };
    const member = await join(world);
    const stranger = await newWorld();
    for (const [{ client }, status] of [
      [member, 403],
      [stranger, 404],
    ] as const) {
      const replies = [
        await client.get(invitations),
        await client.post(invitations, body),
        await client.get(path),
        await client.delete(path),
      ];
      expect(replies.map((reply) => reply.status)).toEqual([status, status, status, status]);
    }
    const admin = await join(world, "admin");
    const ofOwner = await newInvitation(world, { role: "owner" });
    const refused = [
      await admin.client.post(invitations, { ...body, role: "owner" }),
      await admin.client.delete(`${invitations}/${ofOwner.id}`),
    ];
    expect(refused.map(({ body: { code } }) => code)).toEqual(["unauthorized", "unauthorized"]);
    const actions = (await auditOf(world.id)).filter(({ outcome }) => outcome === "refused");
    const refusal = { action: "escalation.refused", target_type: "invitation" };
    expect(actions).toMatchObject([refusal, refusal]);
    expect(actions.map(({ target_id }) => target_id)).toContain(ofOwner.id);
    expect((await admin.client.post(invitations, body)).status).toBe(201);
    expect((await admin.client.delete(path)).status).toBe(204);
  });

  it("is not created with a narrowed key, whose link would give a wider one", async () => {
    const narrowed = await newKey(world);
    await env.DB.prepare(`update api_keys set scopes = '["members:write"]' where id = ?`)
      .bind(narrowed.keyId)
      .run();
    const body = { email: newEmail(), role: "member" };
    const refused = await narrowed.client.post(invitations, body);
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect((await world.client.post(invitations, body)).status).toBe(201);
  });

  it("is not created with a key that expires, unlike the key that its link would give", async () => {
    const expiring = await newKey(world, { expiresAt: Date.now() + DAY_MS });
    const body = { email: newEmail(), role: "member" };
    const refused = await expiring.client.post(invitations, body);
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect(refused.body.message).toContain("expires_at");
    const records = (await auditOf(world.id)).filter(({ outcome }) => outcome === "refused");
    expect(records).toMatchObject([
      { action: "escalation.refused", target_type: "invitation", credential_id: expiring.keyId },
    ]);
    const { client } = await newKey(world);
    expect((await client.get(invitations)).body.data).toEqual([]);
    expect((await client.post(invitations, body)).status).toBe(201);
  });

  it.each([
    ["an invalid address", { email: "ada", role: "member" }, "email"],
    ["an unknown role", { email: "a@b.example", role: "king" }, "role"],
    ["a blank name", { email: "a@b.example", role: "member", name: " " }, "name"],
    ["an unknown field", { email: "a@b.example", role: "member", profile: {} }, "profile"],
  ])("is rejected with %s", async (_, body, path) => {
    const reply = await world.client.post(invitations, body);
    expect([reply.status, reply.body.cause.issues[0].path]).toEqual([400, path]);
  });

  it("counts toward a limit while it is open", async () => {
    const ids = Array.from({ length: 199 }, () => newId(systemClock));
    const insert = (expires: number) =>
      env.DB.prepare(
        `insert into invitations (id, organization_id, email, role, secret_hash, created_by_key_id,
            created_by_membership_id, expires_at, created_at)
          select value, ?2, value || '@example.com', 'member', value, ?3, ?4, ?5, ?5
          from json_each(?1)`,
      )
        .bind(JSON.stringify(ids), world.id, world.keyId, world.membershipId, expires)
        .run();
    await insert(Date.now() + DAY_MS);
    expect((await invite({ email: newEmail() })).status).toBe(201);
    const refused = await invite({ email: newEmail() });
    expect([refused.status, refused.body.message]).toEqual([
      409,
      "The limit of 200 open invitations of an organization is reached. Delete some first, or send less.",
    ]);
    await env.DB.prepare("update invitations set expires_at = 1 where organization_id = ?")
      .bind(world.id)
      .run();
    expect((await invite({ email: newEmail() })).status).toBe(201);
  });

  it("leaves records without the address", async () => {
    const email = newEmail();
    const person = await accept(world, { email, name: "Grace" });
    const revoked = await newInvitation(world, { email: newEmail() });
    await world.client.delete(`${invitations}/${revoked.id}`);
    const records = await auditOf(world.id);
    const about = (action: string) => records.filter((each) => each.action === action);
    expect(about("invitation.created")).toHaveLength(2);
    expect(about("invitation.revoked")).toMatchObject([{ target_id: revoked.id }]);
    expect(about("invitation.accepted")).toMatchObject([
      {
        actor_type: "invitation",
        membership_id: person.membershipId,
        account_id: person.accountId,
        target_name: null,
      },
    ]);
    expect(about("invitation.accepted")[0].request_id).toBeTruthy();
    expect(about("member.added")).toMatchObject([
      { target_id: person.membershipId, actor_type: "invitation" },
    ]);
    expect(about("api_key.created")).toMatchObject([{ target_id: person.keyId }]);
    expect(JSON.stringify(records)).not.toContain("@example.com");
  });
});

describe("the sweep", () => {
  it("deletes expired invitations, and no others", async () => {
    const open = await newInvitation(world);
    const count = () =>
      env.DB.prepare("select count(*) as n from invitations where id = ?").bind(open.id).first("n");
    const end = Date.parse(open.expires_at);
    await new Instrumented({ clock: { now: () => end - 1 } }).sweep();
    expect(await count()).toBe(1);
    await new Instrumented({ clock: { now: () => end } }).sweep();
    expect(await count()).toBe(0);
  });
});

/** The lengths of addresses differ. */
function withoutEmail(reply: Reply): Reply {
  return { ...reply, body: { ...reply.body, email: "" } };
}
