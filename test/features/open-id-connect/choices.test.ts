import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { Client, type Parsed } from "../../support/client.ts";
import { Browser, clientOf, TestIdentityProvider } from "../../support/identity-provider.ts";
import {
  accept,
  add,
  CHOICE_PAGE,
  countSessions,
  decline,
  expectRefused,
  isMember,
  openPage,
  recordsOf,
  shownIn,
  signInToPage,
} from "../../support/organization-choice.ts";
import {
  addressOf,
  addToOrganizations,
  newEmail,
  newInvitation,
  newKey,
  newWorld,
  type World,
} from "../../support/world.ts";

let provider: TestIdentityProvider;
/** Two organizations of strangers to most addresses. */
let corp: World;
let stranger: World;

beforeAll(async () => {
  provider = await TestIdentityProvider.create();
  [corp, stranger] = [await newWorld(), await newWorld()];
});

async function shownInAllPages(browser: Browser): Promise<(string | undefined)[]> {
  const shown: (string | undefined)[] = [];
  let path: string | undefined = CHOICE_PAGE;
  while (path !== undefined) {
    const page: string = await openPage(browser, path);
    shown.push(...shownIn(page));
    path = /href="(\S+\?after=[^"]+)"/.exec(page)?.[1];
  }
  return shown;
}

describe("a first sign-in", () => {
  it("does not land in the organization of a stranger who has added the address", async () => {
    const email = newEmail();
    const membershipId = await add(stranger, email, "admin");
    const browser = await signInToPage(provider, email);
    expect(shownIn(await openPage(browser))).toEqual([stranger.id]);
    expect(await isMember(stranger, membershipId)).toBe(true);
    expect(await countSessions(stranger)).toBe(0);
    await newInvitation(corp, { email });
    const again = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
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
      const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
    const response = await decline(browser, stranger);
    expect([response.status, response.headers.get("location")]).toEqual([303, CHOICE_PAGE]);
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
    const browser = await signInToPage(provider, email);
    expect((await decline(browser, stranger)).status).toBe(303);
    expect(await isMember(stranger, membershipId)).toBe(false);
    expect((await client.get("/v1/whoami")).status).toBe(401);
    const [record] = await recordsOf(stranger, "member.removed");
    expect(record).toMatchObject({
      target: { type: "member", id: membershipId },
      actor: { type: "open_id_connect", membership_id: membershipId },
    });
    await expectRefused(await browser.open(CHOICE_PAGE), 403, "has no account here");
  });

  it("is a conflict for the last owner, whom the page tells why", async () => {
    const email = newEmail();
    const left = await newWorld();
    const membershipId = await add(left, email, "owner");
    await env.DB.prepare("update memberships set role = 'member' where id = ?")
      .bind(left.membershipId)
      .run();
    const browser = await signInToPage(provider, email);
    const response = await decline(browser, left);
    const page = await response.clone().text();
    await expectRefused(response, 409, "no other owner");
    expect(page).toContain(`href="${CHOICE_PAGE}"`);
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
    await expectRefused(await decline(browser, founded), 409, "cannot decline");
    expect(await isMember(founded, founded.membershipId)).toBe(true);
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
    const page = await openPage(await signInToPage(provider, email));
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
    const browser = await signInToPage(provider, email);
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
    const browser = await signInToPage(provider, email);
    const response = await browser.open(CHOICE_PAGE);
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
