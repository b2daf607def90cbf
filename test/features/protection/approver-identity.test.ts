import { describe, expect, it } from "vitest";
import { Client, type Reply } from "../../support/client.ts";
import { ExchangeHarness } from "../../support/exchange-harness.ts";
import { Browser, TestIdentityProvider } from "../../support/identity-provider.ts";
import { Instrumented } from "../../support/instruments.ts";
import { ISSUER, Issuer } from "../../support/issuer.ts";
import { approve, claimedBy, proveIdentity } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import {
  accept,
  addressOf,
  join,
  newDeployment,
  newKey,
  newServiceAccount,
  newTrust,
  type Person,
  signIn,
  type World,
} from "../../support/world.ts";

const RULES = { approvals: { required: 1, approvers: { role: "owner" } } };
const NO_PROVIDER = { OIDC_ISSUER: "", OIDC_CLIENT_ID: "", OIDC_CLIENT_SECRET: "" };
const SIGN_IN = /^Sign in with your identity provider to approve: /;
const OWN = /never of one's own deployment/;

const shop = useShop(RULES);

/** Settings of deployments of Longshore, and who says who a person is. */
const SETTINGS = [
  { settings: {}, verifier: "identity_provider" },
  { settings: { TRUST_ADMINS: "false" }, verifier: "identity_provider" },
  { settings: { TRUST_ADMINS: "false", ...NO_PROVIDER }, verifier: "identity_provider" },
  { settings: { TRUST_ADMINS: "true", ...NO_PROVIDER }, verifier: "admins" },
];

const canGive = async ({ client }: Pick<Person, "client">, id: string): Promise<boolean> => {
  const { body } = await client.get(`/v1/orgs/${shop.world.id}/approvals?deployment_id=${id}`);
  return body.data.length > 0;
};

/** The list of what waits for the person, and the request, say the same. */
async function decide(person: Pick<Person, "client">, id: string): Promise<Reply> {
  const isListed = await canGive(person, id);
  const reply = await approve(person.client, id);
  expect([isListed, reply.status]).toEqual([reply.status === 201, isListed ? 201 : 403]);
  return reply;
}

