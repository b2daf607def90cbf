import { beforeEach, describe, expect, it } from "vitest";
import {
  clientOf,
  created,
  familyOf,
  newLeak,
  newLesserKeys,
  revokeFamily,
  statusesOf,
  statusOf,
} from "../support/api-keys.ts";
import { Client, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  accept,
  join,
  newEmail,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newWorld,
  type Person,
  signIn,
  type World,
} from "../support/world.ts";

const HOUR_MS = 3_600_000;
const inOneHour = () => new Date(Date.now() + HOUR_MS).toISOString();

let world: World;
let keys: string;
let members: string;
let invitations: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
  members = `/v1/orgs/${world.id}/members`;
  invitations = `/v1/orgs/${world.id}/invitations`;
});

describe("an organization that a leaked key founds", () => {
  it("needs a full key, and so do the changes of the account", async () => {
    const lower = await newLeak(world, { role: "member" });
    const session = await signIn(lower);
    for (const [kind, { client }] of [
      ...(await newLesserKeys(world)),
      ["with a lower role", lower] as const,
      ["session of a lower role", session] as const,
    ]) {
      for (const refused of [
        await client.post("/v1/orgs", { name: "Beta" }),
        await client.patch("/v1/account", { name: "Mallory" }),
        await client.delete("/v1/account"),
      ]) {
        expect([kind, refused.status, refused.body.code]).toEqual([kind, 403, "unauthorized"]);
      }
    }
    const { client } = await newLeak(world);
    await created(client.post("/v1/orgs", { name: "Beta" }));
    expect((await client.patch("/v1/account", { name: "Olive" })).status).toBe(200);
  });

  it("is in the family of the key, with all that its own keys make, and ends with it", async () => {
    const leaked = await newLeak(world);
    const first = await created(leaked.client.post("/v1/orgs", { name: "Beta" }));
    const second = await created(world.client.post("/v1/orgs", { name: "Gamma" }));
    const root = clientOf(first.api_key);
    const ofFirst = `/v1/orgs/${first.id}`;
    const child = await created(root.post(`${ofFirst}/api-keys`, { name: "child" }));
    const person = { email: newEmail(), name: "Mallory", role: "owner" };
    const member = await created(root.post(`${ofFirst}/members`, person));
    const ofMember = { name: "theirs", membership_id: member.membership_id };
    const theirs = await created(root.post(`${ofFirst}/api-keys`, ofMember));
    const third = await created(root.post("/v1/orgs", { name: "Delta" }));
    const family = await familyOf(world, leaked.keyId);
    const shown = family.map(({ type, id, name }) => ({ type, id, name }));
    expect(shown.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { type: "organization", id: first.id, name: "Beta" },
      { type: "organization", id: third.id, name: "Delta" },
    ]);
    await revokeFamily(world, leaked.keyId);
    const ended = [leaked.client, root, ...[child, theirs, third.api_key].map(clientOf)];
    expect(await statusesOf(ended)).toEqual([401, 401, 401, 401, 401]);
    expect(await statusesOf([world.client, clientOf(second.api_key)])).toEqual([200, 200]);
  });

  it("is reached by an owner only, also after an admin has revoked the key", async () => {
    const [leaked, admin] = [await accept(world, { role: "admin" }), await join(world, "admin")];
    const { api_key } = await created(leaked.client.post("/v1/orgs", { name: "Beta" }));
    const child = await created(leaked.client.post(keys, { name: "child" }));
    await revokeFamily(world, leaked.keyId, admin);
    const clients = [leaked.client, clientOf(child), clientOf(api_key)];
    expect(await statusesOf(clients)).toEqual([401, 401, 200]);
    await revokeFamily(world, leaked.keyId);
    expect(await statusOf(clientOf(api_key))).toBe(401);
  });

  it("cannot be founded with a key that an admin has made for a member, whom it would bind", async () => {
    const [admin, member] = [await join(world, "admin"), await accept(world)];
    const fields = { name: "for them", membership_id: member.membershipId };
    const given = await created(admin.client.post(keys, fields));
    expect((await clientOf(given).post("/v1/orgs", { name: "Beta" })).status).toBe(403);
    expect((await member.client.delete("/v1/account")).status).toBe(204);
  });
});

