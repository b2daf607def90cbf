import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Client, type Parsed, type Reply } from "../support/client.ts";
import { Browser, TestIdentityProvider } from "../support/identity-provider.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  accept,
  join,
  newEmail,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type Person,
  sessionIn,
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

/** A success: the body of the response. */
async function created(reply: Promise<Reply>): Promise<Parsed> {
  const { status, text, body } = await reply;
  expect(status, text).toBe(201);
  return body;
}

const clientOf = ({ key }: Parsed) => new Client(key);
const statusOf = async (client: Client) => (await client.get("/v1/orgs")).status;
const statusesOf = (clients: readonly Client[]) => Promise.all(clients.map(statusOf));

/** A full key of the owner, of which the tests say that it has leaked. */
const newLeak = (fields: Parameters<typeof newKey>[1] = {}) =>
  newKey(world, { isOwn: true, ...fields });

async function revokeFamily(keyId: string, by: Pick<Person, "client"> = world): Promise<void> {
  const { status, text } = await by.client.delete(`${keys}/${keyId}?descendants=revoke`);
  expect(status, text).toBe(204);
}

async function familyOf(keyId: string, by: Pick<Person, "client"> = world): Promise<Parsed[]> {
  const { status, body, text } = await by.client.get(`${keys}/${keyId}/family`);
  expect(status, text).toBe(200);
  return body.data;
}

/** A key of the organization's program, as a CI has it. */
async function newKeyOfProgram(role: "admin" | "member" = "admin"): Promise<Person> {
  return newKey(world, { membershipId: await newServiceAccount(world, role), role });
}

/** Each is less than the owner: narrowed, expiring, with a lower role, or of a program. */
async function lesserKeys(): Promise<[string, Person][]> {
  return [
    ["narrowed", await newLeak({ scopes: ["members:write", "organization:write", "keys:write"] })],
    ["expiring", await newLeak({ expiresAt: Date.now() + HOUR_MS })],
    ["of a program", await newKeyOfProgram()],
  ];
}

