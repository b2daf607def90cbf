import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { Client, type Parsed } from "../../support/client.ts";
import { Browser, TestIdentityProvider } from "../../support/identity-provider.ts";
import {
  addressOf,
  addToOrganizations,
  newEmail,
  newInvitation,
  newKey,
  newWorld,
  type World,
} from "../../support/world.ts";

const PAGE = "/v1/sign-in/organizations";
const COOKIE = "__Host-longshore-choice";

let provider: TestIdentityProvider;
/** Two organizations of strangers to most addresses. */
let corp: World;
let stranger: World;

beforeAll(async () => {
  provider = await TestIdentityProvider.create();
  [corp, stranger] = [await newWorld(), await newWorld()];
});

const clientOf = (browser: Browser) => Client.withSession(browser.session);
const accept = (browser: Browser, { id }: Pick<World, "id">) =>
  browser.open(`${PAGE}/${id}`, "POST");
const decline = (browser: Browser, { id }: Pick<World, "id">) =>
  browser.open(`${PAGE}/${id}/decline`, "POST");

/** Adds a member without the person. Returns the ID of the membership. */
async function add(world: World, email: string, role = "member"): Promise<string> {
  const body = { email, name: "New Hire", role };
  const reply = await world.client.post(`/v1/orgs/${world.id}/members`, body);
  expect(reply.status).toBe(201);
  return reply.body.membership_id;
}

/** Signs in, and expects the page with the choice instead of a session. */
async function signInToPage(email: string, options = {}): Promise<Browser> {
  const browser = new Browser(provider, options);
  const { status, headers } = await browser.signIn(provider, email);
  expect([status, headers.get("location")]).toEqual([303, PAGE]);
  expect([...browser.cookies.keys()]).toEqual([COOKIE]);
  return browser;
}

async function openPage(browser: Browser, path = PAGE): Promise<string> {
  const response = await browser.open(path);
  expect(response.status).toBe(200);
  return response.text();
}

/** The IDs of the organizations, in the order of a page. */
const shownIn = (page: string) => [...page.matchAll(/<h3 id="(\w{22})">/g)].map(([, id]) => id);

async function shownInAllPages(browser: Browser): Promise<(string | undefined)[]> {
  const shown: (string | undefined)[] = [];
  let path: string | undefined = PAGE;
  while (path !== undefined) {
    const page: string = await openPage(browser, path);
    shown.push(...shownIn(page));
    path = /href="(\S+\?after=[^"]+)"/.exec(page)?.[1];
  }
  return shown;
}

async function recordsOf(world: World, ...actions: string[]): Promise<Parsed[]> {
  const { body } = await world.client.get(`/v1/orgs/${world.id}/audit-log?limit=100`);
  return body.data.filter(({ action }: Parsed) => actions.includes(action));
}

async function isMember(world: World, membershipId: string): Promise<boolean> {
  const reply = await world.client.get(`/v1/orgs/${world.id}/members/${membershipId}`);
  return reply.status === 200;
}

