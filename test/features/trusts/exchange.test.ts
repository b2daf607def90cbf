import { env } from "cloudflare:workers";
import { base64url, SignJWT } from "jose";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { matchesGlob } from "../../../src/lib/glob.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { Client, type Parsed, type Reply } from "../../support/client.ts";
import { ExchangeHarness } from "../../support/exchange-harness.ts";
import { Instrumented } from "../../support/instruments.ts";
import { AUDIENCE, GITHUB_CLAIMS, ISSUER, Issuer, newSigningKey } from "../../support/issuer.ts";
import { addKeys, addTokens } from "../../support/many-credentials.ts";
import {
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../../support/world.ts";

const MINUTE_MS = 60_000;
const CONDITIONS = { repository_id: "74", environment: "production" };

let world: World;
let membershipId: string;

beforeAll(async () => {
  world = await newWorld();
  membershipId = await newServiceAccount(world);
});

class Harness extends ExchangeHarness {
  static async create(algorithm?: "RS256" | "ES256"): Promise<Harness> {
    return new Harness(await Issuer.create(algorithm));
  }

  exchange(token?: string, organizationId: string = world.id): Promise<Reply> {
    return this.exchangeIn(organizationId, token);
  }
}

async function createTrust(harness: Harness, fields: object = {}, client = world.client) {
  return client.via(harness.worker.fetch).post(`/v1/orgs/${world.id}/trusts`, {
    name: "deploy",
    issuer: ISSUER,
    audience: AUDIENCE,
    conditions: CONDITIONS,
    membership_id: membershipId,
    ...fields,
  });
}

const refusal = ({ status, body }: Reply) => [status, body.code];
const UNAUTHENTICATED = [401, "unauthenticated"];
const BAD_INPUT = [400, "bad_input"];

describe("the exchange of a token", () => {
  let harness: Harness;
  let trust: Parsed;

  beforeEach(async () => {
    world = await newWorld();
    membershipId = await newServiceAccount(world);
    harness = await Harness.create();
    trust = (await createTrust(harness)).body;
  });

  it.each(["RS256", "ES256"] as const)(
    "signed with %s gives a key of the membership, which expires after the trust's time",
    async (algorithm) => {
      const own = await Harness.create(algorithm);
      const { status, body } = await own.exchange();
      expect(status).toBe(201);
      expect(body).toMatchObject({ trust_id: trust.id, type: "api_key", expires_in: 900 });
      const { data } = (await world.client.get(`/v1/orgs/${world.id}/api-keys`)).body;
      const [{ owner }] = data.filter((each: Parsed) => each.membership_id === membershipId);
      expect(owner).toEqual({ type: "ci", name: "deploy", trust_id: trust.id });
      const key = await own.client(body.key).get(`/v1/orgs`);
      expect(key.status).toBe(200);
      own.aheadMs = 899_999;
      expect((await own.client(body.key).get(`/v1/orgs`)).status).toBe(200);
      own.aheadMs = 900_000;
      expect((await own.client(body.key).get(`/v1/orgs`)).status).toBe(401);
    },
  );

  it("leaves a record with the trust and the conditions' claims, without the token", async () => {
    const token = await harness.sign();
    const { body } = await harness.exchange(token);
    const { results } = await env.DB.prepare(
      "select * from audit_log where organization_id = ? and action = 'trust.exchanged'",
    )
      .bind(world.id)
      .all<Record<string, string>>();
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      actor_type: "trust",
      credential_id: trust.id,
      membership_id: membershipId,
      target_type: "api_key",
      target_id: body.id,
      client_address: expect.any(String),
      request_id: expect.any(String),
    });
    const { sub, repository_id, environment } = GITHUB_CLAIMS;
    const recorded = JSON.parse(String(results[0]?.["changes"]));
    expect(recorded).toEqual({ after: { claims: { sub, repository_id, environment } } });
    for (const part of token.split(".")) expect(JSON.stringify(results)).not.toContain(part);
    expect(JSON.stringify(harness.worker.logged)).not.toContain(token.split(".")[1]);
  });

  it("is accepted once, also if it arrives many times at once", async () => {
    const token = await harness.sign();
    const replies = await Promise.all(Array.from({ length: 8 }, () => harness.exchange(token)));
    const statuses = replies.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 401)]);
    expect((await harness.exchange(token)).body.message).toContain("exchanged before");
    expect((await harness.exchange()).status).toBe(201);
  });

  it("is accepted once in an organization, also after its trust is replaced", async () => {
    const token = await harness.sign();
    expect((await harness.exchange(token)).status).toBe(201);
    const { body: second } = await createTrust(harness, { name: "second" });
    expect((await harness.exchange(token)).body.message).toContain("exchanged before");
    const trusts = `/v1/orgs/${world.id}/trusts`;
    for (const { id } of [trust, second]) {
      expect((await world.client.delete(`${trusts}/${id}`)).status).toBe(204);
    }
    const { body: replaced } = await createTrust(harness, { name: "replaced" });
    const refused = await harness.exchange(token);
    expect(refusal(refused)).toEqual(UNAUTHENTICATED);
    expect(refused.body.message).toContain("exchanged before");
    expect((await harness.exchange()).body.trust_id).toBe(replaced.id);

    const other = await newWorld();
    const trustee = await newServiceAccount(other);
    const fields = { issuer: ISSUER, audience: AUDIENCE, conditions: CONDITIONS };
    await newTrust(other, { membershipId: trustee }, fields);
    expect((await harness.exchange(token, other.id)).status).toBe(201);
    expect(refusal(await harness.exchange(token, other.id))).toEqual(UNAUTHENTICATED);
  });

  it("is still refused as used after the sweep, until it is refused as expired", async () => {
    const token = await harness.sign();
    await harness.exchange(token);
    for (const aheadMs of [5 * MINUTE_MS + 59_000, 6 * MINUTE_MS + 1_000]) {
      harness.aheadMs = aheadMs;
      await harness.worker.sweep();
      expect(refusal(await harness.exchange(token))).toEqual(UNAUTHENTICATED);
    }
    const left = "select count(*) as n from used_tokens where organization_id = ?";
    expect(await env.DB.prepare(left).bind(trust.org_id).first("n")).toBe(0);
  });

  const WRONG = {
    "has expired": [{ exp: -70 }, "expired"],
    "is not valid yet": [{ nbf: 70 }, "not valid yet"],
    "lives longer than a day": [{ exp: 25 * 3_600 }, "24 hours"],
    "has another audience": [{ aud: "https://other.example.com" }, "audience"],
    "has an audience that begins with the trust's": [{ aud: `${AUDIENCE}.evil` }, "audience"],
    "has an audience that the trust's begins with": [{ aud: AUDIENCE.slice(0, -1) }, "audience"],
    "has a list of such audiences": [{ aud: [`${AUDIENCE}/`, `${AUDIENCE}.evil`] }, "audience"],
    "has another environment": [{ environment: "staging" }, "conditions"],
    "lacks a claim": [{ environment: undefined }, "conditions"],
    "has a list instead of a text": [{ environment: ["production"] }, "conditions"],
    "has no exp": [{ exp: undefined }, "exp"],
  } as const;

  it.each(Object.entries(WRONG))(
    "that %s is refused, with the reason",
    async (_, [claims, reason]) => {
      const seconds = Math.floor(harness.now / 1000);
      const absolute = Object.entries(claims).map(([name, value]) => {
        return [name, typeof value === "number" ? seconds + value : value];
      });
      const reply = await harness.exchange(await harness.sign(Object.fromEntries(absolute)));
      expect(refusal(reply)).toEqual(UNAUTHENTICATED);
      expect(reply.body.message).toContain(reason);
      expect((await harness.exchange()).status).toBe(201);
    },
  );

  /** The other signature of ES256 that is valid for the same text (RFC 7518, 3.4): with `n - s` for `s`. */
  function withOtherSignature(token: string): string {
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const [header, payload, signature = ""] = token.split(".");
    const hex = [...base64url.decode(signature)].map((byte) => byte.toString(16).padStart(2, "0"));
    const s = (order - BigInt(`0x${hex.slice(32).join("")}`)).toString(16).padStart(64, "0");
    const bytes = [...hex.slice(0, 32), ...(s.match(/../g) ?? [])].map((byte) =>
      parseInt(byte, 16),
    );
    return [header, payload, base64url.encode(new Uint8Array(bytes))].join(".");
  }

  it.each([
    ["no jti", undefined],
    ["an empty jti", ""],
    ["a number as its jti", 7],
    ["a jti that no double holds", 1e300],
    ["a text as its jti", "7f0c"],
  ])("that has %s is accepted once, also with its other valid signature", async (_, jti) => {
    // Otherwise two tokens of the same second would be the same text.
    const claims = { jti, run_id: crypto.randomUUID() };
    const token = await harness.sign(claims);
    const other = withOtherSignature(token);
    expect(other).not.toBe(token);
    expect((await harness.exchange(token)).status).toBe(201);
    for (const each of [token, other]) {
      const reply = await harness.exchange(each);
      expect(refusal(reply)).toEqual(UNAUTHENTICATED);
      expect(reply.body.message).toContain("exchanged before");
    }
    const next = await harness.sign({ ...claims, run_id: crypto.randomUUID() });
    const isOfToken = jti === undefined || jti === "" || jti === 1e300;
    expect((await harness.exchange(next)).status).toBe(isOfToken ? 201 : 401);
  });

  it("with the jti of another issuer's is accepted", async () => {
    const [other, issuer] = [await Harness.create(), "https://other.issuer.dev"];
    const configuration = { issuer, jwks_uri: `${issuer}/keys` };
    other.issuer.answers.set("/.well-known/openid-configuration", () =>
      Response.json(configuration),
    );
    other.issuer.answers.set("/keys", () => Response.json({ keys: [other.issuer.jwk] }));
    expect((await createTrust(other, { issuer })).status).toBe(201);
    const claims = { jti: "1", iss: issuer };
    expect((await harness.exchange(await harness.sign({ jti: "1" }))).status).toBe(201);
    expect((await other.exchange(await other.sign(claims))).status).toBe(201);
    expect(refusal(await other.exchange(await other.sign(claims)))).toEqual(UNAUTHENTICATED);
  });

  it("with its other valid signature is accepted, and then no longer as it was", async () => {
    const token = await harness.sign({ jti: undefined });
    expect((await harness.exchange(withOtherSignature(token))).status).toBe(201);
    expect(refusal(await harness.exchange(token))).toEqual(UNAUTHENTICATED);
  });

  it("may have a number as its jti, which is the same as its digits", async () => {
    expect((await harness.exchange(await harness.sign({ jti: 8 }))).status).toBe(201);
    expect(refusal(await harness.exchange(await harness.sign({ jti: "8" })))).toEqual(
      UNAUTHENTICATED,
    );
    expect((await harness.exchange(await harness.sign({ jti: 9 }))).status).toBe(201);
  });

  it("may have more audiences than that of the trust", async () => {
    const aud = [`${AUDIENCE}.evil`, AUDIENCE];
    expect((await harness.exchange(await harness.sign({ aud }))).status).toBe(201);
  });

  it("tolerates clocks that differ by less than a minute", async () => {
    const seconds = Math.floor(harness.now / 1000);
    for (const claims of [{ exp: seconds - 40 }, { nbf: seconds + 40 }]) {
      expect((await harness.exchange(await harness.sign(claims))).status).toBe(201);
    }
  });

  it("with another algorithm is refused: none, the public key as a secret, and RS512", async () => {
    const payload = JSON.parse(
      atob((await harness.sign()).split(".")[1]?.replaceAll("-", "+").replaceAll("_", "/") ?? ""),
    );
    const base64 = (value: object) =>
      btoa(JSON.stringify(value)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
    const none = `${base64({ alg: "none" })}.${base64(payload)}.`;
    const secret = new TextEncoder().encode(JSON.stringify(harness.issuer.jwk));
    const { kid } = harness.issuer.jwk;
    const hs256 = await new SignJWT(payload)
      .setProtectedHeader({ alg: "HS256", ...(kid && { kid }) })
      .sign(secret);
    const { privateKey } = (await crypto.subtle.generateKey(
      {
        name: "RSASSA-PKCS1-v1_5",
        modulusLength: 2_048,
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: "SHA-512",
      },
      true,
      ["sign", "verify"],
    )) as CryptoKeyPair;
    const rs512 = await new SignJWT(payload).setProtectedHeader({ alg: "RS512" }).sign(privateKey);
    for (const token of [none, hs256, rs512]) {
      const reply = await harness.exchange(token);
      expect(refusal(reply)).toEqual(UNAUTHENTICATED);
      expect(reply.body.message).toContain("RS256 or ES256");
    }
    expect((await harness.exchange()).status).toBe(201);
  });

  it("that is malformed or over 8 KiB is bad input", async () => {
    const long = await harness.sign({ padding: "x".repeat(8_192) });
    for (const token of [
      "",
      "a",
      "a.b",
      "a.b.c",
      "....",
      "é.é.é",
      long,
      `${await harness.sign()}.x`,
    ]) {
      expect(refusal(await harness.exchange(token))).toEqual(BAD_INPUT);
    }
    const fits = await harness.sign({ padding: "x".repeat(4_000) });
    expect((await harness.exchange(fits)).status).toBe(201);
  });

  it("of another signer, and of an unknown organization, gives the same reply", async () => {
    const forger = await Issuer.create();
    const { body: forged } = await harness.exchange(await forger.sign());
    const { kid } = harness.issuer.jwk;
    const { body: sameKid } = await harness.exchange(await forger.sign({}, { header: { kid } }));
    const other = await newWorld();
    const { body: untrusting } = await harness.exchange(undefined, other.id);
    const { body: unknown } = await harness.exchange(undefined, newId(systemClock));
    expect(unknown.code).toBe("unauthenticated");
    for (const body of [forged, sameKid, untrusting]) expect(body).toEqual(unknown);
  });

  it("finds the keys of an issuer that has rotated them, with one request in 30 s", async () => {
    expect((await harness.exchange()).status).toBe(201);
    const before = harness.issuer.requests.length;
    harness.aheadMs = 31_000;
    await harness.issuer.rotate();
    expect((await harness.exchange()).status).toBe(201);
    expect(harness.issuer.requests.length).toBe(before + 2);
    const forger = await Issuer.create();
    for (let at = 0; at < 5; at += 1) {
      expect((await harness.exchange(await forger.sign({}, { now: harness.now }))).status).toBe(
        401,
      );
    }
    expect(harness.issuer.requests.length).toBe(before + 2);
    expect((await harness.exchange()).status).toBe(201);
  });

  it("keeps the cached keys when the issuer fails during a search for an unknown key", async () => {
    expect((await harness.exchange()).status).toBe(201);
    harness.aheadMs = 31_000;
    harness.issuer.answers.set("/keys", () => new Response("broken", { status: 500 }));
    const forged = await (await Issuer.create()).sign({}, { now: harness.now });
    expect(refusal(await harness.exchange(forged))).toEqual([408, "timeout"]);
    expect((await harness.exchange()).status).toBe(201);
  });

  it("does not use keys for longer than ten minutes", async () => {
    expect((await harness.exchange()).status).toBe(201);
    const old = harness.issuer;
    const stale = await old.sign({}, { now: harness.now + 11 * MINUTE_MS });
    await old.rotate();
    harness.aheadMs = 11 * MINUTE_MS;
    expect(refusal(await harness.exchange(stale))).toEqual(UNAUTHENTICATED);
    expect((await harness.exchange()).status).toBe(201);
  });

  it("uses the oldest trust that the token meets", async () => {
    harness.aheadMs = 1;
    const { body: staging } = await createTrust(harness, {
      conditions: { environment: "staging" },
    });
    harness.aheadMs = 2;
    await createTrust(harness, { conditions: { repository_id: "74" } });
    expect((await harness.exchange()).body.trust_id).toBe(trust.id);
    const token = await harness.sign({ environment: "staging" });
    expect((await harness.exchange(token)).body.trust_id).toBe(staging.id);
  });

  it.each(["keys", "runner tokens"])(
    "is refused while as many %s of the trust live as may",
    async (kind) => {
      const { default_environment_id: environmentId } = await newProject(world.client);
      const pool = await newPool(world, [environmentId]);
      const conditions = { environment: "full" };
      const target = kind === "keys" ? {} : { membership_id: undefined, pool_id: pool.id };
      const full = (await createTrust(harness, { conditions, ...target })).body;
      const lineage = { trustId: full.id };
      const count = LIMITS.liveKeysOfTrust.value - 1;
      if (kind === "keys") await addKeys(world, membershipId, count, lineage);
      else await addTokens(world, pool.id, count, lineage);
      const exchange = async () => harness.exchange(await harness.sign(conditions));
      expect((await exchange()).status).toBe(201);
      expect(refusal(await exchange())).toEqual([409, "conflict"]);
      harness.aheadMs = full.ttl_seconds * 1_000;
      expect((await exchange()).status).toBe(201);
    },
  );

  it("of a pool gives a runner token", async () => {
    const { body: project } = await world.client.post("/v1/projects", { name: "p" });
    const pools = `/v1/orgs/${world.id}/runner-pools`;
    const environment_ids = [project.default_environment_id];
    const { body: pool } = await world.client.post(pools, { name: "eu", environment_ids });
    const conditions = { environment: "runners" };
    const fields = { membership_id: undefined, pool_id: pool.id, conditions };
    expect((await createTrust(harness, fields)).status).toBe(201);
    const { body } = await harness.exchange(await harness.sign({ environment: "runners" }));
    expect(body.type).toBe("runner_token");
    const claims = { request_id: "r" };
    const runner = harness.client(body.key);
    expect((await runner.post("/v1/runner/claims", claims)).status).toBe(204);
    expect((await runner.get("/v1/orgs")).status).toBe(401);
    const { body: listed } = await world.client.get(`${pools}/${pool.id}/tokens`);
    expect(listed.data).toMatchObject([{ id: body.id, trust_id: body.trust_id }]);
    expect(JSON.stringify(listed)).not.toContain(body.key);
    const usage = await world.client.get(`/v1/orgs/${world.id}/usage`);
    expect(usage.body.records.runner_tokens.used).toBe(0);
    expect((await world.client.delete(`${pools}/${pool.id}`)).status).toBe(204);
    expect((await runner.post("/v1/runner/claims", claims)).status).toBe(401);
    const again = await harness.exchange(await harness.sign({ environment: "runners" }));
    expect(refusal(again)).toEqual(UNAUTHENTICATED);
    await env.DB.prepare("update usage set records = records").run();
    const after = await world.client.get(`/v1/orgs/${world.id}/usage`);
    expect(after.body.records.runner_tokens.used).toBe(0);
  });

  it("gives keys that do not count toward the quota, and that the sweep removes once expired", async () => {
    const used = async () =>
      (await world.client.get(`/v1/orgs/${world.id}/usage`)).body.records.api_keys.used;
    const before = await used();
    const { body } = await harness.exchange();
    expect(await used()).toBe(before);
    const rows = "select count(*) as n from api_keys where id = ?";
    harness.aheadMs = 899_999;
    await harness.worker.sweep();
    expect(await env.DB.prepare(rows).bind(body.id).first("n")).toBe(1);
    harness.aheadMs = 900_000;
    await harness.worker.sweep();
    expect(await env.DB.prepare(rows).bind(body.id).first("n")).toBe(0);
    expect(await used()).toBe(before);
  });

  it("is a conflict while 1,000 keys of the trust are valid, and works once one has expired", async () => {
    await env.DB.prepare(
      `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash, last_four,
         version, expires_at, created_at, trust_id)
       select 'full-' || value || ?1, ?1, ?2, 'n', 'member', 'h' || value || ?1, 'abcd', 1, ?3, 1, ?4
       from json_each(?5)`,
    )
      .bind(
        world.id,
        membershipId,
        harness.now + MINUTE_MS,
        trust.id,
        JSON.stringify(Array.from({ length: 1_000 }, (_, at) => at)),
      )
      .run();
    const token = await harness.sign();
    expect(refusal(await harness.exchange(token))).toEqual([409, "conflict"]);
    harness.aheadMs = MINUTE_MS - 1;
    expect(refusal(await harness.exchange(token))).toEqual([409, "conflict"]);
    harness.aheadMs = MINUTE_MS;
    // The refused exchange has not used the token.
    expect((await harness.exchange(token)).status).toBe(201);
  });

  it("ends with its trust: the keys, and everything that was created with them, stop at once", async () => {
    const admin = await newServiceAccount(world, "admin");
    const conditions = { environment: "admin" };
    const { body: own } = await createTrust(harness, { membership_id: admin, conditions });
    const { body: issued } = await harness.exchange(await harness.sign({ environment: "admin" }));
    const client = harness.client(issued.key);
    expect((await client.get(`/v1/orgs/${world.id}/members`)).status).toBe(200);
    const { body: kept } = await harness.exchange();
    const path = `/v1/orgs/${world.id}/trusts/${own.id}`;
    expect((await world.client.via(harness.worker.fetch).delete(path)).status).toBe(204);
    expect((await client.get(`/v1/orgs/${world.id}/members`)).status).toBe(401);
    expect((await harness.client(kept.key).get("/v1/orgs")).status).toBe(200);
    expect((await world.client.get(path)).status).toBe(404);
    const again = await harness.exchange(await harness.sign({ environment: "admin" }));
    expect(refusal(again)).toEqual(UNAUTHENTICATED);
  });

  it("ends in every isolate with its trust, as do the runner tokens that its key has created", async () => {
    const admin = await newServiceAccount(world, "admin");
    const conditions = { environment: "admin" };
    const { body: own } = await createTrust(harness, { membership_id: admin, conditions });
    const { body: issued } = await harness.exchange(await harness.sign({ environment: "admin" }));
    const { default_environment_id } = await newProject(world.client);
    const pool = await newPool(world, [default_environment_id]);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    const { body: token } = await harness.client(issued.key).post(tokens, { name: "by the job" });
    const other = new Instrumented({ clock: { now: () => harness.now } });
    const statuses = async ({ fetch }: Instrumented) => {
      const runners = [new Client(token.token, fetch), pool.runner.via(fetch)];
      const replies = [await new Client(issued.key, fetch).get("/v1/orgs")];
      for (const each of runners) replies.push(await each.get("/v1/runner/attempts"));
      return replies.map(({ status }) => status);
    };
    const isolates = [harness.worker, other];
    for (const each of isolates) expect(await statuses(each)).toEqual([200, 200, 200]);
    const deletion = world.client.via(harness.worker.fetch);
    expect((await deletion.delete(`/v1/orgs/${world.id}/trusts/${own.id}`)).status).toBe(204);
    for (const each of isolates) expect(await statuses(each)).toEqual([401, 401, 200]);
  });

  it("ends with its service account", async () => {
    const { body } = await harness.exchange();
    const path = `/v1/orgs/${world.id}/service-accounts/${membershipId}`;
    expect((await world.client.via(harness.worker.fetch).delete(path)).status).toBe(204);
    expect((await harness.client(body.key).get("/v1/orgs")).status).toBe(401);
    expect(refusal(await harness.exchange())).toEqual(UNAUTHENTICATED);
  });

  it("never gives more than the role at the creation, although the membership gets a higher one", async () => {
    const path = `/v1/orgs/${world.id}/service-accounts/${membershipId}`;
    expect((await world.client.patch(path, { role: "admin" })).status).toBe(200);
    const { body } = await harness.exchange();
    const members = await harness.client(body.key).get(`/v1/orgs/${world.id}/members`);
    expect(refusal(members)).toEqual([403, "unauthorized"]);
  });
});

