import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clientOf, created, statusesOf, statusOf } from "../support/api-keys.ts";
import { Client } from "../support/client.ts";
import { Browser, TestIdentityProvider } from "../support/identity-provider.ts";
import { join, newEmail, newWorld, sessionIn, type World } from "../support/world.ts";

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
