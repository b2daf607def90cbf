import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { CANARY_PREFIX, newCanarySecret } from "./canary-secrets.ts";
import { Client, type Parsed } from "./client.ts";
import { Instrumented } from "./instruments.ts";
import { AUDIENCE, ISSUER, Issuer } from "./issuer.ts";
import { Attempt } from "./runner.ts";
import { copiesOf } from "./template.ts";
import {
  accept,
  CONNECTION,
  connect,
  join,
  newDeployment,
  newInside,
  newIntegration,
  newInvitation,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type Person,
  type Pool,
  signIn,
  type World,
} from "./world.ts";

/** A connected project with one record of each type, and people with and without a role in it. */
export interface Fixture {
  world: World;
  /** Who sends the request. By default the owner. */
  person: World;
  project: Parsed;
  pool: Pool;
  member: Person;
  outsiders: Person[];
  /** By path parameter. */
  ids: Record<string, string>;
  headers: Record<string, string>;
  /** Receives the request. By default the Worker of the other requests. */
  worker?: Instrumented;
}

const EXTERNAL_ID = `${CANARY_PREFIX}external-id`;
const hook = () => `https://hooks.example.com/in?token=${encodeURIComponent(newCanarySecret())}`;
export const variable = (name: string) => ({
  name,
  storage_method: "secret",
  value: newCanarySecret(),
});

export const newFixture = copiesOf(async (): Promise<Fixture> => {
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
    pool_id: pool.id,
    token_id: pool.tokenId,
    key_id: member.keyId,
  };
  return { world, person: world, project, pool, member, outsiders, ids, headers: {} };
});

type Expected = { action: string; target: object; changes?: object };

