import { describe, expect, it } from "vitest";
import { listAuditLog, refuseRecords } from "../support/audit.ts";
import { Client, newAddress, type Parsed, type Reply } from "../support/client.ts";
import { operations } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { AUDIENCE, GITHUB_CLAIMS, ISSUER, Issuer } from "../support/issuer.ts";
import { SlackHarness } from "../support/slack-harness.ts";
import {
  newInvitation,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../support/world.ts";
import { rowsOf } from "../support/written-rows.ts";

/** Without a key, a session or a runner token. */
const publicWrites = operations.filter(
  ({ method, security, "x-writes": writes }) =>
    (method !== "GET" || writes === true) &&
    !security.some((each) => "session" in each || "runner_token" in each),
);

const ORIGIN = { "cf-connecting-ip": newAddress(), "user-agent": "audit-test/1" };

/** What every entry of a request with `ORIGIN` has. */
const COMMON = {
  id: expect.any(String),
  created_at: expect.any(String),
  outcome: "success",
  client_address: ORIGIN["cf-connecting-ip"],
  user_agent: ORIGIN["user-agent"],
};

/** A request whose audit entry cannot be written fails, and changes nothing. */
async function expectNothingWithoutEntry(
  world: World,
  credentialId: string,
  request: () => Promise<Reply>,
): Promise<void> {
  const before = await rowsOf(world.id);
  const allow = await refuseRecords(credentialId);
  expect((await request()).status).toBe(500);
  await allow();
  expect(await rowsOf(world.id)).toEqual(before);
}

/** What was recorded at the time, without the names that are read beside it. */
function recordOf({ targets, source: _, ...record }: Parsed): Parsed {
  expect(targets[0]).toEqual(record.target);
  return record;
}

/** The audit entries of one request. */
async function entriesOf(world: World, { headers }: Reply): Promise<Parsed[]> {
  const id = headers.get("x-request-id");
  const records = await listAuditLog(world);
  return records.filter(({ request_id }) => request_id === id).map(recordOf);
}

/** In any order: the entries of a request have the same time. */
function expectSame(written: Parsed[], expected: object[]): void {
  expect(written).toHaveLength(expected.length);
  expect(written).toEqual(expect.arrayContaining(expected));
}

async function newFixture() {
  const world = await newWorld();
  const project = await newProject(world.client);
  const pool = await newPool(world, [project.default_environment_id]);
  return { world, project, pool };
}

const nobody = new Client(undefined);
const FORM = { "content-type": "application/x-www-form-urlencoded" };

const ACCEPTANCES: Record<string, (token: string) => Promise<Reply>> = {
  acceptInvitation: (token) => nobody.request("POST", "/v1/invitations/accept", { token }, ORIGIN),
  acceptInvitationOnPage: (token) =>
    nobody.request("POST", `/invitations/${token}`, "", { ...ORIGIN, ...FORM }),
};

interface SignIn {
  type: string;
  source: string;
  prepare(world: World): Promise<{ credentialId: string; request(): Promise<Reply> }>;
}

const SIGN_INS: Record<string, SignIn> = {
  createSession: {
    type: "api_key",
    source: "api_key",
    prepare: async ({ client: { key }, keyId }) => ({
      credentialId: keyId,
      request: () => nobody.request("POST", "/v1/sessions", { api_key: key }, ORIGIN),
    }),
  },
  useSignInLink: {
    type: "sign_in_link",
    source: "sign_in_link",
    prepare: async ({ client }) => {
      const { body } = await client.post("/v1/sign-in-links", undefined);
      const { pathname } = new URL(body.url);
      const [, id] = /lsl_(.{22})/.exec(pathname) ?? [];
      const headers = { ...ORIGIN, ...FORM, "sec-fetch-site": "same-origin" };
      return {
        credentialId: String(id),
        request: () => nobody.request("POST", pathname, "", headers),
      };
    },
  },
};

const isGrace = ({ name }: Parsed) => name === "Grace";

describe("what is done without an API key", () => {
  it("is all in the tests below, or in those of the bootstrap", () => {
    const tested = [...Object.keys(ACCEPTANCES), ...Object.keys(SIGN_INS)];
    const elsewhere = ["bootstrap", "exchangeToken", "finishSignIn"];
    // In test/features/open-id-connect/choices.test.ts.
    const choices = ["chooseSignInOrganization", "declineSignInOrganization"];
    const expected = [...tested, ...elsewhere, ...choices];
    const found = publicWrites.map(({ operationId }) => operationId);
    expect(found.toSorted()).toEqual([...expected, "finishSlackInstallation"].toSorted());
  });

  it.each(Object.entries(ACCEPTANCES))(
    "%s records the new member and the key, by the invitation, in one transaction",
    async (_, accept) => {
      const world = await newWorld();
      const policy = { max_age_seconds: 86_400 };
      await world.client.put(`/v1/orgs/${world.id}/api-key-policy`, policy);
      const { id, token } = await newInvitation(world, { name: "Grace", role: "admin" });
      await expectNothingWithoutEntry(world, id, () => accept(token));

      const replies = await Promise.all([accept(token), accept(token)]);
      const [done, refused] = replies.toSorted((a, b) => a.status - b.status);
      if (!done || !refused) throw new Error("There are two replies");
      expect([done.status < 300, refused.status]).toEqual([true, 404]);
      expect(await entriesOf(world, refused)).toEqual([]);

      const { body: members } = await world.client.get(`/v1/orgs/${world.id}/members`);
      const { membership_id, account_id } = members.data.find(isGrace);
      const { body: keys } = await world.client.get(`/v1/orgs/${world.id}/api-keys`);
      const key = keys.data.find((each: Parsed) => each.membership_id === membership_id);
      const acts = [
        { action: "invitation.accepted", target: { type: "invitation", id } },
        {
          action: "member.added",
          target: { type: "member", id: membership_id, name: "Grace" },
          changes: { after: { account_id, role: "admin", status: "active" } },
        },
        {
          action: "api_key.created",
          target: { type: "api_key", id: key.id, name: key.name },
          changes: { after: { membership_id, role: "admin", expires_at: key.expires_at } },
        },
      ];
      const actor = {
        type: "invitation",
        name: "Grace",
        credential_id: id,
        membership_id,
        account_id,
      };
      const request_id = done.headers.get("x-request-id");
      expectSame(
        await entriesOf(world, done),
        acts.map((act) => ({ ...COMMON, ...act, actor, request_id })),
      );
    },
  );

  it.each(Object.entries(SIGN_INS))(
    "%s records the new session, by what signs in, in one transaction",
    async (_, { prepare, type, source }) => {
      const world = await newWorld();
      const { credentialId, request } = await prepare(world);
      await expectNothingWithoutEntry(world, credentialId, request);
      const done = await request();
      expect(done.status).toBeLessThan(400);
      const { body: sessions } = await world.client.get("/v1/sessions");
      const [{ id }] = sessions.data;
      const { membershipId: membership_id, accountId: account_id, keyId: key_id } = world;
      const ids = { credential_id: credentialId, membership_id, account_id };
      const creator = type === "sign_in_link" && { created_by: { key_id, membership_id } };
      expectSame(await entriesOf(world, done), [
        {
          ...COMMON,
          action: "session.created",
          actor: expect.objectContaining({ type, ...ids, ...creator }),
          target: { type: "session", id },
          changes: { after: { source, key_id } },
          request_id: done.headers.get("x-request-id"),
        },
      ]);
    },
  );

  it.each(["membership", "pool"])(
    "the exchange of a token is recorded by the trust of a %s, in one transaction, and once",
    async (kind) => {
      const { world, pool } = await newFixture();
      const issuer = await Issuer.create();
      const client = new Client(undefined, new Instrumented({ network: issuer.fetch }).fetch);
      const membershipId = await newServiceAccount(world);
      const target = kind === "pool" ? { poolId: pool.id } : { membershipId };
      const { sub, environment } = GITHUB_CLAIMS;
      const email = "ci@example.com";
      const conditions = { environment, email };
      const fields = { issuer: ISSUER, audience: AUDIENCE, conditions };
      const trustId = await newTrust(world, target, fields);
      const { body: account } = await world.client.get(
        `/v1/orgs/${world.id}/members/${membershipId}`,
      );
      const ofMembership = { membership_id: membershipId, account_id: account.account_id };
      const body = { org_id: world.id, token: await issuer.sign({ email }) };
      const exchange = () => client.request("POST", "/v1/oidc/token", body, ORIGIN);
      await expectNothingWithoutEntry(world, trustId, exchange);

      const done = await exchange();
      const refused = await exchange();
      expect([done.status, refused.status]).toEqual([201, 401]);
      expect(await entriesOf(world, refused)).toEqual([]);
      const { id, type } = done.body;
      expect(await entriesOf(world, done)).toEqual([
        {
          ...COMMON,
          action: "trust.exchanged",
          actor: {
            type: "trust",
            name: kind === "membership" ? expect.stringMatching(/^bot-/) : "deploy workflow",
            credential_id: trustId,
            ...(kind === "membership" && ofMembership),
            created_by: { key_id: world.keyId, membership_id: world.membershipId },
          },
          target: { type, id, name: `deploy workflow: ${sub}` },
          changes: { after: { claims: { sub, environment } } },
          request_id: done.headers.get("x-request-id"),
        },
      ]);
    },
  );

  it("an e-mail address in a condition or in a subject is in no record", async () => {
    const { world } = await newFixture();
    const issuer = await Issuer.create();
    const { fetch } = new Instrumented({ network: issuer.fetch });
    const membership_id = await newServiceAccount(world);
    const address = "grace.hopper@ci.example.com";
    const conditions = {
      sub: `user:${address}`,
      email: ["x@y.dev", "*"],
      environment: "production",
    };
    const trust = { name: "ci", issuer: ISSUER, audience: AUDIENCE, conditions, membership_id };
    const created = await world.client.via(fetch).post(`/v1/orgs/${world.id}/trusts`, trust);
    expect(created.status).toBe(201);
    expect(created.body.conditions).toEqual(conditions);
    const token = await issuer.sign({ sub: `user:${address}`, email: address });
    const exchange = { org_id: world.id, token };
    const done = await new Client(undefined, fetch).post("/v1/oidc/token", exchange);
    expect(done.status).toBe(201);
    const records = await listAuditLog(world);
    expect(JSON.stringify(records)).not.toMatch(/hopper|y\.dev/);
    const acts = records.filter(({ action }) => String(action).startsWith("trust."));
    expect(acts).toMatchObject([
      { changes: { after: { conditions: { environment: "production" } } } },
      { target: { name: "ci" }, changes: { after: { claims: { environment: "production" } } } },
    ]);
    expect(Object.keys(acts[0]?.changes.after.conditions)).toEqual(["environment"]);
    expect(Object.keys(acts[1]?.changes.after.claims)).toEqual(["environment"]);
  });

  it("the callback of Slack records the integration, by the key that started it", async () => {
    const { world, project } = await newFixture();
    const slack = new SlackHarness();
    const { client, keyId } = await newKey(world);
    const state = await slack.newState(client, project.id);
    const before = await listAuditLog(world);
    const callback = () => slack.callback({ code: "c", state });
    const reply = await callback();
    const [, id] = /notification-integrations\/(\w{22})"/.exec(reply.text) ?? [];
    expect((await callback()).status).toBe(200);
    const written = (await listAuditLog(world)).slice(before.length);
    expect(written).toMatchObject([
      {
        action: "integration.created",
        actor: { type: "api_key", credential_id: keyId, membership_id: world.membershipId },
        target: { type: "integration", id, name: "Slack" },
        project_id: project.id,
        request_id: reply.headers.get("x-request-id"),
        client_address: expect.any(String),
      },
    ]);
  });

  it("the sweep records the deletion of an installation that lapsed, by the service", async () => {
    const { world, project } = await newFixture();
    const slack = new SlackHarness();
    const id = await slack.finish((await newKey(world)).client, project.id);
    slack.aheadMs = 25 * 3_600_000;
    await slack.sweep();
    const deleted = await listAuditLog(world, "&action=integration.deleted");
    expect(deleted.map(recordOf)).toEqual([
      {
        id: expect.any(String),
        created_at: expect.any(String),
        action: "integration.deleted",
        outcome: "success",
        actor: { type: "service" },
        target: { type: "integration", id, name: "Slack" },
        project_id: project.id,
        changes: { before: expect.any(Object) },
      },
    ]);
  });
});