describe("a key that a leaked key rotates", () => {
  it("is in the family of both, so that its new secret ends with either", async () => {
    for (const revokesPredecessor of [false, true]) {
      const leaked = await newLeak(world);
      const victim = await join(world);
      const other = await newKey(world, { membershipId: victim.membershipId, role: "member" });
      const path = `${keys}/${victim.keyId}/rotate`;
      const stolen = await created(leaked.client.post(path, { overlap_seconds: 3_600 }));
      expect(await statusesOf([victim.client, clientOf(stolen)])).toEqual([200, 200]);
      expect((await familyOf(world, leaked.keyId)).map(({ id }) => id)).toEqual([stolen.id]);
      await revokeFamily(world, revokesPredecessor ? victim.keyId : leaked.keyId);
      expect(await statusOf(clientOf(stolen))).toBe(401);
      expect(await statusOf(victim.client)).toBe(revokesPredecessor ? 401 : 200);
      expect(await statusesOf([other.client, world.client])).toEqual([200, 200]);
    }
  });

  it("takes nothing of what the key has made to the leaked one's family, also when it is rotated twice", async () => {
    const leaked = await newLeak(world);
    const made = await created(world.client.post(keys, { name: "made" }));
    const rotate = (id: string) =>
      created(leaked.client.post(`${keys}/${id}/rotate`, { overlap_seconds: 3_600 }));
    const stolen = await rotate(world.keyId);
    const again = await rotate(stolen.id);
    const { body } = await clientOf(made).get(`${keys}/${leaked.keyId}/family`);
    expect(body.data.map(({ id }: Parsed) => id).toSorted()).toEqual(
      [stolen.id, again.id].toSorted(),
    );
    await created(clientOf(made).post(keys, { name: "last", role: "owner" }));
    await revokeFamily(world, leaked.keyId, { client: clientOf(made) });
    expect(await statusesOf([clientOf(stolen), clientOf(again), clientOf(made)])).toEqual([
      401, 401, 200,
    ]);
  });

  it("can only be itself, if it is narrowed, expires, or is a program's, and none in a session", async () => {
    for (const [kind, { client, keyId, membershipId }] of await newLesserKeys(world)) {
      const unused = await newKey(world, { membershipId, role: "member", scopes: ["keys:write"] });
      const refused = await client.post(`${keys}/${unused.keyId}/rotate`, { overlap_seconds: 60 });
      expect([kind, refused.status]).toEqual([kind, 403]);
      expect([kind, await statusOf(unused.client)]).toEqual([kind, 200]);
      const itself = await client.post(`${keys}/${keyId}/rotate`, {});
      expect([kind, itself.status]).toEqual([kind, 201]);
    }
    const [own, other] = [await newLeak(world), await newLeak(world)];
    const session = await signIn(own);
    for (const { keyId } of [own, other]) {
      expect((await session.client.post(`${keys}/${keyId}/rotate`, {})).status).toBe(403);
    }
    await created(own.client.post(`${keys}/${other.keyId}/rotate`, {}));
  });

  it("ends its earlier successor and predecessor at once, when it is rotated again", async () => {
    const victim = await join(world);
    const leaked = await newLeak(world);
    const rotate = (by: Client, id: string) =>
      created(by.post(`${keys}/${id}/rotate`, { overlap_seconds: 3_600 }));
    const stolen = await rotate(leaked.client, victim.keyId);
    const again = await rotate(victim.client, victim.keyId);
    expect(await statusesOf([victim.client, ...[stolen, again].map(clientOf)])).toEqual([
      200, 401, 200,
    ]);
    const next = await rotate(clientOf(again), again.id);
    expect(await statusesOf([victim.client, ...[again, next].map(clientOf)])).toEqual([
      401, 200, 200,
    ]);
  });
});

describe.each(["true", "false"])("people, with TRUST_ADMINS = %s", (TRUST_ADMINS) => {
  it("are added, invited and promoted with a full credential only", async () => {
    const { fetch } = new Instrumented({ settings: { TRUST_ADMINS } });
    const person = () => ({ email: newEmail(), name: "Mallory", role: "admin" });
    const member = await join(world);
    const lesser = await newLesserKeys(world);
    const session = await signIn((lesser[0] ?? [])[1] ?? world);
    for (const [kind, { client }] of [...lesser, ["session of a narrowed key", session] as const]) {
      const caller = client.via(fetch);
      for (const refused of [
        await caller.post(members, person()),
        await caller.post(invitations, person()),
        await caller.put(`${members}/${member.membershipId}`, { role: "admin" }),
      ]) {
        expect([kind, refused.status, refused.body.code]).toEqual([kind, 403, "unauthorized"]);
      }
    }
    const full = (await newLeak(world)).client.via(fetch);
    await created(full.post(members, person()));
    await created(full.post(invitations, person()));
    const promoted = await full.put(`${members}/${member.membershipId}`, { role: "admin" });
    expect(promoted.status).toBe(200);
  });

  it("who were invited with a leaked key join no more once its family has ended", async () => {
    const { fetch } = new Instrumented({ settings: { TRUST_ADMINS } });
    const leaked = await newLeak(world);
    const invite = (client: Client) =>
      created(client.post(invitations, { email: newEmail(), role: "admin" }));
    const [theirs, ours] = [await invite(leaked.client), await invite(world.client)];
    await revokeFamily(world, leaked.keyId);
    const open = (await world.client.get(invitations)).body.data;
    expect(open.map(({ id }: Parsed) => id)).toEqual([ours.id]);
    const pages = [theirs, ours].map(({ url }) => new URL(url).pathname);
    const visitor = new Client(undefined, fetch);
    const statuses = await Promise.all(pages.map(async (path) => (await visitor.get(path)).status));
    expect(statuses).toEqual([404, 200]);
  });
});