describe("200 CI jobs in 15 minutes through one trust and one address", () => {
  it("all get a key of their own that works, and take nothing from the limits of others", async () => {
    const own = await newWorld();
    const admitted = new Map<string, number[]>();
    let now = () => 0;
    // Cloudflare's limit of 300 in 60 s, on the virtual clock.
    const addressLimiter: RateLimit = {
      limit: async ({ key }) => {
        const recent = (admitted.get(key) ?? []).filter((at) => at > now() - MINUTE_MS);
        admitted.set(key, [...recent, now()]);
        return { success: recent.length < 300 };
      },
    };
    const harness = new Harness(await Issuer.create(), addressLimiter);
    now = () => harness.now;
    const trustee = await newServiceAccount(own);
    await newTrust(
      own,
      { membershipId: trustee },
      { issuer: ISSUER, audience: AUDIENCE, conditions: CONDITIONS },
    );
    const headers = { "cf-connecting-ip": "203.0.113.7" };
    const send = (client: Client, method: string, path: string, body?: object) =>
      client.request(method, path, body, headers);
    const { client: member } = await newKey(own);
    const others = member.via(harness.worker.fetch);
    const keys = new Set<string>();
    for (let job = 0; job < 200; job += 1) {
      harness.aheadMs = (job * 15 * MINUTE_MS) / 200;
      const body = { org_id: own.id, token: await harness.sign() };
      const reply = await send(harness.client(), "POST", "/v1/oidc/token", body);
      expect(reply.status).toBe(201);
      keys.add(reply.body.key);
      expect((await send(harness.client(reply.body.key), "GET", "/v1/orgs")).status).toBe(200);
    }
    expect(keys.size).toBe(200);
    expect((await send(harness.client(), "GET", "/health")).status).toBe(200);
    const { status, headers: limits } = await send(others, "GET", "/v1/orgs");
    expect(status).toBe(200);
    expect(Number(limits.get("x-ratelimit-remaining"))).toBe(
      Number(limits.get("x-ratelimit-limit")) - 1,
    );
    const created = await others.post(`/v1/orgs/${own.id}/api-keys`, { name: "after the jobs" });
    expect(created.status).toBe(201);
    expect(harness.issuer.requests.length).toBeLessThanOrEqual(4);
  });
});

