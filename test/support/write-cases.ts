import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { TOMBSTONE_ORGANIZATION_ID } from "../../src/db/tombstone.ts";
import { newCanarySecret } from "./canary-secrets.ts";
import { Client, type Parsed } from "./client.ts";
import { AUDIENCE, ISSUER } from "./issuer.ts";
import type { Fixture } from "./operation-requests.ts";
import { newFreeze } from "./protection.ts";
import { CONNECTION, newInvitation, newTrust, type Person } from "./world.ts";

/** A request that has succeeded. */
export interface Done {
  fixture: Fixture;
  caller: Person;
  /** The body of the response. */
  reply: Parsed;
  /** What a GET of the same path has shown before. */
  shown: Parsed;
}

/** What an audit entry says of an act. */
export interface Act {
  action: string;
  target: { type: string; id: unknown; name?: unknown };
  changes?: object;
  /** Whose log has it. By default that of the organization. */
  org_id?: string;
}

type Acts = (done: Done) => Act[];

export interface WriteCase {
  /** The audit entries, or why there is none. */
  acts: Acts | string;
  /** In place of the example of the document. */
  body?(fixture: Fixture): object;
  query?: string;
  /** Prepares what the request is about. */
  prepare?(fixture: Fixture): Promise<unknown>;
  /** Every member may do it. */
  needsNoRole?: boolean;
  /** Repeating it without a key has an effect again. */
  repeats?: boolean;
}

const FAR = "2100-01-01T00:00:00.000Z";
const HOOK_NAME = "***.example.com";
const UNSHOWN = ["updated_at", "secret"];

/** Some fields of a resource. By default all that the audit log has. */
type Fields = readonly string[] | undefined;