describe("whoever has made a trust", () => {
  async function deployWith(trust: Parameters<typeof newTrust>[2]): Promise<string> {
    const membershipId = await newServiceAccount(shop.world);
    await shop.world.client.post(`/v1/projects/${shop.project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    await newTrust(shop.world, { membershipId }, { issuer: ISSUER, ...trust });
    const harness = new ExchangeHarness(await Issuer.create());
    const { body } = await harness.exchangeIn(shop.world.id);
    return (await newDeployment(new Client(body.key), shop.environmentId)).id;
  }

  it("is a creator of what its jobs deploy, whatever it was made with", async () => {
    const ada = await join(shop.world, "admin");
    await proveIdentity(ada);
    const { membershipId, keyId } = ada;
    const program = await newServiceAccount(shop.world, "admin");
    const ofProgram = await newKey(shop.world, {
      ...{ membershipId: program, role: "admin" as const },
      ...{ createdByKeyId: keyId, createdByMembershipId: membershipId },
    });
    for (const trust of [
      { createdByKeyId: keyId, createdByMembershipId: membershipId },
      { createdByKeyId: ofProgram.keyId, createdByMembershipId: program },
    ]) {
      const id = await deployWith(trust);
      expect((await decide(ada, id)).body.message).toMatch(OWN);
      expect(await shop.codes(id)).toEqual(["approvals"]);
      expect((await decide(shop.world, id)).status).toBe(201);
      expect(await shop.codes(id)).toEqual(["runner"]);
      await shop.world.client.patch(`/v1/deployments/${id}/cancel`);
    }
  });
});

describe("a person whom a creator has added or invited", () => {
  const ADDED: Record<string, (by: World) => Promise<Person>> = {
    "with the link of an invitation": (by) => accept(by, { role: "admin" }),
    "with the link of an invitation from a session": async (by) =>
      accept(await signIn(by), { role: "admin" }),
    "as a member": (by) => join(by, "admin"),
    "by somebody whom the creator has invited": async (by) =>
      accept(await accept(by, { role: "admin" }), { role: "admin" }),
  };

  it.each(Object.keys(ADDED))("%s approves as the settings say", async (way) => {
    const person = await ADDED[way]?.(shop.world);
    if (!person) throw new Error("No such way");
    for (const isProven of [false, true]) {
      if (isProven) await proveIdentity(person);
      for (const { settings, verifier } of SETTINGS) {
        const { fetch } = new Instrumented({ settings });
        const approver = { client: person.client.via(fetch) };
        for (const [creator, isAdder] of [
          [shop.world, true] as const,
          [shop.mona, false] as const,
        ]) {
          const { id } = await newDeployment(creator.client, shop.environmentId);
          const counts = isProven || !isAdder || verifier === "admins";
          const { status, body } = await decide(approver, id);
          expect([settings, isProven, isAdder, status]).toEqual([
            settings,
            isProven,
            isAdder,
            counts ? 201 : 403,
          ]);
          if (!counts)
            expect([body.code, body.message]).toEqual([
              "forbidden",
              expect.stringMatching(SIGN_IN),
            ]);
          const { body: read } = await shop.world.client.via(fetch).get(`/v1/deployments/${id}`);
          expect(read.waiting_for[0].code).toBe(counts ? "runner" : "approvals");
        }
      }
    }
  });

  it("approves once it has signed in, and rejects nothing before", async () => {
    const person = await accept(shop.world, { role: "admin" });
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const path = `/v1/deployments/${id}/approvals`;
    const rejected = await person.client.post(path, { decision: "reject" });
    expect([rejected.status, rejected.body.message]).toEqual([403, expect.stringMatching(SIGN_IN)]);
    const provider = await TestIdentityProvider.create();
    const browser = new Browser(provider);
    await browser.signInTo(provider, await addressOf(person), shop.world.id);
    const client = Client.withSession(browser.session);
    expect((await decide({ client }, id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBe(id);
  });

  it("does not count at the start, once an identity provider is there", async () => {
    const person = await accept(shop.world, { role: "admin" });
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const before = new Instrumented({ settings: { TRUST_ADMINS: "true", ...NO_PROVIDER } });
    expect((await approve(person.client.via(before.fetch), id)).status).toBe(201);
    const attempt = await Attempt.claim(shop.pool.runner);
    const refused = await attempt.post("start");
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining(
        "0 of 1 approval by owners of the project and admins of the organization; 1 counts only after a sign-in",
      ),
    ]);
    expect(await shop.codes(id)).toEqual(["approvals"]);
    await proveIdentity(person);
    expect(await shop.codes(id)).toEqual(["runner"]);
  });

  it("is no second person beside the creator, where creators approve", async () => {
    const person = await accept(shop.world, { role: "admin" });
    const rule = { required: 2, approvers: { role: "owner" }, prevent_self_approval: false };
    await shop.protect({ approvals: rule });
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    expect((await decide(shop.world, id)).status).toBe(201);
    expect((await decide(person, id)).status).toBe(403);
    expect(await shop.codes(id)).toEqual(["approvals"]);
  });
});

describe("the rules of an environment", () => {
  it("show who says who an approver is, if they need approvals", async () => {
    const path = `/v1/environments/${shop.environmentId}/protection`;
    for (const { settings, verifier } of SETTINGS) {
      const client = shop.world.client.via(new Instrumented({ settings }).fetch);
      expect((await client.get(path)).body.approvers_verified_by).toBe(verifier);
      const { body } = await client.put(path, RULES);
      expect(body.approvers_verified_by).toBe(verifier);
    }
    expect((await shop.world.client.put(path, {})).body.approvers_verified_by).toBeUndefined();
  });
});