describe("a runner token that a leaked key rotates", () => {
  it.each([0, 3_600])(
    "is in the family of both keys with an overlap of %d s, and ends with either",
    async (overlap_seconds) => {
      const { default_environment_id: environmentId } = await newProject(world.client);
      const pool = await newPool(world, [environmentId]);
      const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
      const statusOfToken = async (token: string) =>
        (await new Client(token).get("/v1/runner/attempts")).status;
      for (const revokesIssuer of [false, true]) {
        const [leaked, issuer] = [await newLeak(world), await newLeak(world)];
        const old = await created(issuer.client.post(tokens, { name: "builder" }));
        const path = `${tokens}/${old.id}/rotate`;
        const stolen = await created(leaked.client.post(path, { overlap_seconds }));
        expect(await statusOfToken(stolen.token)).toBe(200);
        expect((await familyOf(world, leaked.keyId)).map(({ id }) => id)).toEqual([stolen.id]);
        await revokeFamily(world, revokesIssuer ? issuer.keyId : leaked.keyId);
        expect(await statusOfToken(stolen.token)).toBe(401);
        const isOldValid = overlap_seconds > 0 && !revokesIssuer;
        expect(await statusOfToken(old.token)).toBe(isOldValid ? 200 : 401);
        expect(await statusOfToken(String(pool.runner.key))).toBe(200);
      }
    },
  );
});

describe("a weak key", () => {
  it("neither narrows nor revokes a stronger one of its person, and does so with a weaker one", async () => {
    const person = await accept(world);
    const project = await newProject(world.client);
    const own = { membershipId: person.membershipId, role: "member", isOwn: true } as const;
    const narrow = { scopes: ["keys:write", "projects:read"], projectIds: [project.id] } as const;
    const weak = await newKey(world, { ...own, ...narrow });
    const equal = await newKey(world, { ...own, ...narrow });
    const stronger = [person, await newKey(world, { ...own, scopes: narrow.scopes })];
    for (const { keyId, client } of stronger) {
      const path = `${keys}/${keyId}`;
      const refused = [
        await weak.client.delete(path),
        await weak.client.delete(`${path}?descendants=revoke`),
        await weak.client.patch(path, { scopes: ["projects:read"] }),
        await weak.client.patch(path, { expires_at: inOneHour() }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
      expect(await statusOf(client)).toBe(200);
    }
    const path = `${keys}/${equal.keyId}`;
    expect((await weak.client.patch(path, { scopes: ["projects:read"] })).status).toBe(200);
    expect((await weak.client.delete(path)).status).toBe(204);
    expect(await statusOf(equal.client)).toBe(401);
  });
});

describe("a repeated request", () => {
  it("gets the stored secret only while its caller may still make the request", async () => {
    const [admin, demoted] = [
      await accept(world, { role: "admin" }),
      await accept(world, { role: "admin" }),
    ];
    const membershipId = await newServiceAccount(world);
    const repeat = ({ client }: Person) =>
      client.request(
        "POST",
        keys,
        { name: "ci", membership_id: membershipId },
        { "idempotency-key": "1" },
      );
    const first = await created(repeat(admin));
    await created(repeat(demoted));
    const path = `${members}/${demoted.membershipId}`;
    expect((await world.client.put(path, { role: "member" })).status).toBe(200);
    const refused = await repeat(demoted);
    expect([refused.status, refused.text.includes("lsh_")]).toEqual([403, false]);
    const replayed = await repeat(admin);
    expect([replayed.status, replayed.body.key]).toEqual([201, first.key]);
    expect(replayed.headers.get("idempotency-replayed")).toBe("true");
  });
});

describe("an expiry that only the organization's maximum age imposes", () => {
  it("makes no key less than full", async () => {
    const maximum = { max_age_seconds: 90 * 86_400 };
    const policy = await world.client.put(`/v1/orgs/${world.id}/api-key-policy`, maximum);
    expect(policy.status).toBe(200);
    const imposed = await created(world.client.post(keys, { name: "imposed" }));
    const chosen = await created(
      world.client.post(keys, { name: "chosen", expires_at: inOneHour() }),
    );
    expect(imposed.expires_at).toBeDefined();
    const found = ({ key }: Parsed) => new Client(key).post("/v1/orgs", { name: "Beta" });
    expect((await found(imposed)).status).toBe(201);
    expect((await found(chosen)).status).toBe(403);
  });
});
