import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Browser, clientOf, TestIdentityProvider } from "../../support/identity-provider.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  addressOf,
  addSessions,
  addToOrganizations,
  join,
  newEmail,
  newInvitation,
  newKey,
  newWorld,
  signIn,
  type World,
} from "../../support/world.ts";

let provider: TestIdentityProvider;

beforeAll(async () => {
  provider = await TestIdentityProvider.create();
});

/** A person who owns one organization, has accepted a membership of another, and has none of a third. */
async function newPerson() {
  const [own, other, foreign] = [await newWorld(), await newWorld(), await newWorld()];
  const email = await addressOf(own);
  const { body } = await other.client.post(`/v1/orgs/${other.id}/members`, {
    email,
    name: "Olive",
    role: "member",
  });
  await new Browser(provider).signInTo(provider, email, other.id);
  const browser = new Browser(provider);
  await browser.signInTo(provider, email, own.id);
  return { own, other, foreign, email, membershipId: String(body.membership_id), browser };
}

const switchPath = ({ id }: Pick<World, "id">) => `/v1/sessions/current/organizations/${id}`;

/** Switches in the browser, which keeps the new cookie. */
async function switchTo(browser: Browser, world: Pick<World, "id">): Promise<number> {
  return (await browser.open(switchPath(world), "PUT")).status;
}

