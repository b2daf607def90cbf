import { env } from "cloudflare:workers";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Ids } from "./operations.ts";
import type { World } from "./world.ts";

/** By the column: an SQL expression of the copy, which is number `item.key` and has the ID `item.value`. */
type Changes = Record<string, string>;

const NAMED: Changes = { name: "'copy-' || item.key" };
const SECRET: Changes = { secret_hash: "item.value" };

/** Adds `rows` rows to every list of the organization. */
export async function lengthenLists(world: World, ids: Ids, rows: number): Promise<void> {
  const quoted = (name: string) => `'${ids[name]}'`;
  const copy = (table: string, id: string | undefined, changes: Changes = {}) =>
    copyRow(world.id, table, id, newIdsOf(rows), changes);
  const people = await copyMembership(world.id, ids["member_id"], rows);
  await copyMembership(world.id, ids["membership_id"], rows);
  await addProjectMembers(world.id, String(ids["project_id"]), people);
  const made = { created_by_membership_id: quoted("member_id") };
  for (const by of ["issued_by_key_id", "created_by_session_id"]) {
    const maker = by === "issued_by_key_id" ? "key_id" : "member_session_id";
    const changes = { ...SECRET, ...made, created_by_key_id: "null", [by]: quoted(maker) };
    await copy("api_keys", ids["key_id"], changes);
  }
  await copy("sessions", ids["session_id"], SECRET);
  await copy("sessions", ids["member_session_id"], SECRET);
  await copy("invitations", ids["invitation_id"], {
    ...SECRET,
    email: "item.value || '@x.example'",
  });
  await copy("trusts", ids["trust_id"]);
  await copy("freezes", ids["freeze_id"]);
  await copy("freezes", ids["freeze_id"], { project_id: "null" });
  const pools = await copy("runner_pools", ids["pool_id"], NAMED);
  await placePools(world.id, pools, String(ids["environment_id"]));
  await copy("runner_tokens", ids["token_id"], SECRET);
  await copy("runners", undefined, { ...NAMED, pool_id: quoted("pool_id") });
  await copy("projects", ids["project_id"]);
  const environments = await copy("environments", ids["environment_id"], NAMED);
  await copy("components", ids["component_id"], NAMED);
  const stacks = await copy("stacks", ids["stack_id"], NAMED);
  await copy("alarms", undefined, { ...NAMED, stack_id: quoted("stack_id") });
  const variable = { resource_id: "item.value" };
  await copy("variables", ids["variable_id"], {
    ...variable,
    name: "'ENVIRONMENT_' || item.key",
    component_id: "null",
    scope_id: quoted("environment_id"),
  });
  await copy("variables", ids["variable_id"], {
    ...variable,
    name: "'COMPONENT_' || item.key",
    component_id: quoted("component_id"),
    scope_id: quoted("component_id"),
  });
  await copy("resources", ids["resource_id"], { template_id: "item.value" });
  const deployments = await copy("deployments", ids["deployment_id"], {
    status: "'failed'",
    announced: "'failed'",
    stack_count: "1",
    number: "1000 + item.key",
  });
  await placeStacks(ids, deployments, [String(ids["stack_id"])]);
  await copyAttempts(world.id, ids, environments, stacks);
  await copy("events", undefined, { project_id: quoted("project_id") });
  await copy("deliveries", ids["delivery_id"]);
  await copy("recoveries", ids["recovery_id"]);
  await copy("changelog_entries", undefined, { project_id: quoted("project_id") });
  await copy("audit_log", undefined);
}

/** Deployments of the same environment. Returns their IDs. */
export async function addDeployments(
  world: World,
  ids: Ids,
  rows: number,
  stackIds: readonly string[],
  changes: Changes = {},
): Promise<readonly string[]> {
  const added = await copyRow(world.id, "deployments", ids["deployment_id"], newIdsOf(rows), {
    status: "'failed'",
    announced: "'failed'",
    number: "(select max(number) + 1 from deployments) + item.key",
    created_at: "(select max(created_at) + 1 from deployments) + item.key",
    ...changes,
  });
  await placeStacks(ids, added, stackIds);
  return added;
}

