import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { auditOf } from "../support/audit.ts";
import { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  join,
  newEmail,
  newInvitation,
  newWorld,
  sessionIn,
  type World,
} from "../support/world.ts";

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

/** The handler of a deployment with these settings, at this time. */
function deployment(settings: Partial<Env> = {}, now = () => Date.now()) {
  const app = createApp({ clock: { now } });
  return async (request: Request): Promise<Response> => {
    const execution = createExecutionContext();
    const response = await app.fetch(request, { ...env, ...settings }, execution);
    await waitOnExecutionContext(execution);
    return response;
  };
}

const deploymentAt = (now: number) => deployment({}, () => now);
const invite = (body: object) => world.client.post(invitations, { role: "member", ...body });
const acceptWith = (token: string, client = invitee) => client.post(ACCEPT, { token });

async function expectInvalid(token: string, client = invitee): Promise<void> {
  const replies = [await acceptWith(token, client), await client.get(`/invitations/${token}`)];
  for (const { status, body } of replies) {
    expect([status, body.code]).toEqual([404, "not_found"]);
    expect(body.message).toBe(
      "This invitation cannot be accepted: it was used or revoked, it has expired, or its link is " +
        "incomplete. Ask for a new one.",
    );
  }
}

describe("accepting an invitation", () => {
  it("creates a member with a key of their own, once", async () => {
    const { token } = await newInvitation(world, { name: "Grace Hopper", role: "admin" });
    const { status, body, text } = await acceptWith(token);
    expect(status).toBe(201);
    expect(body.membership).toMatchObject({
      org_id: world.id,
      name: "Grace Hopper",
      role: "admin",
      kind: "person",
      status: "active",
    });
    expect(text).not.toContain("@example.com");
    const { client } = { client: new Client(body.api_key.key) };
    const { body: identity } = await client.get("/v1/whoami");
    expect(identity.membership).toMatchObject({ id: body.membership.membership_id, role: "admin" });
    expect(identity.credential).toMatchObject({ role: "admin", own: true });
    const read = await world.client.get(`${members}/${body.membership.membership_id}`);
    expect(read.body).toEqual(body.membership);
    await expectInvalid(token);
    expect((await world.client.get(invitations)).body.data).toEqual([]);
  });

  it("gives one membership to concurrent requests", async () => {
    const { token } = await newInvitation(world);
    const replies = await Promise.all(
      [1, 2, 3].map(() => acceptWith(token, new Client(undefined))),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 404, 404]);
    expect((await world.client.get(members)).body.data).toHaveLength(2);
    const keys = (await world.client.get(`/v1/orgs/${world.id}/api-keys`)).body.data;
    expect(keys).toHaveLength(2);
  });

  it("admits nobody again who was removed since", async () => {
    const { token } = await newInvitation(world);
    const { body } = await acceptWith(token);
    await world.client.delete(`${members}/${body.membership.membership_id}`);
    await expectInvalid(token);
  });

  it("fails in the same way with a link that was revoked, has expired, is unknown or malformed", async () => {
    const revoked = await newInvitation(world);
    await world.client.delete(`${invitations}/${revoked.id}`);
    await expectInvalid(revoked.token);
    const { id, token, expires_at } = await newInvitation(world);
    const end = Date.parse(expires_at);
    const [before, after] = [deploymentAt(end - 1), deploymentAt(end)];
    await expectInvalid(token, new Client(undefined, after));
    expect((await world.client.via(after).get(`${invitations}/${id}`)).status).toBe(404);
    expect((await world.client.via(before).get(`${invitations}/${id}`)).status).toBe(200);
    const other = await newInvitation(await newWorld());
    await expectInvalid(`${token.slice(0, 27)}${other.token.slice(27)}`);
    await expectInvalid(`${token.slice(0, -1)}_`);
    for (const text of ["x", "lsi_", token.slice(0, -1), String(world.client.key)]) {
      await expectInvalid(text);
    }
    expect((await acceptWith(token, new Client(undefined, before))).status).toBe(201);
  });

  it("is void once its inviter could not invite any more", async () => {
    const admin = await join(world, "admin");
    const owner = await join(world, "owner");
    const asOf = (person: Pick<World, "client">, role: "admin" | "owner") =>
      newInvitation({ ...world, ...person }, { role });
    const [byAdmin, byOwner, ofOwner] = [
      await asOf(admin, "admin"),
      await asOf(owner, "admin"),
      await asOf(owner, "owner"),
    ];
    await world.client.put(`${members}/${admin.membershipId}`, { role: "member" });
    await expectInvalid(byAdmin.token);
    expect((await world.client.get(`${invitations}/${byAdmin.id}`)).status).toBe(404);
    await world.client.put(`${members}/${owner.membershipId}`, { role: "admin" });
    await expectInvalid(ofOwner.token);
    expect((await acceptWith(byOwner.token)).status).toBe(201);
    const gone = await asOf(owner, "admin");
    await world.client.delete(`${members}/${owner.membershipId}`);
    await expectInvalid(gone.token);
    // The address is free again.
    expect((await invite({ email: byAdmin.email })).status).toBe(201);
  });

  it("is void once the address is a member's", async () => {
    const email = newEmail();
    const { token } = await newInvitation(world, { email });
    await world.client.post(members, { email, name: "Grace", role: "member" });
    await expectInvalid(token);
  });

  it("is refused beyond the limit of members, and possible later", async () => {
    const { token } = await newInvitation(world);
    const setMembers = (count: number) =>
      env.DB.prepare("update usage set records = ? where organization_id = ? and kind = 'members'")
        .bind(count, world.id)
        .run();
    await setMembers(10_000);
    const refused = await acceptWith(token);
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect(refused.body.message).toContain("10000 members");
    await setMembers(1);
    expect((await acceptWith(token)).status).toBe(201);
  });

  it("gives a key that expires where the organization has a maximum age", async () => {
    await env.DB.prepare("update organizations set max_key_age_seconds = 3600 where id = ?")
      .bind(world.id)
      .run();
    const { body } = await acceptWith((await newInvitation(world)).token);
    const { expires_at, created_at } = body.api_key;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(3_600_000);
  });

  it("needs a sign-in where the deployment does not trust its admins, whatever the token", async () => {
    const { token } = await newInvitation(world);
    const cautious = new Client(
      undefined,
      deployment({ TRUST_ADMINS: "false", OIDC_ISSUER: "", OIDC_CLIENT_ID: "" }),
    );
    for (const each of [token, "x"]) {
      for (const { status, body } of [
        await acceptWith(each, cautious),
        await cautious.get(`/invitations/${each}`),
        await cautious.post(`/invitations/${each}`, undefined),
      ]) {
        expect([status, body.code]).toEqual([403, "unauthorized"]);
        expect(body.message).toContain("sign-in");
      }
    }
    for (const value of ["true", ""]) {
      const trusting = new Client(undefined, deployment({ TRUST_ADMINS: value }));
      const open = await newInvitation(world);
      expect((await acceptWith(open.token, trusting)).status).toBe(201);
    }
  });

  it("logs neither the token nor the key", async () => {
    const worker = new Instrumented();
    const client = new Client(undefined, worker.fetch);
    const { token } = await newInvitation(world);
    await client.get(`/invitations/${token}`);
    const { body } = await acceptWith(token, client);
    const logged = JSON.stringify(worker.logged);
    expect(logged).toContain("/invitations/{token}");
    expect(logged).not.toContain(token.slice(27));
    expect(logged).not.toContain(body.api_key.key.slice(27));
  });

  it("costs no I/O with a malformed token", async () => {
    const worker = new Instrumented();
    const client = new Client(undefined, worker.fetch);
    await expectInvalid("lsi_abc", client);
    expect(worker.exchanges).toEqual([]);
  });
});