describe("a session from OpenID Connect", () => {
  it("lists the organizations of its person, and no others", async () => {
    const { own, other, browser } = await newPerson();
    const { body } = await clientOf(browser).get("/v1/sessions/current/organizations");
    expect(body.data.map(({ name: _, ...rest }: Parsed) => rest)).toEqual([
      { id: other.id, role: "member", current: false },
      { id: own.id, role: "owner", current: true },
    ]);
    expect(body.has_more).toBe(false);
  });

  it("lists all of them, in pages, and switches to the last one", async () => {
    const { own, email, browser } = await newPerson();
    const ids = await addToOrganizations(email, 250, { signedInAt: 1 });
    const found: string[] = [];
    let after = "";
    do {
      const path = `/v1/sessions/current/organizations?limit=100${after}`;
      const { body } = await clientOf(browser).get(path);
      found.push(...body.data.map(({ id }: Parsed) => id));
      after = body.has_more ? `&after=${body.next_page}` : "";
    } while (after !== "");
    expect(found).toHaveLength(252);
    expect(found).toEqual(expect.arrayContaining([...ids, own.id]));
    expect(await switchTo(browser, { id: String(ids.at(-1)) })).toBe(200);
    expect(await switchTo(browser, own)).toBe(200);
  });

  it("switches to another organization, with the role there, and ends", async () => {
    const { own, other, browser, membershipId } = await newPerson();
    const before = clientOf(browser);
    const [{ expires_at }] = (await before.get("/v1/sessions")).body.data;
    expect(await switchTo(browser, other)).toBe(200);
    expect((await before.get("/v1/whoami")).status).toBe(401);
    const after = clientOf(browser);
    expect((await after.get("/v1/whoami")).body).toMatchObject({
      organization: { id: other.id },
      membership: { id: membershipId, role: "member" },
      credential: { role: "member" },
    });
    expect((await after.get(`/v1/orgs/${own.id}/members`)).status).toBe(404);
    expect((await after.get(`/v1/orgs/${other.id}/trusts`)).status).toBe(403);
    const [session] = (await after.get("/v1/sessions")).body.data;
    expect(session).toMatchObject({ source: "open_id_connect", expires_at });
    expect(await switchTo(browser, own)).toBe(200);
    expect((await clientOf(browser).get(`/v1/orgs/${own.id}/trusts`)).status).toBe(200);
  });

  it("ends at a switch in every isolate, and the other sessions of its person do not", async () => {
    const { own, other, email, browser } = await newPerson();
    const remaining = new Browser(provider);
    await remaining.signInTo(provider, email, own.id);
    const clients = [clientOf(browser), clientOf(remaining)];
    const isolates = [new Instrumented(), new Instrumented()];
    const statuses = () =>
      Promise.all(
        isolates.map(({ fetch }) =>
          Promise.all(clients.map(async (each) => (await each.via(fetch).get("/v1/orgs")).status)),
        ),
      );
    expect(await statuses()).toEqual(isolates.map(() => [200, 200]));
    expect(await switchTo(browser, other)).toBe(200);
    // Has cached none of the sessions.
    isolates.push(new Instrumented());
    expect(await statuses()).toEqual(isolates.map(() => [401, 200]));
  });

  it("records the end in one organization and the beginning in the other", async () => {
    const { own, other, browser, membershipId } = await newPerson();
    await switchTo(browser, other);
    const [ended] = (await own.client.get(`/v1/orgs/${own.id}/audit-log`)).body.data;
    expect(ended).toMatchObject({
      action: "session.revoked",
      actor: { type: "session", membership_id: own.membershipId },
    });
    const [begun] = (await other.client.get(`/v1/orgs/${other.id}/audit-log`)).body.data;
    expect(begun).toMatchObject({
      action: "session.created",
      actor: { type: "open_id_connect", membership_id: membershipId },
    });
  });

  it("does not switch to an organization that its person is not, or no longer, a member of", async () => {
    const { own, other, foreign, browser, membershipId } = await newPerson();
    expect(await switchTo(browser, foreign)).toBe(404);
    await other.client.delete(`/v1/orgs/${other.id}/members/${membershipId}`);
    expect(await switchTo(browser, other)).toBe(404);
    expect((await clientOf(browser).get("/v1/whoami")).body.organization.id).toBe(own.id);
  });

  it.each(["pending", "active"])(
    "neither lists nor switches to a membership that is %s and that its person has not accepted",
    async (status) => {
      const { own, other, browser, membershipId } = await newPerson();
      const [unaccepted] = await addToOrganizations(await addressOf(own), 1, { status });
      await env.DB.prepare("update memberships set status = ?, signed_in_at = null where id = ?")
        .bind(status, membershipId)
        .run();
      for (const id of [other.id, String(unaccepted)]) {
        expect(await switchTo(browser, { id })).toBe(404);
      }
      const { body } = await clientOf(browser).get("/v1/sessions/current/organizations");
      expect(body.data.map(({ id }: Parsed) => id)).toEqual([own.id]);
      const member = await other.client.get(`/v1/orgs/${other.id}/members/${membershipId}`);
      expect(member.body.status).toBe(status);
    },
  );

  it.each([
    ["have expired", "update sessions set expires_at = ?2 where membership_id = ?1"],
    [
      "were not used for 12 hours",
      "update sessions set created_at = ?2 - 43200000 where membership_id = ?1",
    ],
    [
      "have lost their key",
      "delete from api_keys where membership_id = ?1 and created_at <= ?2 and is_own = 0",
    ],
  ])("does not switch where it would be the 101st, unless the 100 %s", async (_, ending) => {
    const { own, other, browser, membershipId } = await newPerson();
    await env.DB.prepare("delete from sessions where membership_id = ?").bind(membershipId).run();
    await addSessions(await newKey(other, { membershipId, role: "member" }), 100);
    const organization = async () =>
      (await clientOf(browser).get("/v1/whoami")).body.organization.id;
    expect([await switchTo(browser, other), await organization()]).toEqual([409, own.id]);
    await env.DB.prepare(ending).bind(membershipId, Date.now()).run();
    expect([await switchTo(browser, other), await organization()]).toEqual([200, other.id]);
  });

  it("continues the one that a switch ends, and remembers the switch as the last use", async () => {
    const { own, other, browser } = await newPerson();
    const idOf = async () => (await clientOf(browser).get("/v1/sessions")).body.data[0].id;
    const before = await idOf();
    await switchTo(browser, other);
    const continued = await env.DB.prepare(
      "select created_by_session_id as before from sessions where id = ?",
    )
      .bind(await idOf())
      .first<string>("before");
    expect(continued).toBe(before);
    const again = new Browser(provider);
    await again.signIn(provider, await addressOf(own));
    const page = await (await again.open("/v1/sign-in/organizations")).text();
    expect(page).toMatch(new RegExp(`id="${other.id}"[^/]*</bdi>\\s*<span class="tag">Used last`));
  });
});

describe("a session from an API key", () => {
  it("lists its own organization only, and cannot switch, also not to another of its person", async () => {
    const { own, other } = await newPerson();
    const { client } = await signIn(own);
    const { body } = await client.get("/v1/sessions/current/organizations");
    expect(body.data.map(({ id }: Parsed) => id)).toEqual([own.id]);
    expect((await client.put(switchPath(other), undefined)).status).toBe(404);
    const refused = await client.put(switchPath(own), undefined);
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
    expect((await client.get("/v1/whoami")).status).toBe(200);
  });
});

