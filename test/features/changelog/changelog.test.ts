import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { FEATURES } from "../../../src/features/index.ts";
import { projects } from "../../../src/features/tenancy/project-table.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { CANARY_PREFIX, newCanarySecret } from "../../support/canary-secrets.ts";
import type { Client, Parsed, Reply } from "../../support/client.ts";
import { exampleBody, type Operation, operations } from "../../support/contract.ts";
import { createMissing, readOf } from "../../support/created.ts";
import { Instrumented } from "../../support/instruments.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { copiesOf } from "../../support/template.ts";
import {
  CONNECTION,
  connect,
  join,
  newDeployment,
  newInside,
  newIntegration,
  newKey,
  newProject,
  newStack,
  newWorld,
  type Person,
  type World,
} from "../../support/world.ts";

/** A project with one record of each type, and users with and without a role in it. */
interface ChangelogFixture {
  world: World;
  project: Parsed;
  member: Person;
  outsiders: Person[];
  /** IDs by path parameter. */
  ids: Record<string, string>;
}

const HOOK = `https://hooks.example.com/in?token=${encodeURIComponent(newCanarySecret())}`;

async function createFixture(): Promise<ChangelogFixture> {
  const world = await newWorld();
  const project = await newProject(world.client, { description: "Before." });
  const member = await join(world);
  const outsiders = [await join(world), await join(world)];
  await world.client.post(`/v1/projects/${project.id}/members`, {
    member_ids: [member.membershipId],
  });
  const { body: staging } = await world.client.post(`/v1/projects/${project.id}/environments`, {
    name: "staging",
    configuration: { replicas: 1 },
  });
  const inside = await newInside(world.client, staging.id);
  await connect(world.client, project.id);
  const deployment = await newDeployment(world.client, staging.id);
  await newIntegration(world.client, project.id, ["changelog"]);
  const integration = await newIntegration(world.client, project.id, [], HOOK);
  const ids = {
    ...inside,
    project_id: project.id,
    member_id: member.membershipId,
    integration_id: integration.id,
    deployment_id: deployment.id,
  };
  const reads = operations.filter(({ path }) => writes.some((each) => each.path === path));
  const missing = await createMissing(world.client, ids, reads);
  return { world, project, member, outsiders, ids: { ...ids, ...missing } };
}

const newFixture = copiesOf(createFixture);

