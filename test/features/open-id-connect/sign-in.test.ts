import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { Client, type Parsed } from "../../support/client.ts";
import {
  Browser,
  clientOf,
  expectRefused,
  TestIdentityProvider,
} from "../../support/identity-provider.ts";
import { newSigningKey } from "../../support/issuer.ts";
import {
  addressOf,
  addSessions,
  join,
  newEmail,
  newWorld,
  type World,
} from "../../support/world.ts";

let provider: TestIdentityProvider;
let world: World;
let email: string;

beforeAll(async () => {
  provider = await TestIdentityProvider.create();
  world = await newWorld();
  email = await addressOf(world);
});

async function countSessions(membershipId: string): Promise<number> {
  const count = await env.DB.prepare("select count(*) as n from sessions where membership_id = ?")
    .bind(membershipId)
    .first<number>("n");
  return count ?? 0;
}

describe("a sign-in with OpenID Connect", () => {
  it("starts a session of the person with the verified address, whatever its letter case", async () => {
    const browser = new Browser(provider);
    const response = await browser.signIn(provider, email.toUpperCase());
    expect([response.status, response.headers.get("location")]).toEqual([303, "/console/"]);
    expect([...browser.cookies.keys()]).toEqual(["__Host-longshore"]);
    const { body } = await clientOf(browser).get("/v1/whoami");
    expect(body).toMatchObject({
      organization: { id: world.id },
      membership: { id: world.membershipId, role: "owner" },
      credential: { type: "session", role: "owner", own: true },
    });
    expect(body.credential).not.toHaveProperty("key_id");
    const { body: sessions } = await clientOf(browser).get("/v1/sessions");
    expect(sessions.data[0]).toMatchObject({ source: "open_id_connect", current: true });
  });

  it("asks for the address with PKCE, state and nonce, which differ each time", async () => {
    const [first, second] = [new Browser(provider), new Browser(provider)];
    const urls = [];
    for (const browser of [first, second]) {
      const { status, headers } = await browser.open("/sign-in");
      expect(status).toBe(303);
      urls.push(new URL(headers.get("location") ?? ""));
    }
    const [one, other] = urls.map(({ searchParams }) => Object.fromEntries(searchParams));
    expect(one).toMatchObject({
      client_id: "longshore",
      response_type: "code",
      scope: "openid email",
      code_challenge_method: "S256",
      redirect_uri: "https://longshore.test/v1/sign-in/callback",
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(one?.[name]).toMatch(/^[\w-]{43}$/);
      expect(one?.[name]).not.toBe(other?.[name]);
    }
    const sealed = first.cookies.get("__Host-longshore-sign-in") ?? "";
    for (const name of ["state", "nonce"])
      expect(atob(sealed.split(".")[2] ?? "")).not.toContain(one?.[name]);
  });

  it("has the role of the membership, and follows it", async () => {
    const member = await join(world);
    const browser = new Browser(provider);
    await browser.signInTo(provider, await addressOf(member), world.id);
    const keys = `/v1/orgs/${world.id}/trusts`;
    expect((await clientOf(browser).get(keys)).status).toBe(403);
    await world.client.put(`/v1/orgs/${world.id}/members/${member.membershipId}`, {
      role: "admin",
    });
    expect((await clientOf(browser).get(keys)).status).toBe(200);
    await world.client.delete(`/v1/orgs/${world.id}/members/${member.membershipId}`);
    expect((await clientOf(browser).get(keys)).status).toBe(401);
  });

  it("accepts a membership that was pending, once the person has chosen it", async () => {
    const member = await join(world);
    await env.DB.prepare("update memberships set status = 'pending' where id = ?")
      .bind(member.membershipId)
      .run();
    const browser = new Browser(provider);
    const address = await addressOf(member);
    expect((await browser.signInTo(provider, address, world.id)).status).toBe(303);
    const { body } = await world.client.get(`/v1/orgs/${world.id}/members/${member.membershipId}`);
    expect(body.status).toBe("active");
    const activations = async () => {
      const { body: log } = await world.client.get(`/v1/orgs/${world.id}/audit-log`);
      const found = log.data.filter((each: Parsed) => each.target.id === member.membershipId);
      return found.filter(({ action }: Parsed) => action === "member.activated");
    };
    expect(await activations()).toMatchObject([
      {
        actor: { type: "open_id_connect", membership_id: member.membershipId },
        changes: { before: { status: "pending" }, after: { status: "active" } },
      },
    ]);
    await browser.signIn(provider, address);
    expect(await activations()).toHaveLength(1);
  });

  it("continues at a path of this origin, and at no other origin", async () => {
    const origin = "https://longshore.test";
    const targets = [
      ["/console/projects?filter=a#top", "/console/projects?filter=a#top"],
      [`${origin}/console`, "/console/"],
      ["//evil.example", "/console/"],
      ["/\\evil.example", "/console/"],
      ["/\t/evil.example", "/console/"],
      ["/..//evil.example", "/console/"],
      ["https://evil.example/console", "/console/"],
      ["javascript:alert(1)", "/console/"],
      ["console", "/console/"],
      ["", "/console/"],
      ["/%2f%2fevil.example", "/%2f%2fevil.example"],
    ] as const;
    for (const [target, expected] of targets) {
      const browser = new Browser(provider);
      const path = `/sign-in?${new URLSearchParams({ return_to: target })}`;
      const { headers } = await browser.signIn(provider, email, { path });
      const location = headers.get("location") ?? "";
      expect([target, location]).toEqual([target, expected]);
      expect(new URL(location, origin).origin).toBe(origin);
    }
  });

  it("is recorded, and its key is in no list and in no count", async () => {
    const person = await newWorld();
    const before = (await person.client.get(`/v1/orgs/${person.id}/usage`)).body;
    const browser = new Browser(provider);
    await browser.signIn(provider, await addressOf(person));
    const { body: log } = await person.client.get(`/v1/orgs/${person.id}/audit-log`);
    expect(log.data[0]).toMatchObject({
      action: "session.created",
      actor: { type: "open_id_connect", membership_id: person.membershipId },
      changes: { after: { source: "open_id_connect" } },
    });
    const { body: keys } = await person.client.get(`/v1/orgs/${person.id}/api-keys`);
    expect(keys.data.map(({ id }: { id: string }) => id)).toEqual([person.keyId]);
    const { body: after } = await person.client.get(`/v1/orgs/${person.id}/usage`);
    const recordsOf = (usage: typeof before) =>
      JSON.stringify(usage).match(/"api_keys":\{"used":\d+/)?.[0];
    expect(recordsOf(after)).toBe(recordsOf(before));
  });

  it("is refused with 100 sessions of the membership, of which the ended ones do not count", async () => {
    const person = await newWorld();
    const address = await addressOf(person);
    await addSessions(person, 100);
    const browser = new Browser(provider);
    const refused = await browser.signIn(provider, address);
    await expectRefused(browser, refused, 409, "100 sessions of a membership");
    await env.DB.prepare("update sessions set expires_at = 5 where membership_id = ?")
      .bind(person.membershipId)
      .run();
    expect((await browser.signIn(provider, address)).status).toBe(303);
    expect(await countSessions(person.membershipId)).toBe(1);
  });

  it("ends with its key when the person signs out or revokes it, and keeps what it has created", async () => {
    const person = await newWorld();
    const [browser, other] = [new Browser(provider), new Browser(provider)];
    const address = await addressOf(person);
    for (const each of [browser, other]) await each.signIn(provider, address);
    const created = await clientOf(browser).post(`/v1/orgs/${person.id}/api-keys`, {
      name: "kept",
      role: "admin",
    });
    expect(created.status).toBe(201);
    const [session] = (await clientOf(other).get("/v1/sessions")).body.data;
    expect((await clientOf(browser).delete(`/v1/sessions/${session.id}`)).status).toBe(204);
    expect((await clientOf(other).get("/v1/whoami")).status).toBe(401);
    expect((await clientOf(browser).delete("/v1/sessions/current")).status).toBe(204);
    expect((await clientOf(browser).get("/v1/whoami")).status).toBe(401);
    const left = await env.DB.prepare(
      "select count(*) as n from api_keys where organization_id = ? and session_id is not null",
    )
      .bind(person.id)
      .first<number>("n");
    expect(left).toBe(0);
    expect((await new Client(created.body.key).get("/v1/whoami")).status).toBe(200);
  });
});

describe("a callback", () => {
  it("is refused without the sign-in of this browser, which prevents signing others in", async () => {
    const [attacker, victim] = [new Browser(provider), new Browser(provider)];
    const { headers } = await attacker.open("/sign-in");
    const callback = provider.authorize(headers.get("location") ?? "", { claims: { email } });
    await expectRefused(victim, await victim.open(callback), 400, "another browser");
    await victim.open("/sign-in");
    await expectRefused(victim, await victim.open(callback), 401, "not valid");
    expect((await attacker.open(callback)).status).toBe(303);
  });

  it("works once, also with the same cookie and another code", async () => {
    const person = await newWorld();
    const address = await addressOf(person);
    const browser = new Browser(provider);
    const { headers } = await browser.open("/sign-in");
    const pending = new Map(browser.cookies);
    const location = headers.get("location") ?? "";
    const callback = provider.authorize(location, { claims: { email: address } });
    expect((await browser.open(callback)).status).toBe(303);
    for (const repeated of [
      callback,
      provider.authorize(location, { claims: { email: address } }),
    ]) {
      const again = new Browser(provider);
      for (const [name, value] of pending) again.cookies.set(name, value);
      const response = await again.open(repeated);
      expect([400, 401]).toContain(response.status);
      expect(again.session).toBe("");
    }
    expect(await countSessions(person.membershipId)).toBe(1);
  });

  it("is refused with a swapped, absent or repeated state", async () => {
    for (const change of [
      (url: URL) => url.searchParams.set("state", "x".repeat(43)),
      (url: URL) => url.searchParams.delete("state"),
      (url: URL) => url.searchParams.append("state", "x".repeat(43)),
    ]) {
      const browser = new Browser(provider);
      const { headers } = await browser.open("/sign-in");
      const callback = provider.authorize(headers.get("location") ?? "", { claims: { email } });
      change(callback);
      const response = await browser.open(callback);
      expect([400, 401]).toContain(response.status);
      expect(browser.session).toBe("");
    }
  });

  it("is refused after 10 minutes", async () => {
    let now = Date.now();
    const browser = new Browser(provider, { clock: { now: () => now } });
    const { headers } = await browser.open("/sign-in");
    now += 10 * 60_000;
    const callback = provider.authorize(headers.get("location") ?? "", { claims: { email } });
    await expectRefused(browser, await browser.open(callback), 400, "10 minutes");
  });

  it("is refused if the cookie is altered, from another port, or there are several", async () => {
    const browser = new Browser(provider);
    const { headers } = await browser.open("/sign-in");
    const callback = provider.authorize(headers.get("location") ?? "", { claims: { email } });
    const name = "__Host-longshore-sign-in";
    const sealed = browser.cookies.get(name) ?? "";
    const altered = sealed.slice(0, -4) + (sealed.endsWith("AAAA") ? "BBBB" : "AAAA");
    const cookies = [
      [[name, altered]],
      [["longshore-sign-in-8787", sealed]],
      [[name, `${sealed}; ${name}=${sealed}`]],
    ] as const;
    for (const pairs of cookies) {
      const other = new Browser(provider);
      for (const [key, value] of pairs) other.cookies.set(key, value);
      expect((await other.open(callback)).status).toBe(400);
      expect(other.session).toBe("");
    }
    expect((await browser.open(callback)).status).toBe(303);
  });

  const FALSE_TOKENS: Record<string, () => Promise<object>> = {
    "another key": async () => ({ signedBy: await newSigningKey("RS256") }),
    "another key with the known ID": async () => {
      const { kid, ...key } = await newSigningKey("RS256");
      const [known] = (
        await (
          await provider.fetch("https://id.example.com/keys", {})
        ).json<{
          keys: { kid: string }[];
        }>()
      ).keys;
      return { signedBy: { ...key, kid: known?.kid ?? kid } };
    },
    "another algorithm": async () => ({ signedBy: await newSigningKey("ES256") }),
    "another issuer": async () => ({ claims: { iss: "https://evil.example.com" } }),
    "another audience": async () => ({ claims: { aud: "another-client" } }),
    "several audiences, for another party": async () => ({
      claims: { aud: ["longshore", "other"], azp: "other" },
    }),
    "a swapped nonce": async () => ({ claims: { nonce: "x".repeat(43) } }),
    "no nonce": async () => ({ claims: { nonce: undefined } }),
    "an end in the past": async () => ({ claims: { exp: Math.floor(Date.now() / 1000) - 60 } }),
    "no subject": async () => ({ claims: { sub: undefined } }),
  };

  it.each(Object.entries(FALSE_TOKENS))("is refused if the token has %s", async (_, make) => {
    const browser = new Browser(provider);
    const response = await browser.signIn(provider, email, await make());
    await expectRefused(browser, response, 401, "not valid");
  });

  it.each([
    ["is not verified", { email_verified: false }],
    ["is verified as a text", { email_verified: "true" }],
    ["has no verification", { email_verified: undefined }],
    ["is absent", { email: undefined }],
    ["is empty", { email: "" }],
    ["is too long", { email: `${"a".repeat(400)}@example.com` }],
    ["is no text", { email: ["a@example.com"] }],
  ])("is refused if the address %s", async (_, claims) => {
    const browser = new Browser(provider);
    const response = await browser.signIn(provider, email, { claims });
    const page = await response.text();
    expect([403, response.status]).toEqual([response.status, 403]);
    expect(page).toMatch(/verified|has no account/);
    expect(browser.session).toBe("");
  });

  it("is refused for an address that has no account, and for that of a service account", async () => {
    const browser = new Browser(provider);
    const response = await browser.signIn(provider, newEmail());
    await expectRefused(browser, response, 403, "has no account here");
  });

  it("takes the address from the UserInfo endpoint if the token has none, and only that of its subject", async () => {
    const own = await TestIdentityProvider.create();
    const cases = [
      [{ sub: "person-1", email, email_verified: true }, 303],
      [{ sub: "person-1", email, email_verified: false }, 403],
      [{ sub: "person-2", email, email_verified: true }, 401],
    ] as const;
    for (const [information, status] of cases) {
      own.userInfo = information;
      const claims = { email: undefined, email_verified: undefined };
      expect((await new Browser(own).signIn(own, email, { claims })).status).toBe(status);
    }
  });

  it("takes Entra's word for its domains, and no other provider's", async () => {
    const tenant = "https://login.microsoftonline.com/tenant/v2.0";
    const entra = await TestIdentityProvider.create(tenant);
    const settings = { OIDC_ISSUER: tenant };
    const statusOf = async (own: TestIdentityProvider, edov: unknown, options = {}) => {
      const claims = { email_verified: undefined, xms_edov: edov };
      return (await new Browser(own, options).signIn(own, email, { claims })).status;
    };
    for (const edov of [true, 1]) expect(await statusOf(entra, edov, { settings })).toBe(303);
    for (const edov of [false, 0, "true", undefined]) {
      expect(await statusOf(entra, edov, { settings })).toBe(403);
    }
    expect(await statusOf(provider, true)).toBe(403);
  });

  it("shows no text of the provider", async () => {
    const browser = new Browser(provider);
    await browser.open("/sign-in");
    const path = `/v1/sign-in/callback?error=<script>x</script>&error_description=<b>y</b>&state=z`;
    const page = await (await browser.open(path)).text();
    expect(page).not.toMatch(/<script>|<b>|y<\/b>/);
  });
});