describe("an invitation", () => {
  const CAUTIOUS = { settings: { TRUST_ADMINS: "false" } };

  async function invite(email: string) {
    const world = await newWorld();
    const { token } = await newInvitation(world, { email, name: "Grace", role: "admin" });
    return { world, token, path: `/sign-in?${new URLSearchParams({ invitation: token })}` };
  }

  it("is accepted by signing in with its verified address, which gives a session and no key", async () => {
    const email = newEmail();
    const { world, path } = await invite(email);
    const browser = new Browser(provider, CAUTIOUS);
    expect((await browser.signIn(provider, email, { path })).status).toBe(303);
    const { body } = await clientOf(browser).get("/v1/whoami");
    expect(body).toMatchObject({
      organization: { id: world.id },
      account: { name: "Grace" },
      credential: { type: "session", role: "admin" },
    });
    const { body: members } = await world.client.get(`/v1/orgs/${world.id}/members`);
    expect(members.data).toHaveLength(2);
    const { body: keys } = await world.client.get(`/v1/orgs/${world.id}/api-keys`);
    expect(keys.data).toHaveLength(1);
    const { body: log } = await world.client.get(`/v1/orgs/${world.id}/audit-log`);
    const recorded = log.data.slice(0, 3).map(({ action, actor }: Parsed) => [action, actor.type]);
    expect(recorded).toEqual(
      expect.arrayContaining([
        ["invitation.accepted", "open_id_connect"],
        ["member.added", "open_id_connect"],
        ["session.created", "open_id_connect"],
      ]),
    );
  });

  it("works once", async () => {
    const email = newEmail();
    const { path } = await invite(email);
    await new Browser(provider, CAUTIOUS).signIn(provider, email, { path });
    const again = new Browser(provider, CAUTIOUS);
    expect((await again.signIn(provider, email, { path })).status).toBe(404);
    expect(again.session).toBe("");
    expect((await again.signIn(provider, email)).status).toBe(303);
  });

  it("is not accepted with another verified address, and stays open", async () => {
    const email = newEmail();
    const { world, path } = await invite(email);
    for (const other of [newEmail(), await addressOf(await join(world))]) {
      const browser = new Browser(provider, CAUTIOUS);
      const response = await browser.signIn(provider, other, { path });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("for another e-mail address");
      expect(browser.session).toBe("");
    }
    expect((await new Browser(provider).signIn(provider, email, { path })).status).toBe(303);
  });

  it("offers the sign-in on its page, and the link alone only where admins are trusted", async () => {
    const { token, path } = await invite(newEmail());
    const open = async (settings: Record<string, string>) => {
      const response = await new Browser(provider, { settings }).open(`/invitations/${token}`);
      return { status: response.status, page: await response.text() };
    };
    const link = `href="${path.replaceAll("&", "&amp;")}"`;
    const none = { OIDC_ISSUER: "", OIDC_CLIENT_ID: "" };
    const [trusting, cautious] = [await open({}), await open(CAUTIOUS.settings)];
    expect(trusting.page).toContain(link);
    expect(trusting.page).toContain("<form");
    expect(cautious.page).toContain(link);
    expect(cautious.page).not.toContain("<form");
    expect((await open(none)).page).not.toContain(link);
    expect((await open({ ...none, ...CAUTIOUS.settings })).status).toBe(403);
  });
});

describe("without an identity provider", () => {
  it("but with a client, the service does not run, and its health names the secret", async () => {
    const half = new Browser(provider, { settings: { OIDC_CLIENT_SECRET: "" } });
    expect((await half.open("/sign-in")).status).toBe(500);
    const { cause } = await (await half.open("/health")).json<Parsed>();
    expect(cause.refused_settings).toEqual([
      { name: "OIDC_CLIENT_SECRET", message: expect.stringContaining("It is not set") },
    ]);
  });

  it("there is no sign-in with OpenID Connect, and the methods say so", async () => {
    const off = new Browser(provider, { settings: { OIDC_ISSUER: "", OIDC_CLIENT_ID: "" } });
    expect((await off.open("/sign-in")).status).toBe(501);
    expect((await off.open("/v1/sign-in/callback?code=a&state=b")).status).toBe(501);
    expect(await (await off.open("/v1/sign-in-methods")).json()).toEqual({});
    const on = await new Browser(provider).open("/v1/sign-in-methods");
    expect(await on.json()).toEqual({
      open_id_connect: { issuer: "https://id.example.com", url: "https://longshore.test/sign-in" },
    });
  });
});
