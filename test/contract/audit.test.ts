import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { BACKUP_TABLES } from "../../scripts/backup/tables.ts";
import { listAuditLog, refuseRecords } from "../support/audit.ts";
import {
  type Case,
  createFamily,
  type Fixture,
  IN_AN_ORGANIZATION,
  newFixture,
  RECORDED,
  variable,
} from "../support/audit-cases.ts";
import { CANARY_PREFIX } from "../support/canary-secrets.ts";
import { Client, newAddress, type Parsed, type Reply } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { AUDIENCE, GITHUB_CLAIMS, ISSUER, Issuer } from "../support/issuer.ts";
import { Attempt } from "../support/runner.ts";
import { SlackHarness } from "../support/slack-harness.ts";
import {
  newDeployment,
  newInvitation,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  signIn,
  type World,
} from "../support/world.ts";

const IN_THE_CHANGELOG = "It gives and takes no access. The changelog has it.";
const IN_THE_DEPLOYMENT = "The deployment and the changelog have it, with its actor.";
const OF_AN_ATTEMPT = "It is the course of an attempt, which the deployment has.";

/** The operations that leave no record, each with the reason. */
const NOT_RECORDED: Record<string, string> = {
  deleteOrganization: "Its record is not in the log of the organization, which is deleted with it.",
  switchOrganization:
    "It needs a session from OpenID Connect: test/features/open-id-connect/organizations.test.ts.",
  createEnvironment: IN_THE_CHANGELOG,
  replaceEnvironment: IN_THE_CHANGELOG,
  updateEnvironment: IN_THE_CHANGELOG,
  createComponent: IN_THE_CHANGELOG,
  replaceComponent: IN_THE_CHANGELOG,
  updateComponent: IN_THE_CHANGELOG,
  createStack: IN_THE_CHANGELOG,
  replaceStack: IN_THE_CHANGELOG,
  updateStack: IN_THE_CHANGELOG,
  createDeployment: IN_THE_DEPLOYMENT,
  cancelDeployment: IN_THE_DEPLOYMENT,
  redeployDeployment: IN_THE_DEPLOYMENT,
  promoteDeployment: IN_THE_DEPLOYMENT,
  reportAlarm: "It is a state that a monitor reports, often and without an end.",
  redeliver: "It sends an event again to the same URL.",
  createRecovery: "It sends events again to the same URL.",
  pingIntegration: "It sends a message without data.",
  claimDeployment: OF_AN_ATTEMPT,
  startAttempt: OF_AN_ATTEMPT,
  sendHeartbeat: OF_AN_ATTEMPT,
  reportStack: OF_AN_ATTEMPT,
  completeAttempt: OF_AN_ATTEMPT,
  releaseAttempt: OF_AN_ATTEMPT,
  appendToLog: OF_AN_ATTEMPT,
};

const accepts = (name: string) => (each: Operation) =>
  each.security.some((scheme) => name in scheme);
const writes = operations.filter(
  (each) =>
    (each.method !== "GET" || each["x-writes"] === true) &&
    (accepts("session")(each) || accepts("runner_token")(each)),
);
const publicWrites = operations.filter(
  (each) => !writes.includes(each) && (each.method !== "GET" || each["x-writes"] === true),
);
const recorded = writes
  .filter(({ operationId }) => operationId in RECORDED)
  .map((each) => [each.operationId, each] as const);

function caseOf({ operationId }: Operation): Case {
  const found = RECORDED[operationId];
  if (!found) throw new Error(`No case records ${operationId}`);
  return found;
}

const fill = (path: string, { ids }: Fixture) =>
  path.replaceAll(/\{(.+?)\}/g, (_, name: string) => {
    const id = ids[name];
    if (!id) throw new Error(`Add an ID for {${name}}`);
    return id;
  });

interface Sender {
  client: Client;
  actor: object;
  credentialId: string;
}

