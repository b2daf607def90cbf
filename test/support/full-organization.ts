import { env } from "cloudflare:workers";
import { tableNamed } from "../../packages/server/src/backup/tables.ts";
import { seedDeployments } from "../../scripts/seed/deployments.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Client, Parsed } from "./client.ts";
import { Browser, TestIdentityProvider } from "./identity-provider.ts";
import { newIds } from "./operations.ts";
import { addProtection } from "./protection.ts";
import { Attempt } from "./runner.ts";
import {
  addressOf,
  connect,
  join,
  newDeployment,
  newInside,
  newKey,
  newPool,
  newProject,
  newResource,
  newWorld,
  signIn,
  type World,
} from "./world.ts";

const STACKS = 4;

/** An organization with at least two rows in every table, and one row in those that hold one. */
export class FullOrganization {
  readonly world: World;
  readonly runnerKey: string;
  readonly attemptId: string;
  readonly leaseToken: string;
  /** Of records of several kinds. */
  readonly ids: ReadonlySet<string>;

  private constructor(world: World, ids: Record<string, string>) {
    this.world = world;
    this.runnerKey = String(ids["runner"]);
    this.attemptId = String(ids["attempt_id"]);
    this.leaseToken = String(ids["lease"]);
    this.ids = new Set(Object.values(ids));
  }

  static async create(rows: number): Promise<FullOrganization> {
    const world = await newWorld();
    // Each key has its own rate limit.
    const caller = async () => ({ ...world, client: (await newKey(world)).client });
    await newIds(await caller());
    const ids = await newIds(await caller());
    await addUnfinishedDeployments(await caller());
    await addOptionalFields(await caller(), ids);
    for (const id of [ids["project_id"], ids["project_id"]])
      await addProtection(await caller(), String(id));
    await orderEnvironments(world);
    await deleteStacks(await caller(), ids);
    await addRepeatable(await caller(), ids);
    await addSessions(await caller());
    await addQuotas(world);
    await addDigests(world);
    await removeMembers(await caller());
    await addHistory(await caller(), ids, rows);
    await stopTime(world);
    return new FullOrganization(world, ids);
  }
}

/** No sweep, with any clock, changes the organization. */
async function stopTime({ id }: World): Promise<void> {
  const never = Date.now() + 10 * 365 * 24 * 3_600_000;
  const updates = [
    "update invitations set expires_at = ?1 where organization_id = ?2",
    "update sign_in_links set expires_at = ?1 where organization_id = ?2",
    "update sessions set expires_at = ?1, last_used_at = ?1 where organization_id = ?2",
    `update attempts set offered_until = ?1, lease_until = ?1, lost_at = ?1, run_until = ?1
      where organization_id = ?2 and state <> 'ended'`,
    `update deployments set cancel_deadline = ?1
      where organization_id = ?2 and cancel_deadline is not null`,
    `update deliveries set status = 'failed', finished_at = ?1
      where organization_id = ?2 and status = 'pending'`,
  ];
  await env.DB.batch(updates.map((sql) => env.DB.prepare(sql).bind(never, id)));
}

/** Queued, offered, released, in progress, and canceling, each in its own environment. */
async function addUnfinishedDeployments(world: World): Promise<void> {
  const project = await newProject(world.client, { name: "unfinished" });
  await connect(world.client, project.id);
  const states: ((attempt: () => Promise<Attempt>, deployment: Parsed) => Promise<unknown>)[] = [
    async () => undefined,
    (attempt) => attempt(),
    async (attempt) => (await attempt()).post("release"),
    async (attempt) => (await attempt()).post("start"),
    async (attempt, { id }) => {
      await (await attempt()).post("start");
      await world.client.post(`/v1/deployments/${id}/cancel`, {});
    },
    async (attempt) => {
      const started = await attempt();
      await started.post("start");
      await started.complete("failed", { failure_reason: "broken" });
    },
  ];
  for (const [at, reach] of states.entries()) {
    const environments = `/v1/projects/${project.id}/environments`;
    const { body } = await world.client.post(environments, { name: `state-${at}` });
    const pool = await newPool(world, [body.id]);
    await newInside(world.client, body.id);
    const deployment = await newDeployment(world.client, body.id, { reason: `state ${at}` });
    await reach(() => Attempt.claim(pool.runner), deployment);
    if (at % 2 === 0) await newDeployment(world.client, body.id, { queue: "fifo" });
  }
}

/** They leave tombstones, with their resources, until the next purge. */
async function deleteStacks({ client }: World, ids: Record<string, string>): Promise<void> {
  for (const name of ["deleted", "deleted too"]) {
    const stacks = `/v1/environments/${ids["environment_id"]}/stacks`;
    const { body } = await client.post(stacks, { name });
    await newResource(body.id);
    await client.delete(`/v1/stacks/${body.id}`);
  }
}

/** Requests that can be repeated. */
async function addRepeatable({ client }: World, ids: Record<string, string>): Promise<void> {
  for (const name of ["repeatable", "repeatable-too"]) {
    const environments = `/v1/projects/${ids["project_id"]}/environments`;
    await client.request("POST", environments, { name }, { "idempotency-key": name });
  }
}

async function orderEnvironments({ id }: World): Promise<void> {
  await env.DB.prepare(
    `insert into environment_positions (environment_id, organization_id, position)
      select id, organization_id, 1 from environments where organization_id = ?`,
  )
    .bind(id)
    .run();
}