async function placeStacks(ids: Ids, deployments: readonly string[], stackIds: readonly string[]) {
  await env.DB.prepare(
    `insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id, position,
        status, seq, timestamp, deployment_created_at)
      select item.value, stack.value, ?3, deployments.environment_id, stack.key, 'succeeded', 0, 0,
        deployments.created_at
      from json_each(?1) as item join deployments on deployments.id = item.value
      join json_each(?2) as stack`,
  )
    .bind(JSON.stringify(deployments), JSON.stringify(stackIds), ids["org_id"])
    .run();
}

/** Each live attempt is in an environment of its own. */
async function copyAttempts(
  organizationId: string,
  ids: Ids,
  environments: readonly string[],
  stacks: readonly string[],
): Promise<void> {
  const oneOf = (ids: readonly string[]) => `'${JSON.stringify(ids)}' ->> item.key`;
  const deployments = await copyRow(
    organizationId,
    "deployments",
    ids["deployment_id"],
    newIdsOf(environments.length),
    { environment_id: oneOf(environments), stack_count: "1" },
  );
  await placeStacks(ids, deployments, stacks.slice(0, 1));
  await copyRow(organizationId, "attempts", ids["attempt_id"], newIdsOf(environments.length), {
    environment_id: oneOf(environments),
    deployment_id: oneOf(deployments),
    request_id: "item.value",
  });
}

async function copyMembership(organizationId: string, id: string | undefined, rows: number) {
  const ids = newIdsOf(rows);
  await env.DB.prepare(
    `insert into accounts select value, value || '@x.example', 'x', 'x', null, '{}', key, 0, 1
      from json_each(?1)`,
  )
    .bind(JSON.stringify(ids))
    .run();
  const changes = { account_id: "item.value", email: "null" };
  return copyRow(organizationId, "memberships", id, ids, changes);
}

async function addProjectMembers(
  organizationId: string,
  projectId: string,
  memberships: readonly string[],
): Promise<void> {
  await env.DB.prepare(
    "insert into project_members select ?2, value, ?3, 'viewer', key, key, 1 from json_each(?1)",
  )
    .bind(JSON.stringify(memberships), projectId, organizationId)
    .run();
}

async function placePools(organizationId: string, pools: readonly string[], environmentId: string) {
  await env.DB.prepare(
    "insert into runner_pool_environments select value, ?2, ?3 from json_each(?1)",
  )
    .bind(JSON.stringify(pools), environmentId, organizationId)
    .run();
}

/** Copies a row: the one with the ID, or any of the organization. Returns the IDs of the copies. */
export async function copyRow(
  organizationId: string,
  table: string,
  id: string | undefined,
  ids: readonly string[],
  changes: Changes,
): Promise<readonly string[]> {
  const { results } = await env.DB.prepare(`pragma table_info(${table})`).all<{ name: string }>();
  const columns = results.map(({ name }) => name);
  const copied: Changes = {
    id: "item.value",
    created_at: "source.created_at + item.key",
    ...changes,
  };
  const values = columns.map((name) => copied[name] ?? `source."${name}"`);
  const one = id === undefined ? "" : `and id = '${id}'`;
  const { meta } = await env.DB.prepare(
    `insert into ${table} (${columns.map((name) => `"${name}"`)}) select ${values}
      from json_each(?1) as item
      join (select * from ${table} where organization_id = ?2 ${one} limit 1) as source`,
  )
    .bind(JSON.stringify(ids), organizationId)
    .run();
  if (meta.changes === 0) throw new Error(`There is no row to copy in ${table}`);
  return ids;
}

export function newIdsOf(count: number): readonly string[] {
  return Array.from({ length: count }, () => newId(systemClock));
}