async function newSender(operation: Operation, fixture: Fixture): Promise<Sender> {
  const { world, person, pool } = fixture;
  if (caseOf(operation).isOfRunner) {
    const { id, tokenId, runner } = pool;
    const { body } = await world.client.get(`/v1/orgs/${world.id}/runner-pools/${id}/tokens`);
    const [{ created_by }] = body.data;
    const actor = { type: "runner_token", credential_id: tokenId, pool_id: id, created_by };
    return { client: runner, actor, credentialId: tokenId };
  }
  const { membershipId: membership_id, accountId: account_id } = person;
  if (caseOf(operation).isOfSession) {
    const { client, sessionId } = await signIn(person);
    const created_by = { key_id: person.keyId, membership_id };
    const ids = { credential_id: sessionId, membership_id, account_id, created_by };
    return { client, actor: { type: "session", ...ids }, credentialId: sessionId };
  }
  const { body } = await person.client.post(`/v1/orgs/${world.id}/api-keys`, { name: "sender" });
  const created_by = { key_id: person.keyId, membership_id };
  const actor = { type: "api_key", credential_id: body.id, membership_id, account_id, created_by };
  return { client: new Client(body.key), actor, credentialId: body.id };
}

const ORIGIN = { "cf-connecting-ip": newAddress(), "user-agent": "audit-test/1" };

/** What every record of a request with `ORIGIN` has. */
const COMMON = {
  id: expect.any(String),
  created_at: expect.any(String),
  outcome: "success",
  client_address: ORIGIN["cf-connecting-ip"],
  user_agent: ORIGIN["user-agent"],
};

function send(operation: Operation, fixture: Fixture, client: Client): Promise<Reply> {
  const { body, query = "" } = caseOf(operation);
  const { worker, headers } = fixture;
  const path = fill(operation.path, fixture) + query;
  const caller = worker ? client.via(worker.fetch) : client;
  return caller.request(operation.method, path, body?.(fixture), { ...ORIGIN, ...headers });
}

/** The log that the operation writes to: that of the new organization, if it creates one. */
function worldOf({ operationId }: Operation, { world }: Fixture, { body }: Reply): World {
  if (operationId !== "createOrganization") return world;
  const { id, api_key } = body;
  return { ...world, id, membershipId: api_key.membership_id, client: new Client(api_key.key) };
}

/** The columns of tables that others write in the background. */
const STABLE_COLUMNS: Record<string, string> = {
  deliveries: "id",
  api_keys: "id, version, name, expires_at",
  runner_tokens: "id, version, expires_at",
  sessions: "id, expires_at",
};

const ORGANIZATION = "select * from organizations where id = ?1";
const ACCOUNTS = `select * from accounts
  where id in (select account_id from memberships where organization_id = ?1)`;

/** All rows of an organization and its accounts, and the organizations of its owner. */
async function dump(world: World): Promise<string> {
  const tables = [...BACKUP_TABLES.values()]
    .filter(({ columns }) => columns.includes("organization_id"))
    .map(
      ({ name }) => `select ${STABLE_COLUMNS[name] ?? "*"} from ${name} where organization_id = ?1`,
    );
  const results = await env.DB.batch([
    env.DB.prepare("select organization_id from memberships where account_id = ?1").bind(
      world.accountId,
    ),
    ...[ORGANIZATION, ACCOUNTS, ...tables].map((sql) => env.DB.prepare(sql).bind(world.id)),
  ]);
  return JSON.stringify(results.map((each) => each.results));
}

/** People without the role, other organizations, and a log that cannot be written, change nothing. */
async function expectNothingIfRefused(
  operation: Operation,
  fixture: Fixture,
  { client, credentialId }: Pick<Sender, "client" | "credentialId">,
): Promise<void> {
  const { isOfRunner, needsNoRole } = caseOf(operation);
  if (!needsNoRole) {
    const before = await dump(fixture.world);
    const stranger = await newWorld();
    const { outsiders } = fixture;
    const pool = isOfRunner ? await newPool(stranger, [await newEnvironment(stranger)]) : undefined;
    const others = pool ? [pool.runner] : [outsiders[0]?.client ?? client, stranger.client];
    const statuses = others.map(async (other) => (await send(operation, fixture, other)).status);
    for (const status of await Promise.all(statuses)) expect([403, 404]).toContain(status);
    expect(await dump(fixture.world)).toBe(before);
  }
  await expectNothingWithoutRecord(fixture.world, credentialId, () =>
    send(operation, fixture, client),
  );
}