interface Case {
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

const variable = (name: string) => ({ name, storage_method: "secret", value: newCanarySecret() });
const makesVariable: Case = {
  body: () => variable("TOKEN"),
  entries: created("variable"),
};

/** Of a resource with an ID: the parameter of the path that reads it has its type. */
function usualCase(operation: Operation): Case {
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
const CASES: Record<string, Partial<Case>> = {
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

/** What they write is of the organization, or of a person. */
const OUTSIDE = /^\/v1\/(orgs|account|freezes|sessions|sign-in-links)/;

/** Other writes without an entry: rules, deliveries and reported states. Deleting a project deletes its changelog. */
const WITHOUT_ENTRY = [
  ...["replaceProtection", "createApproval", "overrideDeployment", "createProjectFreeze"],
  ...["previewDeployment", "reportAlarm", "pingIntegration", "createRecovery", "redeliver"],
  "deleteProject",
];

const writes = operations.filter(
  ({ method, security }) => method !== "GET" && security.some((each) => "api_key" in each),
);
const recorded = writes
  .filter(({ operationId, path }) => !WITHOUT_ENTRY.includes(operationId) && !OUTSIDE.test(path))
  .map((each) => [each.operationId, each] as const);

function caseOf(operation: Operation): Case {
  const special = CASES[operation.operationId];
  const { entries } = special ?? {};
  return entries ? { ...special, entries } : { ...usualCase(operation), ...special };
}

async function pretendSuccess(id: string): Promise<void> {
  await env.DB.prepare("update deployments set status = 'succeeded' where id = ?").bind(id).run();
}

const fill = (path: string, { ids }: ChangelogFixture) =>
  path.replaceAll(/\{(.+?)\}/g, (_, name: string) => String(ids[name]));

function send(operation: Operation, fixture: ChangelogFixture, client: Client): Promise<Reply> {
  const body = caseOf(operation).body?.(fixture);
  return client.request(operation.method, fill(operation.path, fixture), body);
}

/** The changelog of a project, oldest first. */
async function listChangelog({ world }: ChangelogFixture, projectId: string): Promise<Parsed[]> {
  const { client } = await newKey(world);
  const { body } = await client.get(
    `/v1/projects/${projectId}/changelog?sort_by=created_at&limit=240`,
  );
  return body.data;
}

/** Those of projects. The service writes some of their columns in the background. */
const TABLES = FEATURES.flatMap(({ tables = [] }) => tables.map(({ table }) => table))
  .filter((table) => "projectId" in table || table === projects)
  .map((table) => getTableName(table));

/** All rows of an organization as text, without the columns of deliveries that the queue consumer changes. */
async function dump({ world }: ChangelogFixture): Promise<string> {
  const tables = await Promise.all(
    TABLES.map(async (name) => {
      const columns = name === "deliveries" ? "id, integration_id, event_id, type" : "*";
      const all = env.DB.prepare(`select ${columns} from ${name} where organization_id = ?`);
      return (await all.bind(world.id).all()).results;
    }),
  );
  return JSON.stringify(tables);
}

/** Makes every insert of an entry of the organization fail; returns a function that ends this. */
async function refuseEntries({ world }: ChangelogFixture): Promise<() => Promise<unknown>> {
  const name = `refuse_${world.id}`;
  await env.DB.prepare(
    `create trigger ${name} before insert on changelog_entries
      when new.organization_id = '${world.id}' begin select raise(abort, 'refused'); end`,
  ).run();
  return () => env.DB.prepare(`drop trigger ${name}`).run();
}

/** A request that is forbidden, or whose entry cannot be written, changes nothing. */
async function expectNothingWithoutEntry(
  operation: Operation,
  fixture: ChangelogFixture,
): Promise<void> {
  const before = await dump(fixture);
  if (operation.operationId !== "createProject") {
    expect((await send(operation, fixture, fixture.member.client)).status).toBe(403);
    expect(await dump(fixture)).toBe(before);
  }
  const allow = await refuseEntries(fixture);
  const { client } = await newKey(fixture.world);
  expect((await send(operation, fixture, client)).status).toBe(500);
  expect(await dump(fixture)).toBe(before);
  await allow();
}

describe("the changelog", () => {
  it("has a case for write operations only", () => {
    const ids = writes.map(({ operationId }) => operationId);
    const named = [...Object.keys(CASES), ...WITHOUT_ENTRY];
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(recorded)(
    "records %s in the same batch and as one event, or neither is written",
    async (_, operation) => {
      const fixture = await newFixture();
      const { prepare, read, entries } = caseOf(operation);
      await prepare?.(fixture);
      await expectNothingWithoutEntry(operation, fixture);
      const before = read && (await fixture.world.client.get(fill(read, fixture))).body;
      const earlier = (await listChangelog(fixture, fixture.project.id)).map(({ id }) => id);
      const delivered = (await listDeliveries(fixture.project.id)).length;
      const worker = new Instrumented();

      const { client, keyId } = await newKey(fixture.world);
      const reply = await send(operation, fixture, client.via(worker.fetch));
      expect(reply.status).toBeLessThan(300);

      const isNew = operation.operationId === "createProject";
      const projectId = isNew ? reply.body.id : fixture.project.id;
      const written = (await listChangelog(fixture, projectId)).filter(
        ({ id }) => !earlier.includes(id),
      );
      const { accountId: account_id, membershipId: membership_id } = fixture.world;
      const common = {
        id: expect.any(String),
        project_id: projectId,
        source: { id: keyId, name: expect.any(String) },
        actor: { name: "Olive Owner", account_id, membership_id, key_id: keyId },
        created_at: expect.any(String),
      };
      const expected = entries(fixture, before, reply.body).map((entry) => ({
        ...common,
        ...entry,
        targets: expect.arrayContaining([expect.objectContaining((entry as Parsed)["record"])]),
      }));
      expect(written).toHaveLength(expected.length);
      expect(written).toEqual(expect.arrayContaining(expected));

      const batches = worker.database.filter(({ statements }) =>
        statements.some(({ sql }) => sql.startsWith('insert into "changelog_entries"')),
      );
      expect(batches).toHaveLength(1);
      if (isNew) return;
      const events = (await listDeliveries(projectId)).slice(delivered);
      expect(events.every(({ type }) => type === "changelog.created")).toBe(true);
      const changes = written.map(({ id, action, record }) => ({
        changelog_id: id,
        action,
        record,
      }));
      expect(events).toHaveLength(1);
      const [event] = events;
      expect(event?.data.entries).toHaveLength(changes.length);
      expect(event?.data.entries).toEqual(expect.arrayContaining(changes));
      const { entries: listed } = event?.data ?? {};
      expect(event?.data).toEqual({
        ...listed[0],
        account_id,
        membership_id,
        key_id: keyId,
        entries: listed,
        count: changes.length,
      });
    },
  );

  it("contains no secret", async () => {
    const fixture = await newFixture();
    const { client } = await newKey(fixture.world);
    const ids = [
      "connectProject",
      "createComponentVariable",
      "replaceVariable",
      "createIntegration",
    ];
    for (const [id, operation] of recorded) {
      if (ids.includes(id)) await send(operation, fixture, client);
    }
    for (const [id, operation] of recorded) {
      if (!id.startsWith("put")) continue;
      await caseOf(operation).prepare?.(fixture);
      await send(operation, fixture, client);
    }
    const tables = await Promise.all(
      ["changelog_entries", "deliveries"].map((name) =>
        env.DB.prepare(`select * from ${name}`).all(),
      ),
    );
    const text = JSON.stringify(tables.map(({ results }) => results));
    expect(text).toContain("resource_id");
    expect(text).not.toContain(CANARY_PREFIX);
    const connections = await env.DB.prepare("select external_id from project_connections").all();
    expect(connections.results).not.toEqual([]);
    for (const { external_id } of connections.results) expect(text).not.toContain(external_id);
  });
});

describe("a request that changes nothing", () => {
  it("has no changelog entry: the same connection again", async () => {
    const { world, project } = await newFixture();
    const path = `/v1/projects/${project.id}`;
    const entries = async () => (await world.client.get(`${path}/changelog`)).text;
    const before = await entries();
    expect((await world.client.put(`${path}/connection`, CONNECTION)).status).toBe(200);
    expect(await entries()).toBe(before);
  });

  const refusals: [string, (fixture: ChangelogFixture) => Promise<Reply>, number][] = [
    [
      "a name that is taken",
      ({ world, ids }) =>
        world.client.put(`/v1/environments/${ids["environment_id"]}`, {
          name: "production",
          configuration: {},
        }),
      409,
    ],
    [
      "a default environment of another project",
      async ({ world, ids }) =>
        world.client.put(`/v1/projects/${ids["project_id"]}`, {
          default_environment_id: (await newProject(world.client)).default_environment_id,
        }),
      404,
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
      "the last owner's removal",
      ({ world, ids }) =>
        world.client.delete(`/v1/projects/${ids["project_id"]}/members/${world.membershipId}`),
      409,
    ],
    [
      "the default environment's deletion",
      ({ world, project }) =>
        world.client.delete(`/v1/environments/${project.default_environment_id}`),
      409,
    ],
    [
      "the deletion of a stack with an unfinished deployment",
      ({ world, ids }) => world.client.delete(`/v1/stacks/${ids["stack_id"]}`),
      409,
    ],
    [
      "a deployment of a project that was disconnected",
      async ({ world }) => {
        const { id, default_environment_id } = await newProject(world.client);
        await world.client.patch(`/v1/projects/${id}/disconnect`);
        return world.client.post(`/v1/environments/${default_environment_id}/deployments`, {});
      },
      409,
    ],
    [
      "the promotion of a deployment that has not succeeded",
      ({ world, ids, project }) =>
        world.client.post(`/v1/deployments/${ids["deployment_id"]}/promote`, {
          environment_id: project.default_environment_id,
        }),
      409,
    ],
    [
      "a variable's name that is taken",
      ({ world, ids }) =>
        world.client.post(`/v1/environments/${ids["environment_id"]}/variables`, variable("A")),
      409,
    ],
  ];

  it.each(refusals)("has no changelog entry: %s", async (_, refused, status) => {
    const fixture = await newFixture();
    const before = await listChangelog(fixture, fixture.project.id);
    expect((await refused(fixture)).status).toBe(status);
    expect(await listChangelog(fixture, fixture.project.id)).toEqual(before);
  });

  it("has no changelog entry: the second of two concurrent deletions", async () => {
    const fixture = await newFixture();
    const path = `/v1/components/${fixture.ids["component_id"]}`;
    await Promise.all([1, 2].map(() => fixture.world.client.delete(path)));
    const entries = await listChangelog(fixture, fixture.project.id);
    expect(entries.filter(({ action }) => action === "deleted")).toHaveLength(1);
  });
});

it("the newest entry equals the record after concurrent updates", async () => {
  const { world, project } = await newFixture();
  const path = `/v1/projects/${project.id}`;
  const put = async (name: string) => {
    const { client } = await newKey(world);
    return client.put(path, { name, default_environment_id: project.default_environment_id });
  };
  for (let round = 1; round <= 20; round += 1) {
    const { body: was } = await (await newKey(world)).client.get(path);
    await Promise.all([put(`name ${round}`), put(was.name), put(`name ${round}`), put(was.name)]);
    const { client } = await newKey(world);
    const { body: is } = await client.get(path);
    const [newest] = (await client.get(`${path}/changelog?limit=1`)).body.data;
    expect(newest.after?.name ?? is.name).toBe(is.name);
  }
});

it("concurrent bulk requests record every variable that they write or delete", async () => {
  const fixture = await newFixture();
  const path = `/v1/environments/${fixture.ids["environment_id"]}/variables`;
  const names = ["A", "B", "C", "D"];
  const write = async (round: number) => {
    const { client } = await newKey(fixture.world);
    const variables = names.filter((_, at) => (at + round) % 2 === 0).map(variable);
    const mode = round % 3 === 0 ? "merge" : "replace";
    return (await client.put(path, { mode, variables })).status;
  };
  const statuses = await Promise.all([0, 1, 2, 3, 4, 5].map(write));
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);

  // Applying the entries in order gives the current variables.
  const counts = new Map<string, number>();
  const entries = await listChangelog(fixture, fixture.project.id);
  const ofVariables = entries.filter(({ record }) => record.type === "variable");
  for (const { record, action } of ofVariables) {
    if (action === "created") counts.set(record.id, (counts.get(record.id) ?? 0) + 1);
    if (action === "deleted") counts.set(record.id, (counts.get(record.id) ?? 0) - 1);
  }
  const { body } = await fixture.world.client.get(path);
  const current = [...counts].filter(([, count]) => count === 1).map(([id]) => id);
  expect(current.toSorted()).toEqual(body.data.map(({ id }: Parsed) => id).toSorted());
  for (const { id, version } of body.data) {
    const rises = ofVariables.filter(
      ({ record, action }) => record.id === id && action === "updated",
    );
    expect(version).toBe(1 + rises.length);
  }
});

it("an entry is kept after its record is deleted, and has only the size of a large field", async () => {
  const { world, project } = await newFixture();
  const text = "x".repeat(20_000);
  const { body } = await world.client.post(`/v1/projects/${project.id}/environments`, {
    name: "large",
    configuration: { text },
  });
  await world.client.delete(`/v1/environments/${body.id}`);
  const { body: log } = await world.client.get(`/v1/projects/${project.id}/changelog`);
  const [gone, made] = log.data;
  const configuration = { characters: JSON.stringify({ text }).length };
  expect([gone.action, made.action]).toEqual(["deleted", "created"]);
  expect(gone.before).toMatchObject({ name: "large", configuration });
  expect(made.after).toMatchObject({ name: "large", configuration });
});

it("an entry has a field of 16 KiB of UTF-8, and only the size of a longer one", async () => {
  const { world, project } = await newFixture();
  const textOf = (bytes: number) => "é".repeat((bytes - JSON.stringify({ text: "" }).length) / 2);
  const limit = LIMITS.recordedFieldBytes.value;
  for (const [name, bytes] of [
    ["fits", limit - 1],
    ["too-long", limit + 1],
  ] as const) {
    const configuration = { text: textOf(bytes) };
    const { status } = await world.client.post(`/v1/projects/${project.id}/environments`, {
      name,
      configuration,
    });
    expect(status).toBe(201);
    const { body: log } = await world.client.get(`/v1/projects/${project.id}/changelog`);
    const { length } = JSON.stringify(configuration);
    expect(length).toBeLessThan(limit);
    const recorded = bytes > limit ? { characters: length } : configuration;
    expect(log.data[0].after.configuration).toEqual(recorded);
  }
});

it("has the order of the writes if the clocks of two isolates differ", async () => {
  const { world, project } = await newFixture();
  const other = await newProject(world.client);
  const now = Date.now() + 60_000;
  const at = (time: number) =>
    world.client.via(new Instrumented({ clock: { now: () => time } }).fetch);
  const [fast, slow] = [at(now + 5_000), at(now)];
  for (const name of ["first", "third"]) await fast.patch(`/v1/projects/${project.id}`, { name });
  await slow.patch(`/v1/projects/${project.id}`, { name: "fourth" });
  await slow.patch(`/v1/projects/${other.id}`, { name: "another" });
  const namesOf = async ({ id }: Parsed) =>
    (await world.client.get(`/v1/projects/${id}/changelog?limit=3`)).body.data.map(
      ({ after }: Parsed) => after.name,
    );
  expect(await namesOf(project)).toEqual(["fourth", "third", "first"]);
  const [own] = (await world.client.get(`/v1/projects/${other.id}/changelog?limit=1`)).body.data;
  // The entries of another project do not move it.
  expect(own.created_at).toBe(new Date(now).toISOString());
});