describe("an organization that a leaked key founds", () => {
  it("needs a full key, and so do the changes of the account", async () => {
    const lower = await newLeak({ role: "member" });
    const session = await signIn(lower);
    for (const [kind, { client }] of [
      ...(await lesserKeys()),
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
    const { client } = await newLeak();
    await created(client.post("/v1/orgs", { name: "Beta" }));
    expect((await client.patch("/v1/account", { name: "Olive" })).status).toBe(200);
  });

  it("is in the family of the key, with all that its own keys make, and ends with it", async () => {
    const leaked = await newLeak();
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
    const family = await familyOf(leaked.keyId);
    const shown = family.map(({ type, id, name }) => ({ type, id, name }));
    expect(shown.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { type: "organization", id: first.id, name: "Beta" },
      { type: "organization", id: third.id, name: "Delta" },
    ]);
    await revokeFamily(leaked.keyId);
    const ended = [leaked.client, root, ...[child, theirs, third.api_key].map(clientOf)];
    expect(await statusesOf(ended)).toEqual([401, 401, 401, 401, 401]);
    expect(await statusesOf([world.client, clientOf(second.api_key)])).toEqual([200, 200]);
  });

  it("is reached by an owner only, also after an admin has revoked the key", async () => {
    const [leaked, admin] = [await accept(world, { role: "admin" }), await join(world, "admin")];
    const { api_key } = await created(leaked.client.post("/v1/orgs", { name: "Beta" }));
    const child = await created(leaked.client.post(keys, { name: "child" }));
    await revokeFamily(leaked.keyId, admin);
    const clients = [leaked.client, clientOf(child), clientOf(api_key)];
    expect(await statusesOf(clients)).toEqual([401, 401, 200]);
    await revokeFamily(leaked.keyId);
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
      const leaked = await newLeak();
      const victim = await join(world);
      const other = await newKey(world, { membershipId: victim.membershipId, role: "member" });
      const path = `${keys}/${victim.keyId}/rotate`;
      const stolen = await created(leaked.client.post(path, { overlap_seconds: 3_600 }));
      expect(await statusesOf([victim.client, clientOf(stolen)])).toEqual([200, 200]);
      expect((await familyOf(leaked.keyId)).map(({ id }) => id)).toEqual([stolen.id]);
      await revokeFamily(revokesPredecessor ? victim.keyId : leaked.keyId);
      expect(await statusOf(clientOf(stolen))).toBe(401);
      expect(await statusOf(victim.client)).toBe(revokesPredecessor ? 401 : 200);
      expect(await statusesOf([other.client, world.client])).toEqual([200, 200]);
    }
  });

  it("takes nothing of what the key has made to the leaked one's family, also when it is rotated twice", async () => {
    const leaked = await newLeak();
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
    await revokeFamily(leaked.keyId, { client: clientOf(made) });
    expect(await statusesOf([clientOf(stolen), clientOf(again), clientOf(made)])).toEqual([
      401, 401, 200,
    ]);
  });

  it("can only be itself, if it is narrowed, expires, or is a program's, and none in a session", async () => {
    for (const [kind, { client, keyId, membershipId }] of await lesserKeys()) {
      const unused = await newKey(world, { membershipId, role: "member", scopes: ["keys:write"] });
      const refused = await client.post(`${keys}/${unused.keyId}/rotate`, { overlap_seconds: 60 });
      expect([kind, refused.status]).toEqual([kind, 403]);
      expect([kind, await statusOf(unused.client)]).toEqual([kind, 200]);
      const itself = await client.post(`${keys}/${keyId}/rotate`, {});
      expect([kind, itself.status]).toEqual([kind, 201]);
    }
    const [own, other] = [await newLeak(), await newLeak()];
    const session = await signIn(own);
    for (const { keyId } of [own, other]) {
      expect((await session.client.post(`${keys}/${keyId}/rotate`, {})).status).toBe(403);
    }
    await created(own.client.post(`${keys}/${other.keyId}/rotate`, {}));
  });

  it("ends its earlier successor and predecessor at once, when it is rotated again", async () => {
    const victim = await join(world);
    const leaked = await newLeak();
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
    const lesser = await lesserKeys();
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
    const full = (await newLeak()).client.via(fetch);
    await created(full.post(members, person()));
    await created(full.post(invitations, person()));
    const promoted = await full.put(`${members}/${member.membershipId}`, { role: "admin" });
    expect(promoted.status).toBe(200);
  });

  it("who were invited with a leaked key join no more once its family has ended", async () => {
    const { fetch } = new Instrumented({ settings: { TRUST_ADMINS } });
    const leaked = await newLeak();
    const invite = (client: Client) =>
      created(client.post(invitations, { email: newEmail(), role: "admin" }));
    const [theirs, ours] = [await invite(leaked.client), await invite(world.client)];
    await revokeFamily(leaked.keyId);
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
        const [leaked, issuer] = [await newLeak(), await newLeak()];
        const old = await created(issuer.client.post(tokens, { name: "builder" }));
        const path = `${tokens}/${old.id}/rotate`;
        const stolen = await created(leaked.client.post(path, { overlap_seconds }));
        expect(await statusOfToken(stolen.token)).toBe(200);
        expect((await familyOf(leaked.keyId)).map(({ id }) => id)).toEqual([stolen.id]);
        await revokeFamily(revokesIssuer ? issuer.keyId : leaked.keyId);
        expect(await statusOfToken(stolen.token)).toBe(401);
        const isOldValid = overlap_seconds > 0 && !revokesIssuer;
        expect(await statusOfToken(old.token)).toBe(isOldValid ? 200 : 401);
        expect(await statusOfToken(String(pool.runner.key))).toBe(200);
      }
    },
  );
});