/** A request whose record cannot be written fails, and changes nothing. */
async function expectNothingWithoutRecord(
  world: World,
  credentialId: string,
  request: () => Promise<Reply>,
): Promise<void> {
  const before = await dump(world);
  const allow = await refuseRecords(credentialId);
  expect((await request()).status).toBe(500);
  await allow();
  expect(await dump(world)).toBe(before);
}

/** The records of one request. */
async function recordsOf(world: World, { headers }: Reply): Promise<Parsed[]> {
  const id = headers.get("x-request-id");
  return (await listAuditLog(world)).filter(({ request_id }) => request_id === id);
}

/** In any order: the records of a request have the same time. */
function expectSame(written: Parsed[], expected: object[]): void {
  expect(written).toHaveLength(expected.length);
  expect(written).toEqual(expect.arrayContaining(expected));
}

async function newEnvironment({ client }: World): Promise<string> {
  return (await newProject(client)).default_environment_id;
}

describe("the audit log", () => {
  it("has every operation that writes, or a reason why not", () => {
    const expected = [RECORDED, NOT_RECORDED].flatMap(Object.keys);
    expect(writes.map(({ operationId }) => operationId).toSorted()).toEqual(expected.toSorted());
    expect(new Set(expected).size).toBe(expected.length);
  });

  it.each(recorded)(
    "records %s with actor, target and origin, in one transaction, and not if it is refused",
    async (_, operation) => {
      const fixture = await newFixture();
      const { prepare, records, repeats } = caseOf(operation);
      await prepare?.(fixture);
      const { client, actor, credentialId } = await newSender(operation, fixture);
      await expectNothingIfRefused(operation, fixture, { client, credentialId });

      const earlier = await listAuditLog(fixture.world);
      const reply = await send(operation, fixture, client);
      expect(reply.status).toBeLessThan(300);
      const world = worldOf(operation, fixture, reply);
      const known = new Set(earlier.map(({ id }) => id));
      const written = (await listAuditLog(world)).filter(({ id }) => !known.has(id));
      const isNewProject = operation.operationId === "createProject";
      const projectId = isNewProject ? reply.body.id : fixture.project.id;
      const expected = records(fixture, reply.body).map((record) => ({
        ...COMMON,
        actor,
        ...record,
        ...(!(operation.operationId in IN_AN_ORGANIZATION) && { project_id: projectId }),
        request_id: reply.headers.get("x-request-id"),
      }));
      expectSame(written, expected);

      if (repeats) return;
      await send(operation, fixture, client);
      expect((await listAuditLog(world)).length).toBe(earlier.length + written.length);
    },
  );

  // The tests above have filled it, with secrets in every place that takes one.
  it("has no secret and no e-mail address in any column", async () => {
    const { results } = await env.DB.prepare("select * from audit_log").all();
    const text = JSON.stringify(results);
    for (const action of ["integration.created", "variable.updated", "invitation.created"]) {
      expect(text).toContain(action);
    }
    expect(text).not.toContain(CANARY_PREFIX);
    // The last two are a token of a CI job and an e-mail address.
    expect(text).not.toMatch(/ls[a-z]_|whsec_|eyJ[\w-]+\.|@/);
  });
});

