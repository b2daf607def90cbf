import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { newCanarySecret } from "../../support/canary-secrets.ts";
import type { Parsed } from "../../support/client.ts";
import { exampleBody, type Operation } from "../../support/contract.ts";
import { readOf } from "../../support/created.ts";
import { CONNECTION, newStack } from "../../support/world.ts";
import { type ChangelogFixture, HOOK } from "./changelog-fixture.ts";
import { pretendSuccess } from "./changelog-harness.ts";
export interface Case {
  body?(fixture: ChangelogFixture): object;
  /** Prepares the project for the operation. */
  prepare?(fixture: ChangelogFixture): Promise<unknown>;
  /** The path of the record to read before the operation. */
  read?: string;
  /** The expected entries, from the record before and the reply. */
  entries(fixture: ChangelogFixture, before: Parsed, answer: Parsed): object[];
}

const shown = ({ updated_at: _, ...fields }: Parsed) => fields;
const created = (type: string) => (_: ChangelogFixture, __: Parsed, answer: Parsed) => [
  { action: "created", record: recordOf(type, answer), after: shown(answer) },
];
const deleted = (type: string) => (_: ChangelogFixture, before: Parsed) => [
  { action: "deleted", record: recordOf(type, before), before: shown(before) },
];
const recordOf = (type: string, { id, name }: Parsed) => ({ type, id, ...(name && { name }) });

const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";
const hookOf = ({ id }: Parsed) => ({ type: "integration", id, name: "***.example.com" });

/** The fields that differ. */
const updated = (type: string) => (_: ChangelogFixture, before: Parsed, answer: Parsed) => {
  const [was, is] = [shown(before), shown(answer)];
  const names = Object.keys({ ...was, ...is });
  const changed = names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  const pick = (from: Parsed) =>
    Object.fromEntries(changed.filter((name) => name in from).map((name) => [name, from[name]]));
  return [
    { action: "updated", record: recordOf(type, answer), before: pick(was), after: pick(is) },
  ];
};

export const variable = (name: string) => ({
  name,
  storage_method: "secret",
  value: newCanarySecret(),
});
const makesVariable: Case = {
  body: () => variable("TOKEN"),
  entries: created("variable"),
};

/** Of a resource with an ID: the parameter of the path that reads it has its type. */
export function usualCase(operation: Operation): Case {
  const { method, path, operationId } = operation;
  const [, type] = /\{(\w+)_id\}$/.exec(readOf(operation)?.path ?? "") ?? [];
  if (!type) throw new Error(`Add ${operationId} to CASES or to WITHOUT_ENTRY`);
  const example = exampleBody(operation) ?? {};
  if (method === "DELETE") return { read: path, entries: deleted(type) };
  if (method !== "POST") return { body: () => example, read: path, entries: updated(type) };
  return { body: () => ({ ...example, name: `${example["name"]}-too` }), entries: created(type) };
}

/** `A` and `GONE` exist before; the request omits `GONE`. */
const makesVariables = (scope: string): Case => ({
  prepare: async ({ world, ids }) => {
    const name = scope === "environments" ? "environment_id" : "component_id";
    const path = `/v1/${scope}/${ids[name]}/variables`;
    await world.client.post(path, variable("GONE"));
    await world.client.put(path, { mode: "merge", variables: [variable("A")] });
  },
  body: () => ({ mode: "replace", variables: [variable("A"), variable("NEW")] }),
  entries: (_, __, answer) => {
    const [a, fresh] = ["A", "NEW"].map((name) =>
      answer.data.find((each: Parsed) => each.name === name),
    );
    const gone = { type: "variable", id: expect.any(String), name: "GONE" };
    return [
      {
        action: "deleted",
        record: gone,
        before: expect.objectContaining({ name: "GONE", version: 1 }),
      },
      {
        action: "updated",
        record: recordOf("variable", a),
        before: { version: a.version - 1 },
        after: { version: a.version },
      },
      { action: "created", record: recordOf("variable", fresh), after: shown(fresh) },
    ];
  },
});

const makesDeployment: Case = {
  entries: (_, __, answer) => [
    {
      action: "created",
      record: { type: "deployment", id: answer.id },
      after: {
        id: answer.id,
        environment_id: answer.environment_id,
        status: "queued",
        stack_ids: answer.stack_ids,
        data: { patch: answer.data.patch },
        created_at: answer.created_at,
      },
    },
  ],
};

