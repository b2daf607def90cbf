import { type SQL, sql } from "drizzle-orm";
import type { DeploymentTrigger } from "../../../lib/resource-types.ts";

/** What the target of an entry is in, as JSON. Null: it is deleted, or there is none. */
export interface NamedRow {
  inComponent: string | null;
  ofDeployment: string | null;
  inEnvironment: string | null;
}

interface Log {
  table: "audit_log" | "changelog_entries";
  target: "target" | "record";
  /** A field of the target, as it was before or after. */
  fieldOf: (version: "before" | "after", name: string) => SQL;
}

/**
 * The columns of what a target is in. Read by ID, as the columns are selected: a join would read the tables of all
 * types for each entry. Tombstones belong to no organization.
 */
export function parentColumns({ table, target, fieldOf }: Log) {
  const column = (name: string) => sql.raw(`${table}.${name}`);
  const [type, id] = [column(`${target}_type`), column(`${target}_id`)];
  const valueIn = (parents: string, name: string) =>
    sql`(select ${sql.raw(name)} from ${sql.raw(parents)} where id = ${id})`;
  const fieldIn = (name: string) => sql`${fieldOf("after", name)}, ${fieldOf("before", name)}`;
  const named = (parents: string, parentId: SQL, name = sql`name`) =>
    sql<string | null>`(select json_object('id', id, 'name', ${name}) from ${sql.raw(parents)}
      where id = ${parentId} and organization_id = ${column("organization_id")})`;
  const environmentId = sql`coalesce(${fieldIn("environment_id")}, case ${type}
    when 'variable' then ${valueIn("variables", "environment_id")}
    when 'component' then ${valueIn("components", "environment_id")}
    when 'stack' then ${valueIn("stacks", "environment_id")}
    when 'deployment' then ${valueIn("deployments", "environment_id")}
    when 'attempt' then ${valueIn("attempts", "environment_id")} end)`;
  const componentId = sql`iif(${type} = 'variable',
    coalesce(${fieldIn("component_id")}, ${valueIn("variables", "component_id")}), null)`;
  const deploymentId = sql`case ${type} when 'deployment' then ${id}
    when 'attempt' then ${valueIn("attempts", "deployment_id")} end`;
  const content = sql`coalesce(substr(source ->> '$.git.commit.sha', 1, 7),
    substr(source ->> '$.registry.image', 1, 100)), 'trigger', trigger`;
  return {
    inComponent: named("components", componentId).as("in_component"),
    ofDeployment: named("deployments", deploymentId, content).as("of_deployment"),
    inEnvironment: named("environments", environmentId).as("in_environment"),
  };
}

/** The name that something has now. Null: it is deleted. */
export function namedColumn(
  from: "api_keys" | "projects" | "runner_tokens",
  id: SQL,
  organizationId: SQL,
) {
  return sql<string | null>`(select name from ${sql.raw(from)}
    where id = ${id} and organization_id = ${organizationId})`;
}

interface Target<Type extends string> {
  type: Type;
  id: string;
  name?: string | undefined;
  trigger?: DeploymentTrigger | undefined;
}

/** The target, then what it is in, from the inside to the outside. */
export function presentTargets<Type extends string>(
  target: Target<Type>,
  row: NamedRow,
  project?: { id: string; name: string | null } | null,
) {
  const parents = [
    parentOf("component", row.inComponent),
    parentOf("deployment", row.ofDeployment),
    parentOf("environment", row.inEnvironment),
    ...(project?.name ? [{ type: "project" as const, id: project.id, name: project.name }] : []),
  ].filter((each) => each !== undefined);
  const same = parents.find(({ id }) => id === target.id);
  const others = parents.filter((each) => each !== same);
  return [{ ...same, ...target, name: target.name ?? same?.name }, ...others];
}

function parentOf<Type extends "component" | "deployment" | "environment">(
  type: Type,
  json: string | null,
): Target<Type> | undefined {
  if (!json) return undefined;
  const { name, ...parent } = JSON.parse(json) as Omit<Target<Type>, "name"> & {
    name: string | null;
  };
  return { ...parent, type, name: name ?? undefined };
}