describe("a write that is refused", () => {
  const refusals: [string, (fixture: Fixture) => Promise<Reply>, number][] = [
    [
      "the last owner's removal from a project",
      ({ world, ids }) =>
        world.client.delete(`/v1/projects/${ids["project_id"]}/members/${world.membershipId}`),
      409,
    ],
    [
      "the last owner's demotion in a project",
      ({ world, ids }) =>
        world.client.put(`/v1/projects/${ids["project_id"]}/members/${world.membershipId}`, {
          role: "viewer",
        }),
      409,
    ],
    [
      "members of whom one is already in the project",
      ({ world, member, outsiders, ids }) =>
        world.client.post(`/v1/projects/${ids["project_id"]}/members`, {
          member_ids: [...outsiders, member].map(({ membershipId }) => membershipId),
        }),
      409,
    ],
    [
      "the default environment's deletion",
      ({ world, project }) =>
        world.client.delete(`/v1/environments/${project.default_environment_id}`),
      409,
    ],
    [
      "the deletion of a project with an unfinished deployment",
      async ({ world, ids }) => {
        await newDeployment(world.client, String(ids["environment_id"]));
        return world.client.delete(`/v1/projects/${ids["project_id"]}`);
      },
      409,
    ],
    [
      "the deletion of a stack with an unfinished deployment",
      async ({ world, ids }) => {
        await newDeployment(world.client, String(ids["environment_id"]));
        return world.client.delete(`/v1/stacks/${ids["stack_id"]}`);
      },
      409,
    ],
    [
      "a default environment of another project",
      async ({ world, ids }) => {
        const { default_environment_id } = await newProject((await newWorld()).client);
        return world.client.put(`/v1/projects/${ids["project_id"]}`, { default_environment_id });
      },
      404,
    ],
    [
      "a variable's name that is taken",
      ({ world, ids }) =>
        world.client.post(`/v1/environments/${ids["environment_id"]}/variables`, variable("A")),
      409,
    ],
    [
      "an integration with a URL that is not allowed",
      ({ world, ids }) =>
        world.client.post(`/v1/projects/${ids["project_id"]}/notification-integrations`, {
          type: "webhook",
          configuration: {},
          url: "https://localhost/",
        }),
      400,
    ],
    [
      "the last owner's removal from the organization",
      ({ world }) => world.client.delete(`/v1/orgs/${world.id}/members/${world.membershipId}`),
      409,
    ],
    [
      "the last owner's demotion in the organization",
      ({ world }) =>
        world.client.put(`/v1/orgs/${world.id}/members/${world.membershipId}`, { role: "member" }),
      409,
    ],
    ["the last owner's account", ({ world }) => world.client.delete("/v1/account"), 409],
    [
      "a member whose e-mail address is already there",
      async ({ world }) => {
        const body = { email: "grace@example.com", name: "Grace", role: "member" };
        await world.client.post(`/v1/orgs/${world.id}/members`, body);
        return world.client.post(`/v1/orgs/${world.id}/members`, body);
      },
      409,
    ],
    [
      "an invitation to an address that has one",
      async ({ world }) => {
        const { email } = await newInvitation(world);
        return world.client.post(`/v1/orgs/${world.id}/invitations`, { email, role: "member" });
      },
      409,
    ],
    [
      "the revocation of a key whose descendants it does not mention",
      async (fixture) => {
        await createFamily(fixture);
        const { world, ids } = fixture;
        return world.client.delete(`/v1/orgs/${world.id}/api-keys/${ids["key_id"]}`);
      },
      409,
    ],
    [
      "the rotation of a key whose descendants would outlive it",
      async (fixture) => {
        await createFamily(fixture);
        const { world, ids } = fixture;
        const path = `/v1/orgs/${world.id}/api-keys/${ids["key_id"]}/rotate`;
        return world.client.post(path, { expires_at: "2100-01-01T00:00:00.000Z" });
      },
      409,
    ],
    [
      "the deletion of a runner pool that carries out a deployment",
      async ({ world, pool, ids }) => {
        await newDeployment(world.client, String(ids["environment_id"]));
        await Attempt.started(pool.runner);
        return world.client.delete(`/v1/orgs/${world.id}/runner-pools/${pool.id}`);
      },
      409,
    ],
    [
      "the deletion of a service account that is the only owner of a project",
      async ({ world, ids }) => {
        const id = await newServiceAccount(world);
        const members = `/v1/projects/${ids["project_id"]}/members`;
        await world.client.post(members, { member_ids: [id], role: "owner" });
        await world.client.delete(`${members}/${world.membershipId}`);
        return world.client.delete(`/v1/orgs/${world.id}/service-accounts/${id}`);
      },
      409,
    ],
  ];

  it.each(refusals)("has no record: %s", async (_, refused, status) => {
    const fixture = await newFixture();
    const reply = await refused(fixture);
    expect(reply.status).toBe(status);
    expect(await recordsOf(fixture.world, reply)).toEqual([]);
  });

  it("has no record: the second of two concurrent deletions", async () => {
    const { world, ids, pool } = await newFixture();
    const organization = `/v1/orgs/${world.id}`;
    const accountId = await newServiceAccount(world);
    const paths = [
      `${organization}/invitations/${(await newInvitation(world)).id}`,
      `${organization}/trusts/${await newTrust(world, { membershipId: accountId })}`,
      `${organization}/service-accounts/${accountId}`,
      `${organization}/api-keys/${ids["key_id"]}`,
      `${organization}/runner-pools/${pool.id}/tokens/${pool.tokenId}`,
      `${organization}/runner-pools/${pool.id}`,
      `/v1/components/${ids["component_id"]}`,
      `/v1/variables/${ids["variable_id"]}`,
      `/v1/projects/${ids["project_id"]}/notification-integrations/${ids["integration_id"]}`,
      `/v1/projects/${ids["project_id"]}/members/${ids["member_id"]}`,
      `${organization}/members/${ids["member_id"]}`,
      `/v1/projects/${ids["project_id"]}`,
    ];
    for (const path of paths) await Promise.all([1, 2].map(() => world.client.delete(path)));
    const actions = (await listAuditLog(world))
      .map(({ action }) => action)
      .filter((action) => /\.(deleted|removed|revoked)$/.test(action));
    expect(actions).toEqual([
      "invitation.revoked",
      "trust.deleted",
      "service_account.deleted",
      "api_key.revoked",
      "runner_token.revoked",
      "runner_pool.deleted",
      "component.deleted",
      "variable.deleted",
      "integration.deleted",
      "project_member.removed",
      "member.removed",
      "project.deleted",
    ]);
  });
});

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
      await expectNothingWithoutRecord(world, id, () => accept(token));

      const replies = await Promise.all([accept(token), accept(token)]);
      const [done, refused] = replies.toSorted((a, b) => a.status - b.status);
      if (!done || !refused) throw new Error("There are two replies");
      expect([done.status < 300, refused.status]).toEqual([true, 404]);
      expect(await recordsOf(world, refused)).toEqual([]);

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
      const actor = { type: "invitation", credential_id: id, membership_id, account_id };
      const request_id = done.headers.get("x-request-id");
      expectSame(
        await recordsOf(world, done),
        acts.map((act) => ({ ...COMMON, ...act, actor, request_id })),
      );
    },
  );

  it.each(Object.entries(SIGN_INS))(
    "%s records the new session, by what signs in, in one transaction",
    async (_, { prepare, type, source }) => {
      const world = await newWorld();
      const { credentialId, request } = await prepare(world);
      await expectNothingWithoutRecord(world, credentialId, request);
      const done = await request();
      expect(done.status).toBeLessThan(400);
      const { body: sessions } = await world.client.get("/v1/sessions");
      const [{ id }] = sessions.data;
      const { membershipId: membership_id, accountId: account_id, keyId: key_id } = world;
      const ids = { credential_id: credentialId, membership_id, account_id };
      const creator = type === "sign_in_link" && { created_by: { key_id, membership_id } };
      expectSame(await recordsOf(world, done), [
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
      await expectNothingWithoutRecord(world, trustId, exchange);

      const done = await exchange();
      const refused = await exchange();
      expect([done.status, refused.status]).toEqual([201, 401]);
      expect(await recordsOf(world, refused)).toEqual([]);
      const { id, type } = done.body;
      expect(await recordsOf(world, done)).toEqual([
        {
          ...COMMON,
          action: "trust.exchanged",
          actor: {
            type: "trust",
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
    expect(deleted).toEqual([
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