async function countSessions(...organizations: World[]): Promise<number> {
  const counts = organizations.map(({ id }) =>
    env.DB.prepare("select count(*) as n from sessions where organization_id = ?")
      .bind(id)
      .first<number>("n"),
  );
  return (await Promise.all(counts)).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

async function expectRefused(response: Response, status: number, text: string): Promise<void> {
  const page = await response.text();
  expect([response.status, page]).toEqual([status, expect.stringContaining(text)]);
  expect(page).toContain("<h1>You are not signed in</h1>");
}

describe("a first sign-in", () => {
  it("does not land in the organization of a stranger who has added the address", async () => {
    const email = newEmail();
    const membershipId = await add(stranger, email, "admin");
    const browser = await signInToPage(email);
    expect(shownIn(await openPage(browser))).toEqual([stranger.id]);
    expect(await isMember(stranger, membershipId)).toBe(true);
    expect(await countSessions(stranger)).toBe(0);
    await newInvitation(corp, { email });
    const again = await signInToPage(email);
    expect((await accept(again, corp)).status).toBe(303);
    expect((await clientOf(again).get("/v1/whoami")).body.organization.id).toBe(corp.id);
    const { body } = await clientOf(again).get("/v1/sessions/current/organizations");
    expect(body.data.map(({ id }: Parsed) => id)).toEqual([corp.id]);
  });

  it("accepts what the person chooses: a membership, at which keys have acted before", async () => {
    const email = newEmail();
    const membershipId = await add(corp, email);
    const { client } = await newKey(corp, { membershipId, role: "member" });
    expect((await client.get("/v1/whoami")).status).toBe(200);
    const browser = await signInToPage(email);
    const response = await accept(browser, corp);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/console/"]);
    expect([...browser.cookies.keys()]).toEqual(["__Host-longshore"]);
    const { body } = await clientOf(browser).get("/v1/whoami");
    expect(body.membership).toMatchObject({ id: membershipId, role: "member" });
    const [record, ...others] = (await recordsOf(corp, "member.activated")).filter(
      ({ target }) => target.id === membershipId,
    );
    expect([record?.actor, others]).toEqual([
      expect.objectContaining({ type: "open_id_connect", membership_id: membershipId }),
      [],
    ]);
  });

  it("accepts an open invitation without its link, which then no longer works", async () => {
    const email = newEmail();
    const { token, id } = await newInvitation(corp, { email, role: "admin" });
    const browser = await signInToPage(email);
    expect((await accept(browser, corp)).status).toBe(303);
    const { body } = await clientOf(browser).get("/v1/whoami");
    expect(body).toMatchObject({ organization: { id: corp.id }, membership: { role: "admin" } });
    const reply = await new Client(undefined).post("/v1/invitations/accept", { token });
    expect(reply.status).toBe(404);
    const [record] = await recordsOf(corp, "invitation.accepted");
    expect(record).toMatchObject({ target: { id }, actor: { type: "open_id_connect" } });
    const added = await env.DB.prepare("select added_by_key_id from memberships where id = ?")
      .bind(body.membership.id)
      .first("added_by_key_id");
    expect(added).toBe(corp.keyId);
  });

  it("shows a membership that the link of an invitation alone has accepted", async () => {
    const email = newEmail();
    const { token } = await newInvitation(corp, { email });
    await new Client(undefined).post("/v1/invitations/accept", { token });
    const browser = await signInToPage(email);
    expect(shownIn(await openPage(browser))).toEqual([corp.id]);
    expect((await accept(browser, corp)).status).toBe(303);
  });

  it("continues at the path that it began with", async () => {
    const email = newEmail();
    await add(corp, email);
    const browser = new Browser(provider);
    await browser.signIn(provider, email, { path: "/sign-in?return_to=/console/projects" });
    expect((await accept(browser, corp)).headers.get("location")).toBe("/console/projects");
  });
});

describe("a later sign-in", () => {
  it("goes straight to the only accepted membership while nothing is open", async () => {
    const email = newEmail();
    await add(corp, email);
    await new Browser(provider).signInTo(provider, email, corp.id);
    const straight = new Browser(provider);
    const response = await straight.signIn(provider, email);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/console/"]);
    expect((await clientOf(straight).get("/v1/whoami")).body.organization.id).toBe(corp.id);
    await add(stranger, email);
    const browser = await signInToPage(email);
    expect(shownIn(await openPage(browser))).toEqual([corp.id, stranger.id]);
    await decline(browser, stranger);
    expect((await new Browser(provider).signIn(provider, email)).headers.get("location")).toBe(
      "/console/",
    );
  });

  it("neither starts in nor accepts an older membership that is pending", async () => {
    const email = newEmail();
    const [older = ""] = await addToOrganizations(email, 1, { status: "pending" });
    const membershipId = await add(corp, email);
    await new Browser(provider).signInTo(provider, email, corp.id);
    const browser = await signInToPage(email);
    expect(shownIn(await openPage(browser))).toEqual([corp.id, older]);
    expect((await accept(browser, corp)).status).toBe(303);
    const { body } = await clientOf(browser).get("/v1/whoami");
    expect(body.membership.id).toBe(membershipId);
    const status = env.DB.prepare("select status from memberships where id = ?").bind(older);
    expect(await status.first("status")).toBe("pending");
  });

  it("marks the organization that was used last, and shows it first", async () => {
    const email = newEmail();
    for (const world of [corp, stranger]) await add(world, email);
    await new Browser(provider).signInTo(provider, email, stranger.id);
    await new Browser(provider).signInTo(provider, email, corp.id);
    for (const [used, next] of [
      [corp, stranger],
      [stranger, corp],
    ] as const) {
      const browser = await signInToPage(email);
      const page = await openPage(browser);
      expect(shownIn(page)).toEqual([used.id, next.id]);
      expect(page.split("Used last")).toHaveLength(2);
      expect(page.indexOf("Used last")).toBeLessThan(page.indexOf(next.id));
      await accept(browser, next);
    }
  });

  it("finds the accepted membership first, and every invitation, beside 201 organizations of others", async () => {
    const email = newEmail();
    await add(corp, email);
    await new Browser(provider).signInTo(provider, email, corp.id);
    const invited = await newWorld();
    await newInvitation(invited, { email });
    const ids = await addToOrganizations(email, 201);
    const browser = await signInToPage(email);
    const shown = await shownInAllPages(browser);
    expect(shown[0]).toBe(corp.id);
    expect(shown.toSorted()).toEqual([corp.id, invited.id, ...ids].toSorted());
    expect((await accept(browser, invited)).status).toBe(303);
  });
});

describe("declining", () => {
  it("deletes an invitation, records it, and leaves the others open", async () => {
    const email = newEmail();
    const { id, token } = await newInvitation(stranger, { email });
    await newInvitation(corp, { email });
    const browser = await signInToPage(email);
    const response = await decline(browser, stranger);
    expect([response.status, response.headers.get("location")]).toEqual([303, PAGE]);
    expect(shownIn(await openPage(browser))).toEqual([corp.id]);
    const open = await stranger.client.get(`/v1/orgs/${stranger.id}/invitations/${id}`);
    expect(open.status).toBe(404);
    const reply = await new Client(undefined).post("/v1/invitations/accept", { token });
    expect(reply.status).toBe(404);
    expect(await recordsOf(stranger, "invitation.declined")).toMatchObject([
      { target: { type: "invitation", id }, actor: { type: "open_id_connect" } },
    ]);
    expect((await accept(browser, corp)).status).toBe(303);
  });

  it("removes a membership that others have added, with its keys, at once", async () => {
    const email = newEmail();
    const membershipId = await add(stranger, email);
    const { client } = await newKey(stranger, { membershipId, role: "member" });
    expect((await client.get("/v1/whoami")).status).toBe(200);
    const browser = await signInToPage(email);
    expect((await decline(browser, stranger)).status).toBe(303);
    expect(await isMember(stranger, membershipId)).toBe(false);
    expect((await client.get("/v1/whoami")).status).toBe(401);
    const [record] = await recordsOf(stranger, "member.removed");
    expect(record).toMatchObject({
      target: { type: "member", id: membershipId },
      actor: { type: "open_id_connect", membership_id: membershipId },
    });
    await expectRefused(await browser.open(PAGE), 403, "has no account here");
  });

  it("is a conflict for the last owner, whom the page tells why", async () => {
    const email = newEmail();
    const left = await newWorld();
    const membershipId = await add(left, email, "owner");
    await env.DB.prepare("update memberships set role = 'member' where id = ?")
      .bind(left.membershipId)
      .run();
    const browser = await signInToPage(email);
    const response = await decline(browser, left);
    const page = await response.clone().text();
    await expectRefused(response, 409, "no other owner");
    expect(page).toContain(`href="${PAGE}"`);
    const kept = await env.DB.prepare("select role from memberships where id = ?")
      .bind(membershipId)
      .first("role");
    expect(kept).toBe("owner");
    expect((await accept(browser, left)).status).toBe(303);
  });

  it("removes neither a membership of another address nor one that is accepted", async () => {
    const [email, other] = [newEmail(), newEmail()];
    const membershipId = await add(corp, email);
    const unaccepted = await add(stranger, other);
    const { id: invitationId } = await newInvitation(corp, { email: other });
    await new Browser(provider).signInTo(provider, email, corp.id);
    await add(stranger, email);
    const browser = await signInToPage(email);
    const foreign = await newWorld();
    const foreignMember = await add(foreign, other);
    await expectRefused(await decline(browser, foreign), 404, "no such organization");
    await expectRefused(await accept(browser, foreign), 404, "no such organization");
    await expectRefused(await decline(browser, corp), 409, "cannot decline");
    expect((await decline(browser, stranger)).status).toBe(303);
    expect(await isMember(corp, membershipId)).toBe(true);
    expect(await isMember(stranger, unaccepted)).toBe(true);
    expect(await isMember(foreign, foreignMember)).toBe(true);
    const invitation = await corp.client.get(`/v1/orgs/${corp.id}/invitations/${invitationId}`);
    expect(invitation.status).toBe(200);
  });

  it("does not remove the founder, who goes straight to the organization", async () => {
    const founded = await newWorld();
    const email = await addressOf(founded);
    expect((await new Browser(provider).signIn(provider, email)).headers.get("location")).toBe(
      "/console/",
    );
    await env.DB.prepare("update memberships set signed_in_at = null where id = ?")
      .bind(founded.membershipId)
      .run();
    await add(stranger, email);
    const browser = await signInToPage(email);
    await expectRefused(await decline(browser, founded), 409, "cannot decline");
    expect(await isMember(founded, founded.membershipId)).toBe(true);
  });
});

describe("the state of a choice", () => {
  let email: string;
  let own: World;
  let other: World;

  beforeAll(async () => {
    email = newEmail();
    [own, other] = [await newWorld(), await newWorld()];
    for (const world of [own, other]) await newInvitation(world, { email });
  });

  const attempts = (browser: Browser) =>
    [() => browser.open(PAGE), () => accept(browser, own), () => decline(browser, own)] as const;

  async function expectUnknown(browser: Browser): Promise<void> {
    for (const attempt of attempts(browser)) {
      const response = await attempt();
      await expectRefused(response, 400, "Start again");
      expect(browser.session).toBe("");
    }
  }

  it("is in the cookie of one browser, and opens nothing if it is absent, altered, repeated or of another kind", async () => {
    await expectUnknown(new Browser(provider));
    const browser = await signInToPage(email);
    const sealed = String(browser.cookies.get(COOKIE));
    const pending = new Browser(provider);
    await pending.open("/sign-in");
    const ofPending = String(pending.cookies.get("__Host-longshore-sign-in"));
    for (const [name, value] of [
      [COOKIE, sealed.slice(0, -4) + (sealed.endsWith("AAAA") ? "BBBB" : "AAAA")],
      [COOKIE, `${sealed}; ${COOKIE}=${sealed}`],
      [COOKIE, ofPending],
      ["longshore-choice-8787", sealed],
    ] as const) {
      const thief = new Browser(provider);
      thief.cookies.set(name, value);
      await expectUnknown(thief);
    }
    expect(atob(sealed.split(".")[2] ?? "")).not.toContain(email);
    expect(shownIn(await openPage(browser)).toSorted()).toEqual([own.id, other.id].toSorted());
  });

  it("is no state of a sign-in that waits for the callback", async () => {
    const browser = await signInToPage(email);
    const { headers } = await browser.open("/sign-in");
    browser.cookies.set("__Host-longshore-sign-in", String(browser.cookies.get(COOKIE)));
    const callback = provider.authorize(headers.get("location") ?? "", { claims: { email } });
    expect((await browser.open(callback)).status).toBe(400);
    expect(browser.session).toBe("");
  });

  it("ends after 10 minutes", async () => {
    let now = Date.now();
    const browser = await signInToPage(email, { clock: { now: () => now } });
    now += 10 * 60_000 - 1;
    await openPage(browser);
    now += 1;
    await expectUnknown(browser);
  });

  it("opens what its own address is offered, and nothing of another", async () => {
    const another = newEmail();
    const membershipId = await add(corp, another);
    const browser = await signInToPage(another);
    expect(shownIn(await openPage(browser))).toEqual([corp.id]);
    await expectRefused(await accept(browser, own), 404, "no such organization");
    await expectRefused(await decline(browser, own), 404, "no such organization");
    expect(await isMember(corp, membershipId)).toBe(true);
    expect(shownIn(await openPage(await signInToPage(email)))).toHaveLength(2);
  });

  it("starts one session, also for concurrent requests, and does nothing more", async () => {
    const address = newEmail();
    const worlds = [await newWorld(), await newWorld()] as const;
    for (const world of worlds) await newInvitation(world, { email: address });
    const browser = await signInToPage(address);
    const state = new Map(browser.cookies);
    const copies = Array.from({ length: 6 }, () => {
      const copy = new Browser(provider);
      for (const [name, value] of state) copy.cookies.set(name, value);
      return copy;
    });
    const responses = await Promise.all(
      copies.map((copy, at) => accept(copy, worlds[at % 2 === 0 ? 0 : 1])),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(copies.filter(({ session }) => session !== "")).toHaveLength(1);
    expect(await countSessions(...worlds)).toBe(1);
    const replay = new Browser(provider);
    for (const [name, value] of state) replay.cookies.set(name, value);
    for (const world of worlds) {
      await expectRefused(await accept(replay, world), 400, "Start again");
      await expectRefused(await decline(replay, world), 400, "Start again");
    }
    await expectRefused(await replay.open(PAGE), 400, "Start again");
    expect(await countSessions(...worlds)).toBe(1);
  });

  it("does not let the callback start another session", async () => {
    const address = newEmail();
    await newInvitation(corp, { email: address });
    const browser = new Browser(provider);
    const { headers } = await browser.open("/sign-in");
    const location = headers.get("location") ?? "";
    const pending = new Map(browser.cookies);
    await browser.open(provider.authorize(location, { claims: { email: address } }));
    expect((await accept(browser, corp)).status).toBe(303);
    const again = new Browser(provider);
    for (const [name, value] of pending) again.cookies.set(name, value);
    const callback = provider.authorize(location, { claims: { email: address } });
    expect((await again.open(callback)).status).toBe(400);
    expect(again.session).toBe("");
  });

  it.each([
    ["of another site", { "sec-fetch-site": "cross-site" }],
    ["of another port or a subdomain", { "sec-fetch-site": "same-site" }],
    ["of another origin, by an old browser", { origin: "https://evil.example" }],
    ["without an origin", {}],
  ])("is not used by a form %s", async (_, headers) => {
    const browser = await signInToPage(email);
    for (const path of [`${PAGE}/${own.id}`, `${PAGE}/${own.id}/decline`]) {
      const request = new Request(new URL(path, "https://longshore.test"), {
        method: "POST",
        headers: { ...headers, cookie: `${COOKIE}=${browser.cookies.get(COOKIE)}` },
      });
      const response = await browser.isolate.fetch(request);
      expect(response.status).toBe(403);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expect(shownIn(await openPage(browser))).toContain(own.id);
  });
});

describe("the page of a choice", () => {
  it("says who has invited or added the person, with which role, and when", async () => {
    const email = newEmail();
    const inviter = await newKey(stranger);
    const byRevoked = await inviter.client.post(`/v1/orgs/${stranger.id}/members`, {
      email,
      name: "New Hire",
      role: "admin",
    });
    expect(byRevoked.status).toBe(201);
    await stranger.client.delete(`/v1/orgs/${stranger.id}/api-keys/${inviter.keyId}`);
    const { expires_at } = await newInvitation(corp, { email });
    const [unknown] = await addToOrganizations(email, 1);
    const page = await openPage(await signInToPage(email));
    const textOf = (id: string | undefined) => {
      const item = page.split("<li>").find((each) => each.includes(`id="${id}"`)) ?? "";
      return item.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
    };
    const day = new Date().toISOString().slice(0, 10);
    expect(textOf(stranger.id)).toContain(`Olive Owner added you with the role admin on ${day}`);
    expect(textOf(corp.id)).toContain(`Olive Owner invited you with the role member on ${day}`);
    expect(textOf(corp.id)).toContain(`Valid until ${expires_at.slice(0, 10)}`);
    expect(textOf(unknown)).toContain("An administrator added you with the role member");
    expect(page).toContain(`<strong>${email}</strong>`);
  });

  it("shows no invitation that has lapsed or expired", async () => {
    const email = newEmail();
    const [lapsed, expired] = [await newWorld(), await newWorld()];
    for (const world of [corp, lapsed, expired]) await newInvitation(world, { email });
    await env.DB.batch([
      env.DB.prepare("update memberships set role = 'member' where id = ?").bind(
        lapsed.membershipId,
      ),
      env.DB.prepare("update invitations set expires_at = 1 where organization_id = ?").bind(
        expired.id,
      ),
    ]);
    const browser = await signInToPage(email);
    expect(shownIn(await openPage(browser))).toEqual([corp.id]);
    for (const world of [lapsed, expired]) {
      expect((await accept(browser, world)).status).toBe(404);
    }
  });

  it("escapes hostile names, and its policy allows its own style and forms only", async () => {
    const email = newEmail();
    const hostile = `<img src=x onerror="alert(1)">&'\u202Eevil`;
    const world = await newWorld();
    await add(world, email);
    await env.DB.batch([
      env.DB.prepare("update organizations set name = ? where id = ?").bind(hostile, world.id),
      env.DB.prepare("update accounts set name = ? where id = ?").bind(hostile, world.accountId),
    ]);
    const browser = await signInToPage(email);
    const response = await browser.open(PAGE);
    const text = await response.text();
    expect(text).not.toContain("<img");
    expect(text.split("<bdi>&lt;img src=x")).toHaveLength(3);
    const { headers } = response;
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("strict-origin");
    const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(text) ?? [];
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    expect(headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; ` +
        "form-action 'self'; frame-ancestors 'none'",
    );
  });
});
