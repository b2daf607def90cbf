import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { listAuditLog } from "../../support/audit.ts";
import { ExchangeHarness } from "../../support/exchange-harness.ts";
import { AUDIENCE, ISSUER, Issuer } from "../../support/issuer.ts";
import {
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../../support/world.ts";

interface Target {
  membershipId: string;
  poolId: string;
}

let world: World;
let harness: ExchangeHarness;
let target: Target;

beforeEach(async () => {
  world = await newWorld();
  harness = new ExchangeHarness(await Issuer.create());
  const project = await newProject(world.client);
  const pool = await newPool(world, [project.default_environment_id]);
  target = { membershipId: await newServiceAccount(world), poolId: pool.id };
});

/** Runs `act` after an exchange has read the trusts, and before it writes. */
function whileKeysAreRead(act: () => Promise<unknown>): void {
  harness.issuer.answers.set("/.well-known/openid-configuration", async () => {
    await act();
    return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` });
  });
}

function newTrustOf(kind: string, fields: object = {}): Promise<string> {
  const { membershipId, poolId } = target;
  const of = kind === "pool" ? { poolId } : { membershipId };
  const conditions = { environment: "production" };
  return newTrust(world, of, { issuer: ISSUER, audience: AUDIENCE, conditions, ...fields });
}

/** What the trust has issued: keys and runner tokens. */
async function issuedBy(trustId: string) {
  const { results } = await env.DB.prepare(
    `select id, created_by_key_id from api_keys where trust_id = ?1
     union all select id, created_by_key_id from runner_tokens where trust_id = ?1`,
  )
    .bind(trustId)
    .all();
  return results;
}

describe("an exchange that has read its trust", () => {
  const paths: [string, string, (trustId: string) => string][] = [
    ["a trust of a membership", "membership", (id) => `trusts/${id}`],
    ["a trust of a pool", "pool", (id) => `trusts/${id}`],
    ["its service account", "membership", () => `service-accounts/${target.membershipId}`],
    ["its pool", "pool", () => `runner-pools/${target.poolId}`],
  ];

  it.each(paths)("issues and records nothing if %s is deleted before it writes", async (...row) => {
    const [, kind, path] = row;
    const trustId = await newTrustOf(kind);
    const deleted: number[] = [];
    whileKeysAreRead(async () => {
      const reply = await world.client.delete(`/v1/orgs/${world.id}/${path(trustId)}`);
      deleted.push(reply.status);
    });
    const token = await harness.sign();
    const { status, body } = await harness.exchangeIn(world.id, token);
    expect(deleted).toEqual([204]);
    expect([status, body.code]).toEqual([401, "unauthenticated"]);
    expect(body.message).toContain("No trust accepts the token");
    expect(await issuedBy(trustId)).toEqual([]);
    const exchanges = await listAuditLog(world, "&action=trust.exchanged");
    expect(exchanges).toEqual([]);

    // The token counts as unused.
    harness.issuer.answers.clear();
    target.membershipId = await newServiceAccount(world);
    const successor = await newTrustOf("membership");
    expect((await harness.exchangeIn(world.id, token)).body.trust_id).toBe(successor);
    expect(await issuedBy(successor)).toHaveLength(1);
  });

  it.each(["membership", "pool"])(
    "of a %s issues what descends from the key that has replaced the trust's creator meanwhile",
    async (kind) => {
      const creator = await newKey(world);
      const trustId = await newTrustOf(kind, { createdByKeyId: creator.keyId });
      const keys = `/v1/orgs/${world.id}/api-keys`;
      let rotatedTo = "";
      whileKeysAreRead(async () => {
        const { status, body } = await creator.client.post(`${keys}/${creator.keyId}/rotate`, {
          overlap_seconds: 0,
        });
        expect(status).toBe(201);
        rotatedTo = body.id;
      });
      const { status, body } = await harness.exchangeIn(world.id);
      expect(status).toBe(201);
      expect(await issuedBy(trustId)).toEqual([{ id: body.id, created_by_key_id: rotatedTo }]);
      const revoked = await world.client.delete(`${keys}/${rotatedTo}?descendants=revoke`);
      expect(revoked.status).toBe(204);
      expect(await issuedBy(trustId)).toEqual([]);
    },
  );
});