export interface Case {
  query?: string;
  body?(fixture: Fixture): object;
  /** Prepares the records for the operation. */
  prepare?(fixture: Fixture): Promise<unknown>;
  /** The records, from the response. */
  records(fixture: Fixture, reply: Parsed): Expected[];
  isOfRunner?: boolean;
  isOfSession?: boolean;
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

/** The operations on a project and its records, and what they record. */
const IN_A_PROJECT: Record<string, Case> = {
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
  updateProject: {
    body: () => ({ name: "new", description: null }),
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
  resumeIntegration: {
    prepare: ({ ids }) =>
      env.DB.prepare("update integrations set paused_until = 5 where id = ?")
        .bind(ids["integration_id"])
        .run(),
    repeats: true,
    records: ({ ids }) =>
      one("integration.resumed", "integration", String(ids["integration_id"]), HOOK_NAME, {
        before: { paused_until: "1970-01-01T00:00:00.005Z" },
        after: {},
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
  revealComponentVariables: {
    prepare: async ({ world, ids }) => {
      await world.client.post(`/v1/components/${ids["component_id"]}/variables`, variable("INNER"));
    },
    repeats: true,
    records: ({ ids }) =>
      one("variables.revealed", "component", String(ids["component_id"]), expect.any(String), {
        after: { variables: ["INNER"], count: 1 },
      }),
  },
  revealEnvironmentVariables: {
    repeats: true,
    records: ({ ids }) =>
      one("variables.revealed", "environment", String(ids["environment_id"]), STARTED, {
        after: { variables: ["A"], count: 1 },
      }),
  },
  deliverVariables: {
    prepare: startAttempt,
    isOfRunner: true,
    repeats: true,
    records: ({ ids }) => one("variables.delivered", "attempt", String(ids["attempt_id"])),
  },
};

/** Creates a key, and with it another. */
export async function createFamily({ world, ids }: Fixture): Promise<void> {
  const path = `/v1/orgs/${world.id}/api-keys`;
  const { body: parent } = await world.client.post(path, { name: "parent" });
  const { body: child } = await new Client(parent.key).post(path, { name: "child" });
  const tokens = `/v1/orgs/${world.id}/runner-pools/${ids["pool_id"]}/tokens`;
  const { body: token } = await new Client(child.key).post(tokens, { name: "of the child" });
  const membershipId = await newServiceAccount(world);
  const trustId = await newTrust(world, { membershipId }, { createdByKeyId: child.id });
  const derived = { child_token_id: token.id, child_trust_id: trustId };
  Object.assign(ids, { key_id: parent.id, child_id: child.id, ...derived });
}

async function createServiceAccount({ world, ids }: Fixture): Promise<void> {
  ids["membership_id"] = await newServiceAccount(world);
}

/** The operations on an organization, its people and its credentials, and what they record. */
export const IN_AN_ORGANIZATION: Record<string, Case> = {
  createOrganization: {
    body: () => ({ name: "Another" }),
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
  updateOrganization: {
    body: () => ({ name: "Acme Ünited" }),
    records: ({ world }) =>
      one("organization.renamed", "organization", world.id, "Acme Ünited", {
        before: { name: expect.any(String) },
        after: { name: "Acme Ünited" },
      }),
  },
  exportAuditLog: {
    repeats: true,
    records: ({ world }) => one("audit_log.exported", "organization", world.id),
  },
  addMember: {
    body: () => ({ email: "grace@example.com", name: "Grace", role: "admin" }),
    records: (_, { membership_id, account_id, role, status }) =>
      one("member.added", "member", membership_id, "Grace", {
        after: { account_id, role, status },
      }),
  },
  replaceMember: {
    body: () => ({ role: "admin" }),
    records: ({ member }, { name }) =>
      one("member.role_changed", "member", member.membershipId, name, {
        before: { role: "member" },
        after: { role: "admin" },
      }),
  },
  removeMember: {
    records: ({ member }) =>
      one("member.removed", "member", member.membershipId, "Molly Member", {
        before: { account_id: expect.any(String), role: "member" },
      }),
  },
  updateAccount: {
    body: () => ({ name: "Liv", display_name: "Olive Owner" }),
    needsNoRole: true,
    records: ({ world }) =>
      one("account.updated", "account", world.accountId, "Liv", {
        before: { name: "Olive Owner" },
        after: { name: "Liv" },
      }),
  },
  deleteAccount: {
    prepare: async (fixture) => {
      fixture.person = await accept(fixture.world, { role: "admin" });
    },
    needsNoRole: true,
    records: ({ person: { accountId, membershipId } }) => [
      ...one("member.removed", "member", membershipId, undefined, {
        before: { account_id: accountId, role: "admin" },
      }),
      ...one("account.deleted", "account", accountId),
    ],
  },
  createInvitation: {
    body: () => ({ email: "grace@example.com", name: "Grace", role: "admin" }),
    records: (_, { id }) =>
      one("invitation.created", "invitation", id, undefined, { after: { role: "admin" } }),
  },
  revokeInvitation: {
    prepare: async ({ world, ids }) => {
      ids["invitation_id"] = (await newInvitation(world, { name: "Grace" })).id;
    },
    records: ({ ids }) =>
      one("invitation.revoked", "invitation", String(ids["invitation_id"]), undefined, {
        before: { role: "member" },
      }),
  },
  createSignInLink: {
    needsNoRole: true,
    repeats: true,
    records: () => one("sign_in_link.created", "sign_in_link", expect.any(String) as never),
  },
  revokeSession: {
    prepare: async ({ person, ids }) => {
      ids["session_id"] = (await signIn(person)).sessionId;
    },
    records: ({ ids }) => one("session.revoked", "session", String(ids["session_id"])),
  },
  revokeMemberSession: {
    prepare: async ({ person, ids }) => {
      ids["member_id"] = person.membershipId;
      ids["member_session_id"] = (await signIn(person)).sessionId;
    },
    records: ({ ids }) => one("session.revoked", "session", String(ids["member_session_id"])),
  },
  endCurrentSession: {
    isOfSession: true,
    needsNoRole: true,
    records: () => one("session.revoked", "session", expect.any(String) as never),
  },
  createServiceAccount: {
    body: () => ({ name: "bot", role: "admin" }),
    repeats: true,
    records: (_, { membership_id }) =>
      one("service_account.created", "service_account", membership_id, "bot", {
        after: { role: "admin" },
      }),
  },
  updateServiceAccount: {
    prepare: createServiceAccount,
    body: () => ({ name: "renamed", role: "member" }),
    records: ({ ids }) =>
      one("service_account.updated", "service_account", String(ids["membership_id"]), "renamed", {
        before: { name: expect.stringContaining("bot-") },
        after: { name: "renamed" },
      }),
  },
  deleteServiceAccount: {
    prepare: createServiceAccount,
    records: ({ ids }) => [
      {
        action: "service_account.deleted",
        target: {
          type: "service_account",
          id: ids["membership_id"],
          name: expect.stringContaining("bot-"),
        },
      },
    ],
  },
  createApiKey: {
    body: ({ ids }) => ({
      name: "ci",
      role: "member",
      scopes: ["deployments:write"],
      environment_ids: [ids["environment_id"]],
      expires_at: "2100-01-01T00:00:00.000Z",
    }),
    repeats: true,
    records: ({ project }, { id, membership_id, ...rest }) => {
      const { role, scopes, environment_ids, expires_at } = rest;
      const narrowed = { scopes, project_ids: [project.id], environment_ids };
      const after = { membership_id, role, ...narrowed, expires_at };
      return one("api_key.created", "api_key", id, "ci", { after });
    },
  },
  updateApiKey: {
    body: () => ({
      name: "renamed",
      scopes: ["keys:read"],
      expires_at: "2100-01-01T00:00:00.000Z",
    }),
    records: ({ member }) => [
      ...one("api_key.renamed", "api_key", member.keyId, "renamed", {
        before: { name: "test" },
        after: { name: "renamed" },
      }),
      ...one("api_key.narrowed", "api_key", member.keyId, "renamed", {
        before: {},
        after: { scopes: ["keys:read"], expires_at: "2100-01-01T00:00:00.000Z" },
      }),
    ],
  },
  rotateApiKey: {
    body: () => ({ overlap_seconds: 0, expires_at: "2100-01-01T00:00:00.000Z" }),
    records: ({ member }, { id, expires_at }) =>
      one("api_key.rotated", "api_key", member.keyId, "test", {
        after: { key_id: id, overlap_seconds: 0, expires_at },
      }),
  },
  revokeApiKey: {
    prepare: createFamily,
    query: "?descendants=revoke",
    records: ({ ids }) => [
      ...one("api_key.revoked", "api_key", String(ids["key_id"]), "parent"),
      ...one("api_key.revoked", "api_key", String(ids["child_id"]), "child"),
      ...one("trust.deleted", "trust", String(ids["child_trust_id"]), expect.any(String)),
      ...one("runner_token.revoked", "runner_token", String(ids["child_token_id"]), "of the child"),
    ],
  },
  putApiKeyPolicy: {
    body: () => ({ max_age_seconds: 172_800 }),
    records: ({ world }) =>
      one("organization.key_policy_changed", "organization", world.id, undefined, {
        before: {},
        after: { max_age_seconds: 172_800 },
      }),
  },
  createTrust: {
    prepare: async (fixture) => {
      await createServiceAccount(fixture);
      fixture.worker = new Instrumented({ network: (await Issuer.create()).fetch });
    },
    body: ({ ids }) => ({
      name: "ci",
      issuer: ISSUER,
      audience: AUDIENCE,
      conditions: { environment: "production" },
      membership_id: ids["membership_id"],
      scopes: ["deployments:write"],
      environment_ids: [ids["environment_id"]],
    }),
    repeats: true,
    records: (_, { id, name, org_id: __, created_at: ___, created_by: ____, ...rest }) =>
      one("trust.created", "trust", id, name, { after: rest }),
  },
  deleteTrust: {
    prepare: async (fixture) => {
      await createServiceAccount(fixture);
      const { world, ids } = fixture;
      ids["trust_id"] = await newTrust(world, { membershipId: String(ids["membership_id"]) });
    },
    records: ({ ids }) => one("trust.deleted", "trust", String(ids["trust_id"]), "deploy workflow"),
  },
  createRunnerPool: {
    body: ({ ids }) => ({
      name: "eu",
      environment_ids: [ids["environment_id"]],
      max_run_seconds: 600,
    }),
    records: (_, { id, environment_ids, max_run_seconds }) =>
      one("runner_pool.created", "runner_pool", id, "eu", {
        after: { environment_ids, max_run_seconds },
      }),
  },
  updateRunnerPool: {
    body: () => ({ name: "renamed", max_run_seconds: 900 }),
    records: ({ pool }) =>
      one("runner_pool.updated", "runner_pool", pool.id, "renamed", {
        before: { name: expect.any(String), max_run_seconds: 21_600 },
        after: { name: "renamed", max_run_seconds: 900 },
      }),
  },
  deleteRunnerPool: {
    records: ({ pool }) =>
      one("runner_pool.deleted", "runner_pool", pool.id, expect.any(String) as never),
  },
  createRunnerToken: {
    body: () => ({ name: "eu-1", expires_at: "2100-01-01T00:00:00.000Z" }),
    repeats: true,
    records: ({ pool }, { id }) =>
      one("runner_token.created", "runner_token", id, "eu-1", {
        after: { pool_id: pool.id, expires_at: "2100-01-01T00:00:00.000Z" },
      }),
  },
  rotateRunnerToken: {
    prepare: ({ ids }) =>
      env.DB.prepare("update runner_tokens set expires_at = created_at + 3600000 where id = ?")
        .bind(ids["token_id"])
        .run(),
    body: () => ({ overlap_seconds: 0 }),
    records: ({ pool }, { id, expires_at }) =>
      one("runner_token.rotated", "runner_token", pool.tokenId, "test", {
        after: { id, overlap_seconds: 0, expires_at },
      }),
  },
  revokeRunnerToken: {
    records: ({ pool }) =>
      one("runner_token.revoked", "runner_token", pool.tokenId, "test", {
        before: { pool_id: pool.id },
      }),
  },
};

/** The operations that leave records, and which. */
export const RECORDED: Record<string, Case> = { ...IN_A_PROJECT, ...IN_AN_ORGANIZATION };