describe("an issuer", () => {
  const JWKS = "/keys";
  const CONFIGURATION = "/.well-known/openid-configuration";
  const redirect = () => new Response(null, { status: 302, headers: { location: `${ISSUER}/x` } });
  const answers: Record<string, [string, () => Response | Promise<Response>]> = {
    "redirects its configuration": [CONFIGURATION, redirect],
    "redirects its keys": [JWKS, redirect],
    fails: [JWKS, () => new Response("no", { status: 500 })],
    "cannot be reached": [CONFIGURATION, () => Promise.reject(new Error("refused"))],
    "sends no JSON": [JWKS, () => new Response("<html>")],
    "sends an array": [JWKS, () => Response.json([])],
    "sends keys over 256 KiB": [
      JWKS,
      () => new Response(`{"keys":[],"a":"${"x".repeat(256 * 1024)}"}`),
    ],
    "sends over 100 keys": [
      JWKS,
      async () => Response.json({ keys: Array.from({ length: 101 }, () => ({ kty: "EC" })) }),
    ],
    "has no keys": [JWKS, () => Response.json({ keys: [] })],
    "has only keys for encryption": [
      JWKS,
      async () => Response.json({ keys: [{ ...(await newSigningKey("ES256")).jwk, use: "enc" }] }),
    ],
    "has only short RSA keys": [
      JWKS,
      () => Response.json({ keys: [{ kty: "RSA", n: "abc", e: "AQAB" }] }),
    ],
    "names another issuer": [
      CONFIGURATION,
      () => Response.json({ issuer: "https://x.dev", jwks_uri: `${ISSUER}/keys` }),
    ],
    "has its keys at a private address": [
      CONFIGURATION,
      () => Response.json({ issuer: ISSUER, jwks_uri: "https://10.0.0.1/keys" }),
    ],
    "has its keys at an http: URL": [
      CONFIGURATION,
      () => Response.json({ issuer: ISSUER, jwks_uri: "http://ci.issuer.dev/keys" }),
    ],
  };

  it.each(Object.entries(answers))(
    "that %s is refused at the creation, and times out at an exchange",
    async (_, [path, answer]) => {
      const own = await newWorld();
      world = own;
      membershipId = await newServiceAccount(own);
      const harness = await Harness.create();
      expect((await createTrust(harness)).status).toBe(201);
      harness.issuer.answers.set(path, answer);
      const refused = await createTrust(harness, { name: "another" });
      expect(refusal(refused)).toEqual(BAD_INPUT);
      expect(refused.body.cause.issues[0].path).toBe("issuer");
      expect(refusal(await harness.exchange())).toEqual([408, "timeout"]);
      harness.issuer.answers.clear();
      harness.aheadMs = 10_001;
      expect((await harness.exchange()).status).toBe(201);
    },
  );

  it("that does not answer is given up, and asked again after ten seconds only", async () => {
    const harness = await Harness.create();
    expect((await createTrust(harness)).status).toBe(201);
    vi.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort());
    onTestFinished(() => void vi.restoreAllMocks());
    harness.issuer.answers.set("/keys", () => new Promise<never>(() => undefined));
    harness.issuer.answers.set(CONFIGURATION, ({ signal }) => {
      if (signal?.aborted) throw new DOMException("aborted", "TimeoutError");
      return new Promise<never>(() => undefined);
    });
    const before = harness.issuer.requests.length;
    const reply = await harness.exchange();
    expect(refusal(reply)).toEqual([408, "timeout"]);
    expect(reply.body.message).toContain("does not answer in time");
    expect((await harness.exchange()).status).toBe(408);
    expect(harness.issuer.requests.length).toBe(before + 1);
  });

  const hostile = [
    "http://ci.issuer.dev",
    "https://localhost",
    "https://10.0.0.1",
    "https://[::1]",
    "https://169.254.169.254",
    "https://user:secret@ci.issuer.dev",
    "https://ci.issuer.dev?",
    "https://ci.issuer.dev?a=1",
    "https://ci.issuer.dev#a",
    "https://ci.issuer.dev:22",
    "not a URL",
  ];

  it.each(hostile)("at %s is refused without a request", async (issuer) => {
    const harness = await Harness.create();
    const reply = await createTrust(harness, { issuer });
    expect(refusal(reply)).toEqual(BAD_INPUT);
    expect(reply.body.cause.issues[0].path).toBe("issuer");
    expect(harness.issuer.requests).toEqual([]);
  });
});