describe("the revocation of a leaked key with its family", () => {
  it("ends its keys, runner tokens, trusts, invitations, sessions and sign-in links, and no others", async () => {
    const leaked = await newLeak();
    const { default_environment_id: environmentId } = await newProject(world.client);
    const pool = await newPool(world, [environmentId]);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    const serviceAccountId = await newServiceAccount(world);
    const make = async (client: Client) => {
      const child = await created(client.post(keys, { name: "child" }));
      const path = "/v1/sign-in-links";
      return {
        child,
        grandchild: await created(clientOf(child).post(keys, { name: "grandchild" })),
        token: await created(client.post(tokens, { name: "token" })),
        link: await created(client.post(path, {})),
        invitation: await created(client.post(invitations, { email: newEmail(), role: "member" })),
        session: await signIn({ client }),
      };
    };
    const [theirs, ours] = [await make(leaked.client), await make(world.client)];
    const ofFamily = { createdByKeyId: leaked.keyId };
    const trustId = await newTrust(world, { membershipId: serviceAccountId }, ofFamily);
    const ourTrustId = await newTrust(world, { membershipId: serviceAccountId });
    const family = await familyOf(leaked.keyId);
    // No response shows the ID of a sign-in link.
    const shown = family.map(({ type, id }) => (type === "sign_in_link" ? type : `${type} ${id}`));
    expect(new Set(shown)).toEqual(
      new Set([
        `api_key ${theirs.child.id}`,
        `api_key ${theirs.grandchild.id}`,
        `runner_token ${theirs.token.id}`,
        `trust ${trustId}`,
        `invitation ${theirs.invitation.id}`,
        `session ${theirs.session.sessionId}`,
        "sign_in_link",
      ]),
    );
    await revokeFamily(leaked.keyId);
    const pages = (made: typeof theirs) => [made.link, made.invitation].map(({ url }) => url);
    const attempts = "/v1/runner/attempts";
    for (const [made, trust, expected] of [
      [theirs, trustId, [401, 401, 401, 401, 404, 404, 404]],
      [ours, ourTrustId, [200, 200, 200, 200, 200, 200, 200]],
    ] as const) {
      const clients = [clientOf(made.child), clientOf(made.grandchild), made.session.client];
      const statuses = [
        ...(await statusesOf(clients)),
        (await new Client(made.token.token).get(attempts)).status,
        (await world.client.get(`/v1/orgs/${world.id}/trusts/${trust}`)).status,
        ...(await Promise.all(
          pages(made).map(async (url) => {
            return (await new Client(undefined).get(new URL(url).pathname)).status;
          }),
        )),
      ];
      expect(statuses).toEqual(expected);
    }
  });

  it("removes no person whom it has added, and names them before and after", async () => {
    const leaked = await newLeak();
    const fields = { email: newEmail(), name: "Mallory", role: "member" };
    const added = await created(leaked.client.post(members, fields));
    const body = { email: newEmail(), role: "member" };
    const { url } = await created(leaked.client.post(invitations, body));
    const token = String(url.split("/").at(-1));
    const accepted = await created(new Client(undefined).post("/v1/invitations/accept", { token }));
    const theirs = clientOf(accepted.api_key);
    const ids = [added.membership_id, accepted.membership.membership_id].toSorted();
    const named = async () =>
      (await familyOf(leaked.keyId))
        .filter(({ type }) => type === "member")
        .map(({ id }) => id)
        .toSorted();
    expect(await named()).toEqual(ids);
    await revokeFamily(leaked.keyId);
    expect(await named()).toEqual(ids);
    expect(await statusOf(theirs)).toBe(200);
    for (const id of ids) expect((await world.client.delete(`${members}/${id}`)).status).toBe(204);
    expect(await statusOf(theirs)).toBe(401);
  });

  it("reaches what a person whom it has added has made for others, and names whom that person has added", async () => {
    const leaked = await newLeak();
    const invite = async (client: Client) => {
      const body = { email: newEmail(), role: "admin" };
      const { url } = await created(client.post(invitations, body));
      const token = String(url.split("/").at(-1));
      return created(new Client(undefined).post("/v1/invitations/accept", { token }));
    };
    const first = await invite(leaked.client);
    const theirs = clientOf(first.api_key);
    const second = await invite(theirs);
    const makeFor = (membership_id: string, client = theirs) =>
      created(client.post(keys, { name: "made", membership_id }));
    const program = await newServiceAccount(world, "admin");
    const [made, ours] = [await makeFor(program), await makeFor(program, world.client)];
    const { api_key } = await created(theirs.post("/v1/orgs", { name: "Beta" }));
    const people = (await familyOf(leaked.keyId)).filter(({ type }) => type === "member");
    const ids = [first, second].map(({ membership }) => membership.membership_id);
    expect(people.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await revokeFamily(leaked.keyId);
    for (const { id } of people) {
      const path = `${members}/${id}?descendants=revoke`;
      expect((await world.client.delete(path)).status).toBe(204);
    }
    const clients = [theirs, ...[second.api_key, made, api_key, ours].map(clientOf)];
    expect(await statusesOf(clients)).toEqual([401, 401, 401, 401, 200]);
  });

  it.each(["key", "session"])(
    "is ended with what a member has made by the %s of an admin, also after the member was removed",
    async (kind) => {
      const admin = await join(world, "admin");
      const by = kind === "key" ? admin : await signIn(admin);
      const [present, removed] = [await join(world, "admin"), await join(world, "admin")];
      const program = await newServiceAccount(world, "admin");
      const makeBy = ({ client }: Pick<Person, "client">) =>
        created(client.post(keys, { name: "made", membership_id: program }));
      const made = [await makeBy(present), await makeBy(removed)].map(clientOf);
      const kept = clientOf(await makeBy(by));
      expect((await by.client.delete(`${members}/${removed.membershipId}`)).status).toBe(204);
      expect(await statusesOf(made)).toEqual([200, 200]);
      for (const { membershipId } of [present, removed]) {
        const path = `${members}/${membershipId}?descendants=revoke`;
        expect((await by.client.delete(path)).status).toBe(204);
      }
      expect(await statusesOf([...made, kept, by.client])).toEqual([401, 401, 200, 200]);
    },
  );

  it.each(["removed", "erased"])(
    "names a person whom it has added after being %s, so that what that person made can be ended",
    async (how) => {
      const leaked = await newLeak();
      const body = { email: newEmail(), role: "admin" };
      const { url } = await created(leaked.client.post(invitations, body));
      const token = String(url.split("/").at(-1));
      const { membership, api_key } = await created(
        new Client(undefined).post("/v1/invitations/accept", { token }),
      );
      const theirs = clientOf(api_key);
      const forProgram = { name: "made", membership_id: await newServiceAccount(world, "admin") };
      const made = await created(theirs.post(keys, forProgram));
      const second = { email: newEmail(), name: "Second", role: "admin" };
      const added = await created(theirs.post(members, second));
      const left =
        how === "erased"
          ? await theirs.delete("/v1/account")
          : await leaked.client.delete(`${members}/${membership.membership_id}`);
      expect(left.status).toBe(204);
      const people = (await familyOf(leaked.keyId)).filter(({ type }) => type === "member");
      const ids = [membership.membership_id, added.membership_id];
      expect(people.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      await revokeFamily(leaked.keyId);
      expect(await statusesOf([theirs, clientOf(made)])).toEqual([401, 200]);
      for (const id of ids) {
        const path = `${members}/${id}?descendants=revoke`;
        expect((await world.client.delete(path)).status).toBe(204);
      }
      expect(await statusOf(clientOf(made))).toBe(401);
    },
  );

  it("is not needed for its sessions and sign-in links, which end with it", async () => {
    const leaked = await newLeak();
    const session = await signIn(leaked);
    const { url } = await created(leaked.client.post("/v1/sign-in-links", {}));
    expect((await world.client.delete(`${keys}/${leaked.keyId}`)).status).toBe(204);
    expect(await statusOf(session.client)).toBe(401);
    expect((await new Client(undefined).get(new URL(url).pathname)).status).toBe(404);
  });
});

describe("a session that has leaked", () => {
  let provider: TestIdentityProvider;

  beforeAll(async () => {
    provider = await TestIdentityProvider.create();
  });

  /** A person who has joined by a sign-in, with the session of another one. */
  async function newPerson(): Promise<{
    membershipId: string;
    session: Client;
    sessionId: string;
  }> {
    const email = newEmail();
    const { url } = await created(world.client.post(invitations, { email, role: "admin" }));
    const browser = new Browser(provider);
    const path = `/sign-in?invitation=${url.split("/").at(-1)}`;
    expect((await browser.signIn(provider, email, { path })).status).toBe(303);
    const session = Client.withSession(browser.session);
    const { body } = await session.get("/v1/whoami");
    return { membershipId: body.membership.id, session, sessionId: body.credential.id };
  }

  it("of a sign-in is listed and ended by admins, with what was made in it", async () => {
    const [leaked, other] = [await newPerson(), await newPerson()];
    const key = await created(leaked.session.post(keys, { name: "kept" }));
    const sessions = `${members}/${leaked.membershipId}/sessions`;
    const member = await join(world);
    expect((await member.client.get(sessions)).status).toBe(403);
    const { body } = await world.client.get(sessions);
    expect(body.data).toMatchObject([{ id: leaked.sessionId, source: "open_id_connect" }]);
    const path = `${sessions}/${leaked.sessionId}`;
    const family = await world.client.get(`${path}/family`);
    expect(family.body.data).toMatchObject([{ type: "api_key", id: key.id, name: "kept" }]);
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await statusesOf([leaked.session, clientOf(key)])).toEqual([401, 200]);
    expect((await world.client.delete(`${path}?descendants=revoke`)).status).toBe(204);
    expect(await statusesOf([clientOf(key), other.session])).toEqual([401, 200]);
  });

  it("leaves what was made in it at a sign-out, which admins can still end", async () => {
    const { membershipId, session, sessionId } = await newPerson();
    const key = await created(session.post(keys, { name: "kept" }));
    expect((await session.delete("/v1/sessions/current")).status).toBe(204);
    expect(await statusesOf([session, clientOf(key)])).toEqual([401, 200]);
    const sessions = `${members}/${membershipId}/sessions`;
    expect((await world.client.get(`${sessions}?status=active`)).body.data).toEqual([]);
    const { body } = await world.client.get(`${sessions}?status=ended`);
    expect(body.data).toMatchObject([{ id: sessionId }]);
    const path = `${sessions}/${sessionId}?descendants=revoke`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await statusOf(clientOf(key))).toBe(401);
  });

  it("and was switched to the person's other organization ends there by the person, with all it made", async () => {
    const email = newEmail();
    const other = await newWorld();
    const browser = new Browser(provider);
    for (const { id, client } of [other, world]) {
      const path = `/v1/orgs/${id}/invitations`;
      const { url } = await created(client.post(path, { email, role: "admin" }));
      const signIn = { path: `/sign-in?invitation=${url.split("/").at(-1)}` };
      expect((await browser.signIn(provider, email, signIn)).status).toBe(303);
    }
    const leaked = Client.withSession(browser.session);
    const { body: before } = await leaked.get("/v1/whoami");
    const key = await created(leaked.post(keys, { name: "first" }));
    const switched = await leaked.request("PUT", `/v1/sessions/current/organizations/${other.id}`);
    const next = Client.withSession(sessionIn(switched));
    const inOther = await created(next.post(`/v1/orgs/${other.id}/api-keys`, { name: "second" }));
    const again = new Browser(provider);
    await again.signInTo(provider, email, world.id);
    const own = Client.withSession(again.session);
    const revocation = `/v1/sessions/${before.credential.id}?descendants=revoke`;
    expect((await own.delete(revocation)).status).toBe(204);
    const ended = [leaked, next, clientOf(key), clientOf(inOther)];
    expect(await statusesOf(ended)).toEqual([401, 401, 401, 401]);
    expect(await statusesOf([world.client, other.client])).toEqual([200, 200]);
  });
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