function pick(shown: Parsed, fields: Fields = Object.keys(shown)): object {
  const entries = fields
    .filter((name) => !UNSHOWN.includes(name))
    .map((name) => [name, shown[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function differences(before: Parsed, after: Parsed, fields: Fields): object {
  const all = fields ?? Object.keys({ ...before, ...after });
  const names = all.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return { before: pick(before, names), after: pick(after, names) };
}

interface Options {
  fields?: Fields;
  /** Null: the audit entry has no name. */
  name?: unknown;
  type?: string;
}

/** The ID of what the response creates, or of what the path names last. */
function idOf({ reply, shown, fixture }: Done, path: string | undefined): unknown {
  return path
    ? fixture.ids[path]
    : (reply?.id ?? reply?.membership_id ?? shown?.id ?? shown?.membership_id);
}

function act(
  action: string,
  done: Done,
  changes: object | undefined,
  { name = (done.reply ?? done.shown)?.name, type = action.split(".")[0] ?? "" }: Options,
  path?: string,
): Act[] {
  const target = {
    type,
    id: idOf(done, path),
    ...(name !== null && name !== undefined && { name }),
  };
  return [{ action, target, ...(changes && { changes }) }];
}

const created =
  (action: string, options: Options = {}): Acts =>
  (done) =>
    act(action, done, { after: pick(done.reply, options.fields) }, options);

const changed =
  (action: string, options: Options = {}): Acts =>
  (done) =>
    act(action, done, differences(done.shown, done.reply, options.fields), options);

/** At least these fields: the log has `updated_at` of what was changed, and no empty configuration. */
const deleted =
  (action: string, options: Options = {}): Acts =>
  (done) => {
    const { configuration: _, ...shown } = done.shown;
    const before = expect.objectContaining(pick(shown, options.fields));
    return act(action, done, { before }, options);
  };

/** @param path The parameter that names the target, if no response does. */
const acted =
  (
    action: string,
    changes?: (done: Done) => object,
    { path, ...options }: Options & { path?: string } = {},
  ): Acts =>
  (done) =>
    act(action, done, changes?.(done), options, path);

const all =
  (...each: Acts[]): Acts =>
  (done) =>
    each.flatMap((acts) => acts(done));

const hook = () => `https://hooks.example.com/in?token=${encodeURIComponent(newCanarySecret())}`;
const variable = (name: string) => ({ name, storage_method: "secret", value: newCanarySecret() });

const setRow =
  (sql: string, parameter: string) =>
  ({ ids }: Fixture) =>
    env.DB.prepare(sql).bind(ids[parameter]).run();

const replaceVariables =
  (scope: "environment" | "component", ...names: string[]) =>
  ({ world, ids }: Fixture) =>
    world.client.put(`/v1/${scope}s/${ids[`${scope}_id`]}/variables`, {
      mode: "replace",
      variables: names.map(variable),
    });

/** `A` and `GONE` exist before; the request omits `GONE`. */
const putsVariables = (scope: "environment" | "component"): WriteCase => ({
  prepare: replaceVariables(scope, "A", "GONE"),
  body: () => ({ mode: "replace", variables: [variable("A"), variable("NEW")] }),
  repeats: true,
  acts: ({ fixture: { ids } }) => {
    const listOf = (...names: string[]) => ({ names, count: names.length });
    const after = { created: listOf("NEW"), updated: listOf("A"), deleted: listOf("GONE") };
    const target = { type: scope, id: ids[`${scope}_id`], name: expect.any(String) };
    return [{ action: "variables.written", target, changes: { after } }];
  },
});

const revealsVariables = (scope: "environment" | "component"): WriteCase => ({
  prepare: replaceVariables(scope, "INNER"),
  acts: (done) =>
    acted("variables.revealed", () => ({ after: { variables: ["INNER"], count: 1 } }), {
      path: `${scope}_id`,
      type: scope,
      name: expect.any(String),
    })(done),
});

/** Creates a key, and with it another, a runner token and a trust. */
export async function createFamily({ world, ids }: Fixture): Promise<void> {
  const path = `/v1/orgs/${world.id}/api-keys`;
  const { body: parent } = await world.client.post(path, { name: "parent" });
  const { body: child } = await new Client(parent.key).post(path, { name: "child" });
  const tokens = `/v1/orgs/${world.id}/runner-pools/${ids["pool_id"]}/tokens`;
  const { body: token } = await new Client(child.key).post(tokens, { name: "of the child" });
  const membershipId = String(ids["membership_id"]);
  const trustId = await newTrust(world, { membershipId }, { createdByKeyId: child.id });
  const derived = { child_token_id: token.id, child_trust_id: trustId };
  Object.assign(ids, { key_id: parent.id, child_id: child.id, ...derived });
}

const IN_THE_CHANGELOG = "It gives and takes no access. The changelog has it.";
const IN_THE_DEPLOYMENT = "The deployment has it, and the changelog with its actor.";
const OF_AN_ATTEMPT = "It is the course of an attempt, which the deployment has.";
const AGAIN = "It sends events again to the same URL.";

const MEMBER_FIELDS = [
  ...["account_id", "membership_id", "project_id"],
  ...["role", "org_role", "created_at"],
];

const IN_A_PROJECT: Record<string, WriteCase> = {
  createProject: { acts: created("project.created"), needsNoRole: true, repeats: true },
  replaceProject: { acts: changed("project.updated") },
  updateProject: { acts: changed("project.updated") },
  deleteProject: { acts: deleted("project.deleted") },
  connectProject: {
    repeats: true,
    body: () => ({ ...CONNECTION, region: "eu-west-1" }),
    acts: acted("project.connected", () => ({
      before: { region: "eu-central-1" },
      after: { region: "eu-west-1" },
    })),
  },
  disconnectProject: {
    prepare: ({ world, project }) =>
      world.client.put(`/v1/projects/${project.id}/connection`, CONNECTION),
    acts: (done) =>
      acted("project.disconnected", () => ({ before: CONNECTION }), {
        path: "project_id",
        name: done.shown?.name ?? expect.any(String),
      })(done),
  },
  orderEnvironments: {
    acts: acted(
      "project.updated",
      ({ fixture: { project, environmentId } }) => {
        const ids = [environmentId, project.default_environment_id];
        return {
          before: { environment_ids: ids.toReversed() },
          after: { environment_ids: ids, environments: 2 },
        };
      },
      { path: "project_id" },
    ),
  },
  addProjectMembers: {
    acts: ({ reply: [member] }) => {
      const { membership_id: id, name } = member;
      const target = { type: "project_member", id, name };
      const after = { id, ...pick(member, MEMBER_FIELDS) };
      return [{ action: "project_member.added", target, changes: { after } }];
    },
  },
  replaceProjectMember: { acts: changed("project_member.role_changed", { fields: ["role"] }) },
  removeProjectMember: { acts: deleted("project_member.removed", { fields: MEMBER_FIELDS }) },
  createEnvironment: { acts: IN_THE_CHANGELOG },
  replaceEnvironment: { acts: IN_THE_CHANGELOG },
  updateEnvironment: { acts: IN_THE_CHANGELOG },
  deleteEnvironment: { acts: deleted("environment.deleted") },
  createComponent: { acts: IN_THE_CHANGELOG },
  replaceComponent: { acts: IN_THE_CHANGELOG },
  updateComponent: { acts: IN_THE_CHANGELOG },
  deleteComponent: { acts: deleted("component.deleted") },
  createStack: { acts: IN_THE_CHANGELOG },
  orderStacks: { acts: IN_THE_CHANGELOG },
  replaceStack: { acts: IN_THE_CHANGELOG },
  updateStack: { acts: IN_THE_CHANGELOG },
  deleteStack: { acts: deleted("stack.deleted") },
  reportAlarm: {
    acts: "It is a state that a monitor reports, often and without an end.",
    repeats: true,
  },
  replaceProtection: {
    acts: acted(
      "environment.protection_changed",
      () => ({
        before: {
          protection: {
            access: { deploy: { role: "owner" }, configure: { role: "contributor" } },
          },
        },
        after: {
          protection: {
            access: { deploy: { role: "contributor" }, configure: { role: "owner" } },
            approvals: {
              required: 1,
              approvers: { role: "owner" },
              prevent_self_approval: true,
              expires_after_seconds: 86_400,
            },
          },
        },
      }),
      { path: "environment_id", type: "environment", name: "other" },
    ),
  },
  createApproval: {
    repeats: true,
    acts: acted(
      "deployment.approved",
      ({ reply: { comment, digest } }) => ({ after: { comment, digest } }),
      { path: "deployment_id", type: "deployment", name: null },
    ),
  },
  overrideDeployment: {
    repeats: true,
    body: () => ({ reason: "The shop is down", conditions: ["approvals"] }),
    acts: acted(
      "deployment.overridden",
      () => ({ after: { conditions: ["approvals"], reason: "The shop is down" } }),
      { path: "deployment_id", type: "deployment", name: null },
    ),
  },
  createFreeze: {
    acts: created("freeze.created"),
    body: ({ world }) => newFreeze({ override: [world.membershipId] }),
    repeats: true,
  },
  createProjectFreeze: {
    acts: created("freeze.created"),
    body: ({ environmentId }) => newFreeze({ environment_ids: [environmentId] }),
    repeats: true,
  },
  deleteFreeze: {
    prepare: async ({ world, ids }) => {
      const path = `/v1/projects/${ids["project_id"]}/freezes`;
      const { body } = await world.client.post(path, newFreeze());
      ids["freeze_id"] = body.id;
    },
    acts: deleted("freeze.deleted"),
  },
  createDeployment: { acts: IN_THE_DEPLOYMENT },
  previewDeployment: { acts: "It changes nothing", repeats: true },
  cancelDeployment: { acts: IN_THE_DEPLOYMENT },
  redeployDeployment: { acts: IN_THE_DEPLOYMENT },
  promoteDeployment: { acts: IN_THE_DEPLOYMENT },
  createIntegration: {
    body: () => ({ type: "webhook", configuration: { changelog: true }, url: hook() }),
    acts: created("integration.created", { name: HOOK_NAME }),
  },
  updateIntegration: {
    body: () => ({ url: "https://other.example.org/in", configuration: {} }),
    repeats: true,
    acts: changed("integration.updated", { name: "***.example.org" }),
  },
  deleteIntegration: { acts: deleted("integration.deleted", { name: HOOK_NAME }) },
  confirmIntegration: {
    prepare: setRow(
      "update integrations set type = 'slack', shown_url = '', secret = null, confirm_by = 4e12 where id = ?",
      "integration_id",
    ),
    acts: acted(
      "integration.confirmed",
      () => ({
        before: { confirmed: false, confirm_by: "2096-10-02T07:06:40.000Z" },
        after: { confirmed: true },
      }),
      { name: "Slack" },
    ),
  },
  resumeIntegration: {
    prepare: setRow("update integrations set paused_until = 5 where id = ?", "integration_id"),
    acts: changed("integration.resumed", { name: HOOK_NAME }),
  },
  rotateIntegrationSecret: {
    acts: acted(
      "integration.secret_rotated",
      ({ reply: { previous_secret_until } }) => ({ before: {}, after: { previous_secret_until } }),
      { name: HOOK_NAME },
    ),
  },
  redeliver: { acts: AGAIN },
  createRecovery: { acts: AGAIN },
  pingIntegration: { acts: "It sends a message without data." },
  createComponentVariable: { acts: created("variable.created") },
  createEnvironmentVariable: { acts: created("variable.created") },
  replaceVariable: { repeats: true, acts: changed("variable.updated") },
  deleteVariable: { acts: deleted("variable.deleted") },
  putComponentVariables: putsVariables("component"),
  putEnvironmentVariables: putsVariables("environment"),
  revealVariable: {
    prepare: async ({ world, ids, environmentId }) => {
      const path = `/v1/environments/${environmentId}/variables`;
      ids["variable_id"] = (await world.client.post(path, variable("REVEALED"))).body.id;
    },
    acts: acted("variable.revealed", undefined, { path: "variable_id", name: "REVEALED" }),
  },
  revealComponentVariables: revealsVariables("component"),
  revealEnvironmentVariables: revealsVariables("environment"),
};

const OF_PEOPLE: Record<string, WriteCase> = {
  createOrganization: {
    needsNoRole: true,
    repeats: true,
    acts: ({ reply: { id, name, api_key: key } }) => {
      const { membership_id } = key;
      const after = { name: key.name, role: "owner", membership_id };
      return [
        { action: "organization.created", target: { type: "organization", id, name } },
        {
          action: "member.added",
          target: { type: "member", id: membership_id },
          changes: { after: { role: "owner" } },
        },
        {
          action: "api_key.created",
          target: { type: "api_key", id: key.id, name: key.name },
          changes: { after },
        },
      ];
    },
  },
  updateOrganization: { acts: changed("organization.renamed", { fields: ["name"] }) },
  deleteOrganization: {
    acts: (done) =>
      acted("organization.deleted")(done).map((each) => ({
        ...each,
        org_id: TOMBSTONE_ORGANIZATION_ID,
      })),
  },
  exportAuditLog: {
    repeats: true,
    acts: acted("audit_log.exported", undefined, {
      path: "org_id",
      type: "organization",
      name: null,
    }),
  },
  addMember: { acts: created("member.added", { fields: ["account_id", "role", "status"] }) },
  replaceMember: { acts: changed("member.role_changed", { fields: ["role"] }) },
  removeMember: { acts: deleted("member.removed", { fields: ["account_id", "role"] }) },
  updateAccount: {
    needsNoRole: true,
    acts: changed("account.updated", { fields: ["name", "display_name", "profile"] }),
  },
  deleteAccount: {
    needsNoRole: true,
    acts: ({ caller, shown }) => [
      {
        action: "member.removed",
        target: { type: "member", id: caller.membershipId },
        changes: { before: { account_id: shown.id, role: "member" } },
      },
      { action: "account.deleted", target: { type: "account", id: shown.id } },
    ],
  },
  createInvitation: { acts: created("invitation.created", { fields: ["role"], name: null }) },
  revokeInvitation: {
    prepare: async ({ world, ids }) => {
      ids["invitation_id"] = (await newInvitation(world, { name: "Grace" })).id;
    },
    acts: deleted("invitation.revoked", { fields: ["role"], name: null }),
  },
  createServiceAccount: { acts: created("service_account.created", { fields: ["role"] }) },
  updateServiceAccount: { acts: changed("service_account.updated", { fields: ["name", "role"] }) },
  deleteServiceAccount: { acts: acted("service_account.deleted") },
  createSignInLink: {
    needsNoRole: true,
    repeats: true,
    acts: ({ reply: { url } }) => {
      const [, id] = /lsl_(.{22})/.exec(url) ?? [];
      return [{ action: "sign_in_link.created", target: { type: "sign_in_link", id } }];
    },
  },
  revokeSession: { acts: acted("session.revoked", undefined, { path: "session_id", name: null }) },
  revokeMemberSession: {
    acts: acted("session.revoked", undefined, { path: "member_session_id", name: null }),
  },
  endCurrentSession: {
    needsNoRole: true,
    acts: (done) => [
      { action: "session.revoked", target: { type: "session", id: sessionOf(done) } },
    ],
  },
  switchOrganization: {
    acts: "It needs a session from OpenID Connect: test/features/open-id-connect/organizations.test.ts.",
  },
};

const sessionOf = ({ caller }: Done): unknown => "sessionId" in caller && caller.sessionId;

const KEY_FIELDS = [
  "membership_id",
  "role",
  "scopes",
  "project_ids",
  "environment_ids",
  "expires_at",
];
const TRUST_FIELDS = [
  ...["issuer", "audience", "conditions", "membership_id", "role", "scopes", "project_ids"],
  ...["environment_ids", "ttl_seconds"],
];

const OF_CREDENTIALS: Record<string, WriteCase> = {
  createApiKey: {
    body: ({ environmentId }) => ({
      name: "ci",
      role: "member",
      scopes: ["deployments:write"],
      environment_ids: [environmentId],
      expires_at: FAR,
    }),
    repeats: true,
    acts: created("api_key.created", { fields: KEY_FIELDS }),
  },
  updateApiKey: {
    body: () => ({ name: "renamed", scopes: ["keys:read"], expires_at: FAR }),
    acts: all(
      changed("api_key.renamed", { fields: ["name"] }),
      changed("api_key.narrowed", { fields: ["scopes", "expires_at"] }),
    ),
  },
  rotateApiKey: {
    body: () => ({ overlap_seconds: 60, expires_at: FAR }),
    acts: acted(
      "api_key.rotated",
      ({ reply: { id, expires_at } }) => ({
        after: { key_id: id, overlap_seconds: 60, expires_at },
      }),
      { path: "key_id" },
    ),
  },
  revokeApiKey: {
    prepare: createFamily,
    query: "?descendants=revoke",
    acts: all(
      acted("api_key.revoked", undefined, { path: "key_id", name: "parent" }),
      acted("api_key.revoked", undefined, { path: "child_id", name: "child" }),
      acted("trust.deleted", undefined, { path: "child_trust_id", name: "deploy workflow" }),
      acted("runner_token.revoked", undefined, { path: "child_token_id", name: "of the child" }),
    ),
  },
  putApiKeyPolicy: {
    acts: (done) =>
      acted(
        "organization.key_policy_changed",
        () => differences(done.shown, done.reply, undefined),
        { path: "org_id", name: null },
      )(done),
  },
  createTrust: {
    body: ({ ids, environmentId }) => ({
      name: "ci",
      issuer: ISSUER,
      audience: AUDIENCE,
      conditions: { environment: "production" },
      membership_id: ids["membership_id"],
      scopes: ["deployments:write"],
      environment_ids: [environmentId],
    }),
    repeats: true,
    acts: created("trust.created", { fields: TRUST_FIELDS }),
  },
  deleteTrust: { acts: acted("trust.deleted") },
  createRunnerPool: {
    acts: created("runner_pool.created", { fields: ["environment_ids", "max_run_seconds"] }),
  },
  updateRunnerPool: {
    body: () => ({ name: "renamed", max_run_seconds: 900 }),
    acts: changed("runner_pool.updated", { fields: ["name", "max_run_seconds"] }),
  },
  deleteRunnerPool: { acts: acted("runner_pool.deleted") },
  createRunnerToken: {
    body: () => ({ name: "eu-1", expires_at: FAR }),
    repeats: true,
    acts: created("runner_token.created", { fields: ["pool_id", "expires_at"] }),
  },
  rotateRunnerToken: {
    prepare: setRow(
      "update runner_tokens set expires_at = created_at + 3600000 where id = ?",
      "token_id",
    ),
    body: () => ({ overlap_seconds: 0 }),
    acts: acted(
      "runner_token.rotated",
      ({ reply: { id, expires_at } }) => ({ after: { id, overlap_seconds: 0, expires_at } }),
      { path: "token_id" },
    ),
  },
  revokeRunnerToken: { acts: deleted("runner_token.revoked", { fields: ["pool_id"] }) },
};

/** A runner sends them: `test/features/runner-api` has their requests. */
export const OF_RUNNERS: Record<string, WriteCase> = {
  claimDeployment: { acts: OF_AN_ATTEMPT },
  startAttempt: { acts: OF_AN_ATTEMPT },
  sendHeartbeat: { acts: OF_AN_ATTEMPT },
  reportStack: { acts: OF_AN_ATTEMPT },
  completeAttempt: { acts: OF_AN_ATTEMPT },
  releaseAttempt: { acts: OF_AN_ATTEMPT },
  appendToLog: { acts: OF_AN_ATTEMPT },
  deliverVariables: { acts: "The test of the runner API has its entry." },
};

/** One entry for each operation that writes. */
export const WRITE_CASES: Record<string, WriteCase> = {
  ...IN_A_PROJECT,
  ...OF_PEOPLE,
  ...OF_CREDENTIALS,
  ...OF_RUNNERS,
};
