import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { BACKUP_TABLES } from "../../scripts/backup/tables.ts";
import { listAuditLog, refuseRecords } from "../support/audit.ts";
import { CANARY_PREFIX, newCanarySecret } from "../support/canary-secrets.ts";
import { Client, newAddress, type Parsed, type Reply } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { Attempt } from "../support/runner.ts";
import { SlackHarness } from "../support/slack-harness.ts";
import {
  CONNECTION,
  connect,
  join,
  newDeployment,
  newInside,
  newIntegration,
  newKey,
  newPool,
  newProject,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "../support/world.ts";

/** A connected project with one record of each type, and people with and without a role in it. */
interface Fixture {
  world: World;
  project: Parsed;
  pool: Pool;
  member: Person;
  outsiders: Person[];
  /** By path parameter. */
  ids: Record<string, string>;
  headers: Record<string, string>;
}

const EXTERNAL_ID = `${CANARY_PREFIX}external-id`;
const hook = () => `https://hooks.example.com/in?token=${encodeURIComponent(newCanarySecret())}`;
const variable = (name: string) => ({ name, storage_method: "secret", value: newCanarySecret() });

async function newFixture(): Promise<Fixture> {
  const world = await newWorld();
  const project = await newProject(world.client, { description: "Before." });
  const member = await join(world);
  const outsiders = [await join(world), await join(world)];
  const path = `/v1/projects/${project.id}`;
  await world.client.post(`${path}/members`, { member_ids: [member.membershipId] });
  const { body: staging } = await world.client.post(`${path}/environments`, { name: "staging" });
  const pool = await newPool(world, [staging.id]);
  const inside = await newInside(world.client, staging.id);
  await connect(world.client, project.id);
  const integration = await newIntegration(world.client, project.id, [], hook());
  const ids = {
    ...inside,
    org_id: world.id,
    project_id: project.id,
    member_id: member.membershipId,
    integration_id: integration.id,
  };
  return { world, project, pool, member, outsiders, ids, headers: {} };
}

type Expected = { action: string; target: object; changes?: object };

interface Case {
  body?(fixture: Fixture): object;
  /** Prepares the records for the operation. */
  prepare?(fixture: Fixture): Promise<unknown>;
  /** The records, from the response. */
  records(fixture: Fixture, reply: Parsed): Expected[];
  isOfRunner?: boolean;
  /** Outside of every project. */
  isOfOrganization?: boolean;
  /** Every member may do it. */
  needsNoRole?: boolean;
  /** Repeating it has an effect, and a record, again. */
  repeats?: boolean;
}

const any = expect.any(Object);
const one = (action: string, type: string, id: string, name?: string, changes?: object) => [
  { action, target: { type, id, ...(name && { name }) }, ...(changes && { changes }) },
];
const HOOK_NAME = "***.example.com";
const STARTED = "staging";

const createsVariable: Case = {
  body: () => variable("TOKEN"),
  records: (_, { id, updated_at: __, ...rest }) =>
    one("variable.created", "variable", id, "TOKEN", { after: { id, ...rest } }),
};

/** `A` and `GONE` exist before; the request omits `GONE`. */
const writesVariables = (scope: "environments" | "components"): Case => ({
  prepare: async ({ world, ids }) => {
    const id = ids[scope === "environments" ? "environment_id" : "component_id"];
    const path = `/v1/${scope}/${id}/variables`;
    await world.client.post(path, variable("GONE"));
    await world.client.put(path, { mode: "merge", variables: [variable("A")] });
  },
  body: () => ({ mode: "replace", variables: [variable("A"), variable("NEW")] }),
  records: (_, { data }) => {
    const named = (name: string) => data.find((each: Parsed) => each.name === name);
    const [a, added] = [named("A"), named("NEW")];
    return [
      ...one("variable.deleted", "variable", expect.any(String) as never, "GONE", { before: any }),
      ...one("variable.updated", "variable", a.id, "A", {
        before: expect.objectContaining({ version: a.version - 1 }),
        after: expect.objectContaining({ version: a.version }),
      }),
      ...one("variable.created", "variable", added.id, "NEW", { after: any }),
    ];
  },
  repeats: true,
});

const deletes = (type: string, name?: string): Case => ({
  records: ({ ids }) =>
    one(`${type}.deleted`, type, String(ids[`${type}_id`]), name ?? (expect.any(String) as never), {
      before: any,
    }),
});

async function startAttempt(fixture: Fixture): Promise<void> {
  const { world, pool, ids } = fixture;
  await newDeployment(world.client, String(ids["environment_id"]));
  const { claimed } = await Attempt.started(pool.runner);
  ids["attempt_id"] = claimed.attempt_id;
  fixture.headers = { "lease-token": claimed.lease_token };
}

/** The operations that leave records, and which. */
const RECORDED: Record<string, Case> = {
  createOrganization: {
    body: () => ({ name: "Another" }),
    isOfOrganization: true,
    needsNoRole: true,
    repeats: true,
    records: (_, { id, name, api_key }) => [
      ...one("organization.created", "organization", id, name),
      ...one("member.added", "member", api_key.membership_id, undefined, {
        after: { role: "owner" },
      }),
      ...one("api_key.created", "api_key", api_key.id, api_key.name, {
        after: { name: api_key.name, role: "owner", membership_id: api_key.membership_id },
      }),
    ],
  },
  createProject: {
    body: () => ({ name: "another" }),
    needsNoRole: true,
    repeats: true,
    records: (_, { id, updated_at: __, ...rest }) =>
      one("project.created", "project", id, "another", { after: { id, ...rest } }),
  },
  replaceProject: {
    body: ({ project: { default_environment_id } }) => ({ name: "new", default_environment_id }),
    records: ({ project: { id } }) =>
      one("project.updated", "project", id, "new", {
        before: { name: "storefront", description: "Before." },
        after: { name: "new" },
      }),
  },
  deleteProject: {
    records: ({ project: { id } }) =>
      one("project.deleted", "project", id, "storefront", { before: any }),
  },
  connectProject: {
    body: () => ({ ...CONNECTION, region: "eu-west-1", external_id: EXTERNAL_ID }),
    records: ({ project: { id } }) =>
      one("project.connected", "project", id, "storefront", {
        before: { region: "eu-central-1" },
        after: { region: "eu-west-1" },
      }),
  },
  disconnectProject: {
    records: ({ project: { id } }) =>
      one("project.disconnected", "project", id, "storefront", { before: CONNECTION }),
  },
  addProjectMembers: {
    body: ({ outsiders }) => ({
      member_ids: outsiders.map(({ membershipId }) => membershipId),
      role: "contributor",
    }),
    records: (_, members) =>
      members.flatMap(({ membership_id: id, account_id, name, ...rest }: Parsed) => {
        const { project_id, created_at } = rest;
        const shown = { project_id, org_role: "member", role: "contributor", created_at };
        const after = { id, membership_id: id, account_id, ...shown };
        return one("project_member.added", "project_member", id, name, { after });
      }),
  },
  replaceProjectMember: {
    body: () => ({ role: "owner" }),
    records: ({ member }, { name }) =>
      one("project_member.role_changed", "project_member", member.membershipId, name, {
        before: { role: "viewer" },
        after: { role: "owner" },
      }),
  },
  removeProjectMember: {
    records: ({ member }) =>
      one("project_member.removed", "project_member", member.membershipId, "Molly Member", {
        before: expect.objectContaining({ role: "viewer" }),
      }),
  },
  deleteEnvironment: deletes("environment", STARTED),
  deleteComponent: deletes("component"),
  deleteStack: deletes("stack"),
  createIntegration: {
    body: () => ({ type: "webhook", configuration: { changelog: true }, url: hook() }),
    repeats: true,
    records: (_, { id, secret: __, updated_at: ___, ...rest }) =>
      one("integration.created", "integration", id, HOOK_NAME, { after: { id, ...rest } }),
  },
  updateIntegration: {
    body: () => ({ url: "https://other.example.org/in", configuration: {} }),
    repeats: true,
    records: ({ ids }) =>
      one("integration.updated", "integration", String(ids["integration_id"]), "***.example.org", {
        before: { url: "https://***.example.com/***" },
        after: { url: "https://***.example.org/***" },
      }),
  },
  deleteIntegration: deletes("integration", HOOK_NAME),
  confirmIntegration: {
    prepare: ({ ids }) =>
      env.DB.prepare(
        "update integrations set type = 'slack', shown_url = '', secret = null where id = ?",
      )
        .bind(ids["integration_id"])
        .run(),
    records: ({ ids }) =>
      one("integration.confirmed", "integration", String(ids["integration_id"]), "Slack", {
        before: { confirmed: false },
        after: { confirmed: true },
      }),
  },
  rotateIntegrationSecret: {
    repeats: true,
    records: ({ ids }, { previous_secret_until }) =>
      one("integration.secret_rotated", "integration", String(ids["integration_id"]), HOOK_NAME, {
        before: {},
        after: { previous_secret_until },
      }),
  },
  createComponentVariable: createsVariable,
  createEnvironmentVariable: createsVariable,
  replaceVariable: {
    body: () => variable("RENAMED"),
    repeats: true,
    records: (_, { id }) =>
      one("variable.updated", "variable", id, "RENAMED", {
        before: { name: "A", storage_method: "string", version: 1 },
        after: { name: "RENAMED", storage_method: "secret", version: 2 },
      }),
  },
  deleteVariable: deletes("variable", "A"),
  putComponentVariables: writesVariables("components"),
  putEnvironmentVariables: writesVariables("environments"),
  revealVariable: {
    repeats: true,
    records: ({ ids }) => one("variable.revealed", "variable", String(ids["variable_id"]), "A"),
  },
  deliverVariables: {
    prepare: startAttempt,
    isOfRunner: true,
    repeats: true,
    records: ({ ids }) => one("variables.delivered", "attempt", String(ids["attempt_id"])),
  },
  exportAuditLog: {
    isOfOrganization: true,
    repeats: true,
    records: ({ world }) => one("audit_log.exported", "organization", world.id),
  },
};

/** The operations whose features record them in their own way, with the actions. */
const RECORDED_ELSEWHERE: Record<string, readonly string[]> = {
  addMember: ["member.added"],
  replaceMember: ["member.role_changed"],
  removeMember: ["member.removed"],
  createApiKey: ["api_key.created"],
  revokeApiKey: ["api_key.revoked"],
  createRunnerPool: ["runner_pool.created"],
  deleteRunnerPool: ["runner_pool.deleted"],
  createRunnerToken: ["runner_token.created"],
  revokeRunnerToken: ["runner_token.revoked"],
};

const IN_THE_CHANGELOG = "It gives and takes no access. The changelog has it.";
const IN_THE_DEPLOYMENT = "The deployment and the changelog have it, with its actor.";
const OF_AN_ATTEMPT = "It is the course of an attempt, which the deployment has.";

/** The operations that leave no record, each with the reason. */
const NOT_RECORDED: Record<string, string> = {
  createEnvironment: IN_THE_CHANGELOG,
  replaceEnvironment: IN_THE_CHANGELOG,
  createComponent: IN_THE_CHANGELOG,
  replaceComponent: IN_THE_CHANGELOG,
  createStack: IN_THE_CHANGELOG,
  replaceStack: IN_THE_CHANGELOG,
  createDeployment: IN_THE_DEPLOYMENT,
  cancelDeployment: IN_THE_DEPLOYMENT,
  redeployDeployment: IN_THE_DEPLOYMENT,
  promoteDeployment: IN_THE_DEPLOYMENT,
  reportAlarm: "It is a state that a monitor reports, often and without an end.",
  redeliver: "It sends an event again to the same URL.",
  pingIntegration: "It sends a message without data.",
  claimDeployment: OF_AN_ATTEMPT,
  startAttempt: OF_AN_ATTEMPT,
  sendHeartbeat: OF_AN_ATTEMPT,
  reportStack: OF_AN_ATTEMPT,
  completeAttempt: OF_AN_ATTEMPT,
  releaseAttempt: OF_AN_ATTEMPT,
};

const accepts = (name: string) => (each: Operation) =>
  each.security.some((scheme) => name in scheme);
const writes = operations.filter(
  (each) =>
    (each.method !== "GET" || each["x-writes"] === true) &&
    (accepts("api_key")(each) || accepts("runner_token")(each)),
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
  path.replaceAll(/\{(.+?)\}/g, (_, name: string) => String(ids[name]));

interface Sender {
  client: Client;
  actor: object;
  credentialId: string;
}

async function newSender(operation: Operation, { world, pool }: Fixture): Promise<Sender> {
  if (caseOf(operation).isOfRunner) {
    const actor = { type: "runner_token", credential_id: pool.tokenId, pool_id: pool.id };
    return { client: pool.runner, actor, credentialId: pool.tokenId };
  }
  const { client, keyId } = await newKey(world);
  const { membershipId, accountId } = world;
  const ids = { credential_id: keyId, membership_id: membershipId, account_id: accountId };
  return { client, actor: { type: "api_key", ...ids }, credentialId: keyId };
}

const ORIGIN = { "cf-connecting-ip": newAddress(), "user-agent": "audit-test/1" };

function send(operation: Operation, fixture: Fixture, client: Client): Promise<Reply> {
  const body = caseOf(operation).body?.(fixture);
  const headers = { ...ORIGIN, ...fixture.headers };
  return client.request(operation.method, fill(operation.path, fixture), body, headers);
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
  api_keys: "id, version",
  runner_tokens: "id, version",
};

/** All rows of an organization, and the organizations of its owner. */
async function dump({ world }: Fixture): Promise<string> {
  const tables = [...BACKUP_TABLES.values()]
    .filter(({ columns }) => columns.includes("organization_id"))
    .map(
      ({ name }) => `select ${STABLE_COLUMNS[name] ?? "*"} from ${name} where organization_id = ?1`,
    );
  const results = await env.DB.batch([
    env.DB.prepare("select organization_id from memberships where account_id = ?1").bind(
      world.accountId,
    ),
    ...tables.map((sql) => env.DB.prepare(sql).bind(world.id)),
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
  const before = await dump(fixture);
  if (!needsNoRole) {
    const stranger = await newWorld();
    const { outsiders } = fixture;
    const pool = isOfRunner ? await newPool(stranger, [await newEnvironment(stranger)]) : undefined;
    const others = pool ? [pool.runner] : [outsiders[0]?.client ?? client, stranger.client];
    const statuses = others.map(async (other) => (await send(operation, fixture, other)).status);
    for (const status of await Promise.all(statuses)) expect([403, 404]).toContain(status);
    expect(await dump(fixture)).toBe(before);
  }
  const allow = await refuseRecords(credentialId);
  expect((await send(operation, fixture, client)).status).toBe(500);
  await allow();
  expect(await dump(fixture)).toBe(before);
}

async function newEnvironment({ client }: World): Promise<string> {
  return (await newProject(client)).default_environment_id;
}

describe("the audit log", () => {
  it("has every operation that writes, or a reason why not", () => {
    const expected = [RECORDED, RECORDED_ELSEWHERE, NOT_RECORDED].flatMap(Object.keys);
    expect(writes.map(({ operationId }) => operationId).toSorted()).toEqual(expected.toSorted());
    expect(new Set(expected).size).toBe(expected.length);
  });

  it.each(recorded)(
    "records %s with actor, target and origin, in one transaction, and not if it is refused",
    async (_, operation) => {
      const fixture = await newFixture();
      const { prepare, records, isOfOrganization, repeats } = caseOf(operation);
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
        id: expect.any(String),
        created_at: expect.any(String),
        outcome: "success",
        actor,
        ...record,
        ...(!isOfOrganization && { project_id: projectId }),
        client_address: ORIGIN["cf-connecting-ip"],
        user_agent: ORIGIN["user-agent"],
        request_id: reply.headers.get("x-request-id"),
      }));
      expect(written).toHaveLength(expected.length);
      expect(written).toEqual(expect.arrayContaining(expected));

      if (repeats) return;
      await send(operation, fixture, client);
      expect((await listAuditLog(world)).length).toBe(earlier.length + written.length);
    },
  );

  // The tests above have filled it, with secrets in every place that takes one.
  it("has no secret and no e-mail address in any column", async () => {
    const { results } = await env.DB.prepare("select * from audit_log").all();
    const text = JSON.stringify(results);
    for (const action of ["integration.created", "variable.updated", "project.connected"]) {
      expect(text).toContain(action);
    }
    expect(text).not.toContain(CANARY_PREFIX);
    expect(text).not.toMatch(/lsk_|lsr_|whsec_|@/);
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
  ];

  it.each(refusals)("has no record: %s", async (_, refused, status) => {
    const fixture = await newFixture();
    const before = await listAuditLog(fixture.world);
    expect((await refused(fixture)).status).toBe(status);
    expect(await listAuditLog(fixture.world)).toEqual(before);
  });

  it("has no record: the second of two concurrent deletions", async () => {
    const { world, ids } = await newFixture();
    const paths = [
      `/v1/components/${ids["component_id"]}`,
      `/v1/variables/${ids["variable_id"]}`,
      `/v1/projects/${ids["project_id"]}/notification-integrations/${ids["integration_id"]}`,
      `/v1/projects/${ids["project_id"]}/members/${ids["member_id"]}`,
      `/v1/projects/${ids["project_id"]}`,
    ];
    for (const path of paths) await Promise.all([1, 2].map(() => world.client.delete(path)));
    const actions = (await listAuditLog(world))
      .map(({ action }) => action)
      .filter((action) => /\.(deleted|removed)$/.test(action));
    expect(actions).toEqual([
      "component.deleted",
      "variable.deleted",
      "integration.deleted",
      "project_member.removed",
      "project.deleted",
    ]);
  });
});

describe("what is done without an API key", () => {
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
        changes: { before: any },
      },
    ]);
  });
});
