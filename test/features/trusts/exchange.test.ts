import { env } from "cloudflare:workers";
import { base64url, SignJWT } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { type Parsed, refusal } from "../../support/client.ts";
import { CONDITIONS, TrustingHarness } from "../../support/exchange-harness.ts";
import { AUDIENCE, GITHUB_CLAIMS, ISSUER, Issuer } from "../../support/issuer.ts";
import { newServiceAccount, newTrust, newWorld, type World } from "../../support/world.ts";

const MINUTE_MS = 60_000;

const UNAUTHENTICATED = [401, "unauthenticated"];
const BAD_INPUT = [400, "bad_input"];

describe("the exchange of a token", () => {
  let harness: TrustingHarness;
  let world: World;
  let membershipId: string;
  let trust: Parsed;

  beforeEach(async () => {
    harness = await TrustingHarness.create();
    ({ world, membershipId } = harness);
    trust = (await harness.createTrust()).body;
  });

  it.each(["RS256", "ES256"] as const)(
    "signed with %s gives a key of the membership, which expires after the trust's time",
    async (algorithm) => {
      const own = await TrustingHarness.create(algorithm, harness);
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
    const { body: second } = await harness.createTrust({ name: "second" });
    expect((await harness.exchange(token)).body.message).toContain("exchanged before");
    const trusts = `/v1/orgs/${world.id}/trusts`;
    for (const { id } of [trust, second]) {
      expect((await world.client.delete(`${trusts}/${id}`)).status).toBe(204);
    }
    const { body: replaced } = await harness.createTrust({ name: "replaced" });
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
});
