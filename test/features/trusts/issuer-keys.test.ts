import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import type { Reply } from "../../support/client.ts";
import { ExchangeHarness } from "../../support/exchange-harness.ts";
import { AUDIENCE, GITHUB_CLAIMS, ISSUER, Issuer } from "../../support/issuer.ts";
import { newServiceAccount, newTrust, newWorld, type World } from "../../support/world.ts";

const MINUTE_MS = 60_000;
const CONFIGURATION = "/.well-known/openid-configuration";
const JWKS = "/keys";

async function newTrustingWorld(): Promise<World> {
  const world = await newWorld();
  const { environment } = GITHUB_CLAIMS;
  const fields = { issuer: ISSUER, audience: AUDIENCE, conditions: { environment } };
  await newTrust(world, { membershipId: await newServiceAccount(world) }, fields);
  return world;
}

const newHarness = async () => new ExchangeHarness(await Issuer.create());

const statusesOf = (replies: readonly Reply[]) =>
  [...new Set(replies.map(({ status }) => status))].toSorted();

/** How often the keys themselves were requested. */
const keyReads = ({ issuer }: ExchangeHarness) =>
  issuer.requests.filter(({ url }) => url === `${ISSUER}${JWKS}`).length;

/** Holds every answer with the configuration until `release` is called. */
function holdConfiguration({ issuer }: ExchangeHarness) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  issuer.answers.set(CONFIGURATION, async () => {
    await released;
    return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}${JWKS}` });
  });
  return release;
}

/** Sends the tokens at once, and releases the issuer when it has a request. */
async function exchangeAtOnce(
  harness: ExchangeHarness,
  organizationId: string,
  tokens: readonly string[],
): Promise<Reply[]> {
  const before = harness.issuer.requests.length;
  const release = holdConfiguration(harness);
  const replies = tokens.map((token) => harness.exchangeIn(organizationId, token));
  await expect.poll(() => harness.issuer.requests.length).toBeGreaterThan(before);
  // Long enough for the other requests to arrive at the issuer, if they are not held back.
  await new Promise((resolve) => setTimeout(resolve, 200));
  release();
  return Promise.all(replies);
}

const forge = (forger: Issuer, count: number, now: number) =>
  Promise.all(Array.from({ length: count }, () => forger.sign({}, { now })));

describe("the keys of an issuer", () => {
  it("are requested once for concurrent forged tokens, and not again in the next 30 s", async () => {
    const world = await newTrustingWorld();
    const harness = await newHarness();
    const forger = await Issuer.create();
    const forged = await forge(forger, 20, harness.now);
    const valid = await harness.sign();
    const replies = await exchangeAtOnce(harness, world.id, [...forged, valid]);
    expect(replies.map(({ status }) => status)).toEqual([...forged.map(() => 401), 201]);
    expect(keyReads(harness)).toBe(1);

    for (const token of await forge(forger, 5, harness.now)) {
      expect((await harness.exchangeIn(world.id, token)).status).toBe(401);
    }
    expect(keyReads(harness)).toBe(1);

    harness.aheadMs = 31_000;
    const later = await forge(forger, 20, harness.now);
    expect(statusesOf(await exchangeAtOnce(harness, world.id, later))).toEqual([401]);
    expect(keyReads(harness)).toBe(2);
  });

  it("are found by every concurrent token after a rotation, with one request", async () => {
    const world = await newTrustingWorld();
    const harness = await newHarness();
    expect((await harness.exchangeIn(world.id)).status).toBe(201);
    harness.aheadMs = 31_000;
    await harness.issuer.rotate();
    const tokens = await Promise.all(Array.from({ length: 10 }, () => harness.sign()));
    expect(statusesOf(await exchangeAtOnce(harness, world.id, tokens))).toEqual([201]);
    expect(keyReads(harness)).toBe(2);
  });

  it("are requested for each issuer on its own: a slow one delays no other", async () => {
    const world = await newTrustingWorld();
    const issuer = "https://other.issuer.dev/ci";
    const fields = { issuer, audience: AUDIENCE, conditions: { environment: "production" } };
    await newTrust(world, { membershipId: await newServiceAccount(world) }, fields);
    const harness = await newHarness();
    const release = holdConfiguration(harness);
    const slow = harness.exchangeIn(world.id);
    await expect.poll(() => harness.issuer.requests.length).toBe(1);
    const other = await harness.exchangeIn(world.id, await harness.sign({ iss: issuer }));
    release();
    // The other issuer has no configuration.
    expect(other.status).toBe(408);
    expect((await slow).status).toBe(201);
  });

  it("are used for a minute after they expire while a request for them runs, and no longer", async () => {
    const world = await newTrustingWorld();
    for (const [aheadMs, waits] of [
      [10 * MINUTE_MS + 30_000, false],
      [11 * MINUTE_MS + 1_000, true],
    ] as const) {
      const harness = await newHarness();
      expect((await harness.exchangeIn(world.id)).status).toBe(201);
      harness.aheadMs = aheadMs;
      const release = holdConfiguration(harness);
      let isReloaded = false;
      const reloading = harness.exchangeIn(world.id).finally(() => {
        isReloaded = true;
      });
      await expect.poll(() => harness.issuer.requests.length).toBe(3);
      const second = harness.exchangeIn(world.id).then((reply) => ({ reply, isReloaded }));
      if (waits) setTimeout(release, 100);
      const { reply, isReloaded: hasWaited } = await second;
      expect([reply.status, hasWaited]).toEqual([201, waits]);
      release();
      expect((await reloading).status).toBe(201);
      expect(keyReads(harness)).toBe(2);
    }
  });

  it("are requested again when the request for them never ends, as after a disconnection", async () => {
    const world = await newTrustingWorld();
    const harness = await newHarness();
    harness.issuer.answers.set(CONFIGURATION, () => new Promise<never>(() => undefined));
    void harness.exchangeIn(world.id);
    await expect.poll(() => harness.issuer.requests.length).toBe(1);
    const waiting = harness.exchangeIn(world.id);
    await new Promise((resolve) => setTimeout(resolve, 100));
    harness.issuer.answers.clear();
    harness.aheadMs = 5_001;
    const { status, body } = await waiting;
    expect([status, body.code]).toEqual([408, "timeout"]);
    expect((await harness.exchangeIn(world.id)).status).toBe(201);
  });

  it("that cannot be read are requested once for concurrent tokens, and not again for 10 s", async () => {
    const world = await newTrustingWorld();
    const harness = await newHarness();
    harness.issuer.answers.set(JWKS, () => new Response("broken", { status: 500 }));
    const tokens = await Promise.all(Array.from({ length: 10 }, () => harness.sign()));
    expect(statusesOf(await exchangeAtOnce(harness, world.id, tokens))).toEqual([408]);
    expect(keyReads(harness)).toBe(1);
    harness.aheadMs = 9_000;
    expect((await harness.exchangeIn(world.id)).status).toBe(408);
    expect(keyReads(harness)).toBe(1);
    harness.issuer.answers.clear();
    harness.aheadMs = 10_500;
    expect((await harness.exchangeIn(world.id)).status).toBe(201);
  });
});

describe("a forged token", () => {
  /** What the caller sees, without what differs in every response. */
  const seenBy = ({ status, text, headers }: Reply) => {
    const varying = ["x-request-id", "date", "server-timing", "cf-ray"];
    const others = [...headers].filter(([name]) => !varying.includes(name));
    return JSON.stringify([status, text, others]);
  };

  it("gets the same response whether the organization or its trust exists, also with others", async () => {
    const trusting = await newTrustingWorld();
    const other = await newWorld();
    const { environment } = GITHUB_CLAIMS;
    const target = { membershipId: await newServiceAccount(other) };
    const elsewhere = { issuer: "https://other.issuer.dev", conditions: { environment } };
    await newTrust(other, target, elsewhere);
    const organizations = [trusting.id, other.id, (await newWorld()).id, newId(systemClock)];
    const harness = await newHarness();
    const forger = await Issuer.create();
    const { kid } = harness.issuer.jwk;
    const seconds = Math.floor(harness.now / 1000);
    const forgeries = [
      () => forger.sign(),
      () => forger.sign({}, { header: { kid } }),
      () => forger.sign({}, { header: { kid: undefined } }),
      () => forger.sign({ exp: seconds - 3_600 }, { header: { kid } }),
      () => forger.sign({ nbf: seconds + 3_600 }, { header: { kid } }),
      () => forger.sign({ aud: "https://x.dev", jti: undefined }, { header: { kid } }),
    ];
    const seen = new Set<string>();
    // The first round meets a cold cache.
    for (let round = 0; round < 3; round += 1) {
      const sent = organizations.flatMap((id) =>
        forgeries.map(async (sign) => harness.exchangeIn(id, await sign())),
      );
      for (const reply of await Promise.all(sent)) seen.add(seenBy(reply));
      harness.aheadMs += 31_000;
    }
    expect([...seen]).toEqual([expect.stringContaining("unauthenticated")]);
    expect((await harness.exchangeIn(trusting.id)).status).toBe(201);
  });
});