describe("a condition", () => {
  it("with wildcards matches any characters except a slash", () => {
    const cases: [string, string, boolean][] = [
      ["main", "main", true],
      ["main", "Main", false],
      ["refs/heads/*", "refs/heads/main", true],
      ["refs/heads/*", "refs/heads/feature/x", false],
      ["refs/heads/*", "refs/heads/", true],
      ["*-prod-*", "eu-prod-1", true],
      ["*-prod-*", "prod", false],
      ["a*a", "a", false],
      ["a*a", "aa", true],
      ["*a*b*c", "xxaxxbxxc", true],
      ["*a*b*c", "xxbxxaxxc", false],
      ["octo/*/.github/workflows/d.yml@*", "octo/r/.github/workflows/d.yml@v1", true],
      [".*", "x", false],
    ];
    for (const [pattern, text, matches] of cases) {
      expect(matchesGlob(pattern, text), `${pattern} and ${text}`).toBe(matches);
    }
    // A regular expression with backtracking would not finish.
    expect(matchesGlob(`${"*a".repeat(200)}b`, "a".repeat(8_000))).toBe(false);
  });

  it("compares numbers and booleans as their JSON text, and a list as any of its values", async () => {
    world = await newWorld();
    membershipId = await newServiceAccount(world);
    const harness = await Harness.create();
    const conditions = { run_attempt: "1", protected: "true", environment: ["qa", "prod*"] };
    expect((await createTrust(harness, { conditions })).status).toBe(201);
    const claims = { run_attempt: 1, protected: true };
    expect((await harness.exchange(await harness.sign(claims))).status).toBe(201);
    for (const other of [{ run_attempt: 2 }, { protected: false }, { environment: "dev" }]) {
      const token = await harness.sign({ ...claims, ...other });
      expect(refusal(await harness.exchange(token))).toEqual(UNAUTHENTICATED);
    }
  });

  const invalid: Record<string, unknown> = {
    "no condition": {},
    "a list": [],
    "21 conditions": Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`c${at}`, "x"])),
    "a claim with its own field": { iss: "x", environment: "production" },
    "an empty name": { "": "x" },
    "a long name": { ["x".repeat(101)]: "x" },
    "an empty value": { environment: "" },
    "a long value": { environment: "x".repeat(501) },
    "an empty list": { environment: [] },
    "21 values": { environment: Array.from({ length: 21 }, () => "x") },
    "a number": { environment: 1 },
    "an object": { environment: { a: "b" } },
    "only wildcards": { environment: "*", repository: ["*/*", "octo/x"] },
    "a control character": { environment: "a\u0000" },
  };

  it.each(Object.entries(invalid))("as %s is bad input", async (_, conditions) => {
    const harness = await Harness.create();
    const reply = await createTrust(harness, { conditions });
    expect(refusal(reply)).toEqual(BAD_INPUT);
    expect(reply.body.cause.issues[0].path).toMatch(/^conditions/);
  });

  it("on __proto__ is bad input, instead of being ignored", async () => {
    const harness = await Harness.create();
    const text = `{"name":"d","issuer":"${ISSUER}","audience":"a","membership_id":"${membershipId}",
      "conditions":{"environment":"production","__proto__":"x"}}`;
    const client = world.client.via(harness.worker.fetch);
    const headers = { "content-type": "application/json" };
    const reply = await client.request("POST", `/v1/orgs/${world.id}/trusts`, text, headers);
    expect(refusal(reply)).toEqual(BAD_INPUT);
  });
});