describe("the page of an invitation", () => {
  const HTML = { accept: "text/html,application/xhtml+xml" };

  it("names the organization and the role, and does not use up the link", async () => {
    const { token } = await newInvitation(world, { role: "admin" });
    const path = `/invitations/${token}`;
    for (const _ of [1, 2]) {
      const { status, headers, text } = await invitee.get(path, HTML);
      expect(status).toBe(200);
      expect(text).toContain("<strong>Test</strong>");
      expect(text).toContain("<strong>admin</strong>");
      expect(text).toContain('<form method="post">');
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      const policy = String(headers.get("content-security-policy"));
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
      );
    }
    expect((await invitee.request("HEAD", path)).status).toBe(200);
    expect((await acceptWith(token)).status).toBe(201);
  });

  const FORM = { ...HTML, "content-type": "application/x-www-form-urlencoded" };
  const FROM_PAGE = { ...FORM, "sec-fetch-site": "same-origin" };
  const keyIn = (text: string) => /lsh_\w{72}/.exec(text)?.[0];

  it("accepts the invitation with its button, and shows the key once", async () => {
    const { token } = await newInvitation(world);
    const path = `/invitations/${token}`;
    const { status, headers, text } = await invitee.request("POST", path, "", FORM);
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("content-security-policy")).toContain("form-action 'none'");
    const { body } = await new Client(keyIn(text)).get("/v1/whoami");
    expect(body).toMatchObject({ organization: { id: world.id }, credential: { own: true } });
    expect(text).not.toContain(token);
  });

  it("greets the person by name, signed in, with the key for the command line aside", async () => {
    const { token } = await newInvitation(world, { name: "Grace <Hopper>", role: "admin" });
    const reply = await invitee.request("POST", `/invitations/${token}`, "", FROM_PAGE);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("set-cookie")).toMatch(
      /^__Host-longshore=lss_\w{72}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect(reply.headers.get("cache-control")).toBe("no-store");
    const [before = "", aside = ""] = reply.text.split("<details>");
    expect(before).toContain("<h1>Welcome, Grace &lt;Hopper&gt;</h1>");
    expect(before).toContain('<a class="button" href="/console/">Continue to the console</a>');
    expect(keyIn(before)).toBeUndefined();
    expect(reply.text).not.toMatch(/lss_|lsi_/);
    const session = Client.withSession(sessionIn(reply));
    const { organization, membership, credential } = (await session.get("/v1/whoami")).body;
    expect([organization.id, membership.role, credential.type]).toEqual([
      world.id,
      "admin",
      "session",
    ]);
    const key = (await new Client(keyIn(aside)).get("/v1/whoami")).body;
    expect(key.membership.id).toBe(membership.id);
    expect(credential.key_id).toBe(key.credential.id);
    const acts = (await auditOf(world.id)).filter(
      ({ membership_id }) => membership_id === membership.id,
    );
    expect(acts.map(({ action }) => action).toSorted()).toEqual([
      "api_key.created",
      "invitation.accepted",
      "member.added",
      "session.created",
    ]);
  });

  it.each([
    ["the API key, which is the only way", "", "sign in with your API key"],
    ["the address, where there is an identity provider", "app", "sign in with the invited address"],
  ])("says that the person signs in later with %s", async (_, OIDC_CLIENT_ID, expected) => {
    const issuer = OIDC_CLIENT_ID && "https://id.example";
    const settings = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: "secret" };
    const client = new Client(undefined, deployment({ ...settings, TRUST_ADMINS: "true" }));
    const { token } = await newInvitation(world);
    const { text } = await client.request("POST", `/invitations/${token}`, "", FROM_PAGE);
    expect(text).toContain(expected);
  });

  it("greets somebody whose invitation has no name, who can set one", async () => {
    const { token } = await newInvitation(world);
    const { text } = await invitee.request("POST", `/invitations/${token}`, "", FROM_PAGE);
    expect(text).toContain("<h1>Welcome, new member</h1>");
    expect(text).toContain("PATCH /v1/account");
  });

  it.each([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a subdomain", { "sec-fetch-site": "same-site" }],
    ["an old browser on another site", { origin: "https://evil.example" }],
    ["a program", {}],
  ])("signs nobody in for %s", async (_, sender) => {
    const { token } = await newInvitation(world);
    const reply = await invitee.request("POST", `/invitations/${token}`, "", {
      ...FORM,
      ...sender,
    });
    expect([reply.status, reply.headers.has("set-cookie")]).toEqual([200, false]);
    expect(reply.text).not.toContain("signed in");
    expect((await new Client(keyIn(reply.text)).get("/v1/sessions")).body.data).toEqual([]);
  });

  it("signs nobody in when it is opened, or when a program accepts the invitation", async () => {
    const { token } = await newInvitation(world);
    const headers = { "sec-fetch-site": "same-origin" };
    const opened = await invitee.get(`/invitations/${token}`, { ...HTML, ...headers });
    const accepted = await invitee.request("POST", ACCEPT, { token }, headers);
    expect([opened, accepted].map((each) => each.headers.has("set-cookie"))).toEqual([
      false,
      false,
    ]);
    expect(accepted.status).toBe(201);
  });

  it("still shows the key if the session cannot be started", async () => {
    const { token } = await newInvitation(world);
    await env.DB.exec(
      "create trigger refuse_sessions before insert on sessions begin select raise(abort, 'refused'); end",
    );
    const worker = new Instrumented();
    const client = new Client(undefined, worker.fetch);
    const reply = await client.request("POST", `/invitations/${token}`, "", FROM_PAGE);
    await env.DB.exec("drop trigger refuse_sessions");
    expect([reply.status, reply.headers.has("set-cookie")]).toEqual([200, false]);
    expect(JSON.stringify(worker.logged)).toContain("invitation.not_signed_in");
    expect((await new Client(keyIn(reply.text)).get("/v1/whoami")).status).toBe(200);
  });

  it("says for a browser why the invitation cannot be accepted", async () => {
    const fetch = deployment();
    const request = (init: RequestInit) =>
      fetch(new Request("https://longshore.test/invitations/x", { headers: HTML, ...init }));
    for (const response of [await request({}), await request({ method: "POST" })]) {
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toContain("text/html");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(await response.text()).toContain("Ask for a new one.");
    }
  });

  it("escapes the name of the organization, and its policy allows its style", async () => {
    const name = `<img src=x onerror="alert(1)">&'`;
    await env.DB.prepare("update organizations set name = ? where id = ?")
      .bind(name, world.id)
      .run();
    const { token } = await newInvitation(world);
    const { text, headers } = await invitee.get(`/invitations/${token}`, HTML);
    expect(text).not.toContain("<img");
    expect(text).toContain("&lt;img src=x");
    const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(text) ?? [];
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    expect(headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
  });
});
