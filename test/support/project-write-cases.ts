import { expect } from "vitest";
import { newCanarySecret } from "./canary-secrets.ts";
import type { Fixture } from "./operation-requests.ts";
import { newFreeze } from "./protection.ts";
import { variable } from "./variables.ts";
import { CONNECTION } from "./world.ts";
import { acted, changed, created, deleted, pick, setRow, type WriteCase } from "./write-acts.ts";

const HOOK_NAME = "***.example.com";

const hook = () => `https://hooks.example.com/in?token=${encodeURIComponent(newCanarySecret())}`;

const replaceVariables =
  (scope: "environment" | "component", ...names: string[]) =>
  ({ world, ids }: Fixture) =>
    world.client.put(`/v1/${scope}s/${ids[`${scope}_id`]}/variables`, {
      mode: "replace",
      variables: names.map((name) => variable(name)),
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

const IN_THE_CHANGELOG = "It gives and takes no access. The changelog has it.";
const IN_THE_DEPLOYMENT = "The deployment has it, and the changelog with its actor.";
const AGAIN = "It sends events again to the same URL.";

const MEMBER_FIELDS = [
  ...["account_id", "membership_id", "project_id"],
  ...["role", "org_role", "created_at"],
];

export const IN_A_PROJECT: Record<string, WriteCase> = {
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