async function addOptionalFields(world: World, ids: Record<string, string>): Promise<void> {
  const { client } = world;
  await client.put(`/v1/stacks/${ids["stack_id"]}/alarms/one`, {
    state: "alarm",
    reason: "Ü\u2028",
  });
  await client.put(`/v1/stacks/${ids["stack_id"]}/alarms/two`, { state: "ok" });
  await client.get(`/v1/variables/${ids["variable_id"]}/value`);
  await rotateSecret(client, ids);
  const keys = `/v1/orgs/${world.id}/api-keys`;
  await client.delete(`${keys}/${(await client.post(keys, { name: "revoked" })).body.id}`);
  const scopes = [`environments/${ids["environment_id"]}`, `components/${ids["component_id"]}`];
  for (const scope of scopes) {
    for (const at of [1, 2, 3]) {
      const variable = { name: `V${at}`, storage_method: "secret", value: `${scope} ${at}` };
      await client.post(`/v1/${scope}/variables`, variable);
    }
  }
  await env.DB.batch([
    env.DB.prepare("insert or ignore into bootstraps values (1, ?, 1)").bind(world.id),
    env.DB.prepare(
      "update integrations set paused_until = 5, links_to = 'https://x.example' where id = ?",
    ).bind(ids["integration_id"] ?? null),
  ]);
}

async function addQuotas({ id }: World): Promise<void> {
  await env.DB.prepare("insert into quotas values (?1, 'projects', 2000), (?1, 'alarms', 60000)")
    .bind(id)
    .run();
}

/** As if the started deployments had succeeded, and a rule compared them. */
async function addDigests({ id }: World): Promise<void> {
  const started = "from deployments where organization_id = ? and start_basis is not null";
  const inserts = [
    `insert into environment_successes (deployment_id, organization_id, environment_id, created_at, started_at,
        finished_at, source, start_basis, configuration_digest)
      select id, organization_id, environment_id, created_at, started_at, finished_at, source, start_basis,
        configuration_digest ${started}`,
    `insert into configuration_digests (deployment_id, exceptions_digest, organization_id, environment_id, digest)
      select id, 'exceptions', organization_id, environment_id, 'digest' ${started}`,
  ];
  await env.DB.batch(inserts.map((sql) => env.DB.prepare(sql).bind(id)));
}

/** Of members that an owner has added. */
async function removeMembers(world: World): Promise<void> {
  for (const { membershipId } of [await join(world), await join(world)]) {
    await world.client.delete(`/v1/orgs/${world.id}/members/${membershipId}`);
  }
}

async function addSessions(world: World): Promise<void> {
  for (const person of [world, await join(world)]) {
    const { sessionId } = await signIn(person);
    await person.client.delete(`/v1/sessions/${sessionId}`);
    await signIn(person);
    await signIn(person);
    await person.client.post("/v1/sign-in-links", undefined);
  }
  const provider = await TestIdentityProvider.create();
  await new Browser(provider).signIn(provider, await addressOf(world));
  const member = await addressOf(await join(world));
  await new Browser(provider).signInTo(provider, member, world.id);
}

async function rotateSecret(client: Client, ids: Record<string, string>): Promise<void> {
  const integrations = `/v1/projects/${ids["project_id"]}/notification-integrations`;
  const { body } = await client.get(integrations);
  for (const { id } of body.data) await client.post(`${integrations}/${id}/rotate-secret`, {});
}

/** Adds rows until the organization has about as many as `rows`, most of them in lists. */
async function addHistory(world: World, ids: Record<string, string>, rows: number): Promise<void> {
  const share = Math.ceil(rows / 90);
  const environmentId = String(ids["environment_id"]);
  const stackIds = await Promise.all(
    Array.from({ length: STACKS }, async (_, at) => {
      const stacks = `/v1/environments/${environmentId}/stacks`;
      return String((await world.client.post(stacks, { name: `history-${at}` })).body.id);
    }),
  );
  const number = { id: "item.value" };
  const named = { ...number, created_at: "source.created_at + item.key" };
  await copyRows("changelog_entries", world.id, 45 * share, {
    ...named,
    record_name: "'n' || item.key",
  });
  await copyRows("audit_log", world.id, 30 * share, named);
  await copyRows("revoked_keys", world.id, 2, named);
  await copyRows("used_tokens", world.id, 2, {
    id: "item.value",
    expires_at: "9000000000000",
  });
  await copyRows("alarms", world.id, 4 * share, { ...named, name: "'alarm ' || item.key" });
  await copyRows("resources", world.id, share, { ...named, template_id: "'T' || item.key" });
  await copyRows("deliveries", world.id, share, { ...named, status: "'failed'" });
  await env.DB.prepare(
    `insert into delivery_attempts select deliveries.id, item.value, organization_id, 1, 2, 503,
       'answered 503', 'Ü' || item.value from deliveries join json_each('[1,2,3,4,5]') as item
     where organization_id = ? and not exists (select 1 from delivery_attempts
       where delivery_id = deliveries.id)`,
  )
    .bind(world.id)
    .run();
  const project = { organizationId: world.id, projectId: String(ids["project_id"]) };
  const { body } = await world.client.post(`/v1/projects/${project.projectId}/environments`, {
    name: "history",
  });
  await seedDeployments(env.DB, { ...project, environmentId: body.id, stackIds }, 2 * share);
}

/** Copies one row of an organization many times. */
async function copyRows(
  table: string,
  organizationId: string,
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const values = tableNamed(table).columns.map((name) => changes[name] ?? `source."${name}"`);
  const ids = Array.from({ length: count }, () => newId(systemClock));
  await env.DB.prepare(
    `insert into ${table} (${tableNamed(table).columns.map((name) => `"${name}"`)})
      select ${values} from json_each(?1) as item
      join (select * from ${table} where organization_id = ?2 limit 1) as source`,
  )
    .bind(JSON.stringify(ids), organizationId)
    .run();
}
