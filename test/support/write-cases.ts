import { TOMBSTONE_ORGANIZATION_ID } from "../../src/db/tombstone.ts";
import { Client } from "./client.ts";
import { AUDIENCE, ISSUER } from "./issuer.ts";
import type { Fixture } from "./operation-requests.ts";
import { IN_A_PROJECT } from "./project-write-cases.ts";
import { newInvitation, newTrust } from "./world.ts";
import {
  acted,
  all,
  changed,
  created,
  type Done,
  deleted,
  differences,
  setRow,
  type WriteCase,
} from "./write-acts.ts";

const FAR = "2100-01-01T00:00:00.000Z";

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
const OF_AN_ATTEMPT = "It is the course of an attempt, which the deployment has.";

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
