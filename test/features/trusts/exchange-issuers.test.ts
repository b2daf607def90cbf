import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { refusal } from "../../support/client.ts";
import { TrustingHarness } from "../../support/exchange-harness.ts";
import { ISSUER, Issuer, newSigningKey } from "../../support/issuer.ts";

const MINUTE_MS = 60_000;

const UNAUTHENTICATED = [401, "unauthenticated"];
const BAD_INPUT = [400, "bad_input"];

describe("the exchange of a token", () => {
  let harness: TrustingHarness;

  beforeEach(async () => {
    harness = await TrustingHarness.create();
    await harness.createTrust();
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
});

it("a token with the jti of another issuer's is exchanged", async () => {
  const [first, other] = [await TrustingHarness.create(), await TrustingHarness.create()];
  const issuer = "https://other.issuer.dev";
  other.issuer.answers.set("/.well-known/openid-configuration", () =>
    Response.json({ issuer, jwks_uri: `${issuer}/keys` }),
  );
  other.issuer.answers.set("/keys", () => Response.json({ keys: [other.issuer.jwk] }));
  expect((await first.createTrust()).status).toBe(201);
  expect((await other.createTrust({ issuer })).status).toBe(201);
  const claims = { jti: "1", iss: issuer };
  expect((await first.exchange(await first.sign({ jti: "1" }))).status).toBe(201);
  expect((await other.exchange(await other.sign(claims))).status).toBe(201);
  expect(refusal(await other.exchange(await other.sign(claims)))).toEqual(UNAUTHENTICATED);
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
      const harness = await TrustingHarness.create();
      expect((await harness.createTrust()).status).toBe(201);
      harness.issuer.answers.set(path, answer);
      const refused = await harness.createTrust({ name: "another" });
      expect(refusal(refused)).toEqual(BAD_INPUT);
      expect(refused.body.cause.issues[0].path).toBe("issuer");
      expect(refusal(await harness.exchange())).toEqual([408, "timeout"]);
      harness.issuer.answers.clear();
      harness.aheadMs = 10_001;
      expect((await harness.exchange()).status).toBe(201);
    },
  );

  it("that does not answer is given up, and asked again after ten seconds only", async () => {
    const harness = await TrustingHarness.create();
    expect((await harness.createTrust()).status).toBe(201);
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
    const harness = await TrustingHarness.create();
    const reply = await harness.createTrust({ issuer });
    expect(refusal(reply)).toEqual(BAD_INPUT);
    expect(reply.body.cause.issues[0].path).toBe("issuer");
    expect(harness.issuer.requests).toEqual([]);
  });
});