/** The operations whose body or entries are others than those of the example: what differs. */
export const CASES: Record<string, Partial<Case>> = {
  createProject: {
    body: () => ({ name: "another", description: "New." }),
    entries: created("project"),
  },
  replaceProject: {
    body: ({ project }) => ({
      name: "renamed",
      default_environment_id: project.default_environment_id,
      icon: "emoji:x",
    }),
  },
  updateProject: {
    body: () => ({ name: "renamed", description: null, icon: "emoji:x" }),
  },
  connectProject: {
    body: () => ({ ...CONNECTION, region: "eu-west-1" }),
    entries: ({ project }) => [
      {
        action: "connected",
        record: recordOf("project", project),
        before: { region: "eu-central-1" },
        after: { region: "eu-west-1" },
      },
    ],
  },
  orderEnvironments: {
    body: ({ project, ids }) => ({
      environment_ids: [ids["environment_id"], project.default_environment_id],
    }),
    entries: ({ project, ids }) => [
      {
        action: "updated",
        record: recordOf("project", project),
        before: { environment_ids: [project.default_environment_id, ids["environment_id"]] },
        after: {
          environment_ids: [ids["environment_id"], project.default_environment_id],
          environments: 2,
        },
      },
    ],
  },
  disconnectProject: {
    entries: ({ project }) => [
      { action: "disconnected", record: recordOf("project", project), before: CONNECTION },
    ],
  },
  addProjectMembers: {
    body: ({ outsiders }) => ({
      member_ids: outsiders.map(({ membershipId }) => membershipId),
      role: "contributor",
    }),
    entries: (_, __, members) =>
      members.map((member: Parsed) => ({
        action: "created",
        record: { type: "project_member", id: member.membership_id, name: member.name },
        after: { id: member.membership_id, ...member },
      })),
  },
  replaceProjectMember: {
    body: () => ({ role: "owner" }),
    entries: (_, __, member) => [
      {
        action: "updated",
        record: { type: "project_member", id: member.membership_id, name: member.name },
        before: { role: "viewer" },
        after: { role: "owner" },
      },
    ],
  },
  removeProjectMember: {
    read: "/v1/projects/{project_id}/members/{member_id}",
    entries: (_, member) => [
      {
        action: "deleted",
        record: { type: "project_member", id: member.membership_id, name: member.name },
        before: { id: member.membership_id, ...member },
      },
    ],
  },
  createIntegration: {
    body: () => ({ type: "webhook", configuration: { changelog: false }, url: HOOK }),
    entries: (_, __, { secret: ___, ...integration }) => [
      { action: "created", record: hookOf(integration), after: shown(integration) },
    ],
  },
  updateIntegration: {
    read: INTEGRATION,
    body: () => ({ configuration: { promotions: true } }),
    entries: (_, before, after) => [
      {
        action: "updated",
        record: hookOf(after),
        before: { configuration: before.configuration },
        after: { configuration: after.configuration },
      },
    ],
  },
  deleteIntegration: {
    read: INTEGRATION,
    entries: (_, before) => [{ action: "deleted", record: hookOf(before), before: shown(before) }],
  },
  rotateIntegrationSecret: {
    entries: (_, __, { previous_secret_until, ...integration }) => [
      {
        action: "updated",
        record: hookOf(integration),
        before: {},
        after: { previous_secret_until },
      },
    ],
  },
  resumeIntegration: {
    prepare: ({ ids }) =>
      env.DB.prepare("update integrations set paused_until = 5 where id = ?")
        .bind(ids["integration_id"])
        .run(),
    entries: (_, __, { id }) => [
      {
        action: "resumed",
        record: { type: "integration", id, name: "***.example.com" },
        before: { paused_until: "1970-01-01T00:00:00.005Z" },
        after: {},
      },
    ],
  },
  confirmIntegration: {
    prepare: ({ ids }) =>
      env.DB.prepare(
        "update integrations set type = 'slack', shown_url = '', secret = null, confirm_by = 4e12 where id = ?",
      )
        .bind(ids["integration_id"])
        .run(),
    entries: (_, __, { id }) => [
      {
        action: "confirmed",
        record: { type: "integration", id, name: "Slack" },
        before: { confirmed: false, confirm_by: "2096-10-02T07:06:40.000Z" },
        after: { confirmed: true },
      },
    ],
  },
  replaceEnvironment: {
    body: () => ({ name: "renamed", configuration: { replicas: 2 } }),
  },
  deleteEnvironment: {
    prepare: ({ world, ids }) =>
      world.client.patch(`/v1/deployments/${ids["deployment_id"]}/cancel`),
  },
  orderStacks: {
    prepare: async ({ world, ids }) => {
      const path = `/v1/environments/${ids["environment_id"]}/stacks`;
      ids["second_stack_id"] = (await world.client.post(path, { name: "second" })).body.id;
    },
    body: ({ ids }) => ({ stack_ids: [ids["second_stack_id"], ids["stack_id"]] }),
    entries: ({ ids }, _, answer) => [
      {
        action: "updated",
        record: recordOf("environment", answer),
        before: { stack_ids: [ids["stack_id"], ids["second_stack_id"]] },
        after: { stack_ids: [ids["second_stack_id"], ids["stack_id"]], stacks: 2 },
      },
    ],
  },
  createStack: { body: () => ({ name: "third" }) },
  replaceStack: {
    body: ({ ids }) => ({ name: "renamed", component_id: ids["component_id"] }),
  },
  updateStack: {
    body: ({ ids }) => ({ name: "renamed", component_id: ids["component_id"] }),
  },
  deleteStack: {
    prepare: ({ world, ids }) =>
      world.client.patch(`/v1/deployments/${ids["deployment_id"]}/cancel`),
  },
  createDeployment: {
    body: ({ ids }) => ({
      patch: [{ op: "replace", path: "/replicas", value: 5 }],
      stack_ids: [ids["stack_id"]],
    }),
    entries: makesDeployment.entries,
  },
  redeployDeployment: makesDeployment,
  promoteDeployment: {
    prepare: async ({ ids, world, project }) => {
      await newStack(world.client, project.default_environment_id);
      return pretendSuccess(String(ids["deployment_id"]));
    },
    body: ({ project }) => ({ environment_id: project.default_environment_id }),
    entries: (fixture, before, answer) => {
      const [entry] = makesDeployment.entries(fixture, before, answer) as [Parsed];
      const { stack_ids: _, ...after } = entry.after;
      return [{ ...entry, after }];
    },
  },
  cancelDeployment: {
    entries: ({ ids }) => [
      {
        action: "canceled",
        record: { type: "deployment", id: ids["deployment_id"] },
        before: { status: "queued" },
        after: { status: "canceled" },
      },
    ],
  },
  replaceVariable: {
    body: () => variable("RENAMED"),
  },
  createComponentVariable: makesVariable,
  createEnvironmentVariable: makesVariable,
  putComponentVariables: makesVariables("components"),
  putEnvironmentVariables: makesVariables("environments"),
};
