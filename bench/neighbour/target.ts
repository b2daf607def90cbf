import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Caller } from "./caller.ts";

const RUNNERS = 5;
/** Of the configuration of each ordered environment. */
const ORDERED_BYTES = 200 * 1_024;
const COMPONENT = { name: "web", kind: "service" };
const RESOURCE = {
  template_id: "Bucket",
  physical_id: "bucket",
  resource_type: "AWS::S3::Bucket",
  status: "CREATE_COMPLETE",
};

/** Of a freeze, long after the benchmark: before, deployments start. */
export const PERIOD = {
  starts_at: "2999-01-01T00:00:00.000Z",
  ends_at: "2999-01-02T00:00:00.000Z",
};

/** Of paths, for which a target has an ID. */
export const PARAMETERS = [
  "org_id",
  "project_id",
  "environment_id",
  "stack_id",
  "component_id",
  "variable_id",
  "deployment_id",
  "freeze_id",
  "pool_id",
  "token_id",
  "key_id",
  "member_id",
  "membership_id",
  "invitation_id",
] as const;

/** Of a runner: a deployment that it has started. */
export interface RunnerTarget {
  runner: Caller;
  attemptPath: string;
  headers: Readonly<Record<string, string>>;
  environmentId: string;
  componentId: string;
  /** For reports. */
  stackId: string;
  deploymentId: string;
  /** In another stack, of which it reports nothing else. */
  resource: { id: string; stackId: string };
}

export interface Target {
  /** By the names of parameters. The environment has as many stacks as it may. */
  ids: Readonly<Record<(typeof PARAMETERS)[number], string>>;
  /** Of requests that would make those about the first ones fail. */
  other: { projectId: string; environmentId: string; componentId: string };
  /** A project with as many environments as can be ordered. */
  ordered: { projectId: string; environmentIds: readonly string[] };
  runners: readonly [RunnerTarget, ...RunnerTarget[]];
}

type Create = (path: string, body: object) => Promise<string>;

/** Makes what a flood is about through the API, except most of the stacks. */
export async function newTarget(owner: Caller, d1: D1Database): Promise<Target> {
  const create: Create = async (path, body) => {
    const { id, membership_id } = await owner.call("POST", path, body);
    return id ?? membership_id;
  };
  const project = await owner.call("POST", "/v1/projects", { name: "flood" });
  const { id: projectId, default_environment_id: environmentId, org_id: organizationId } = project;
  const connection = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };
  await owner.call("PUT", `/v1/projects/${projectId}/connection`, connection);
  const environments = `/v1/projects/${projectId}/environments`;
  const newRunner = async (name: string) =>
    startRunner(owner, create, { organizationId, id: await create(environments, { name }) });
  const first = await newRunner("runner");
  const runners: [RunnerTarget, ...RunnerTarget[]] = [first];
  for (let at = 1; at < RUNNERS; at += 1) runners.push(await newRunner(`runner-${at}`));
  const otherEnvironmentId = await create(environments, { name: "other" });
  const other = {
    projectId: await create("/v1/projects", { name: "other" }),
    environmentId: otherEnvironmentId,
    componentId: await create(`/v1/environments/${otherEnvironmentId}/components`, COMPONENT),
  };
  const ids = await idsOf(create, { organizationId, projectId, environmentId, other });
  const others = await create(`/v1/environments/${otherEnvironmentId}/stacks`, { name: "web" });
  for (const id of [ids.stack_id, others]) {
    await copyRow(d1, { table: "stacks", id, copies: LIMITS.stacksOfEnvironment.value - 1 });
  }
  const ordered = await newOrderedProject(owner, d1);
  await d1
    .prepare("update deployments set status = 'succeeded' where id = ?")
    .bind(ids.deployment_id)
    .run();
  return { ids, other, ordered, runners };
}

async function newOrderedProject(owner: Caller, d1: D1Database): Promise<Target["ordered"]> {
  const project = await owner.call("POST", "/v1/projects", { name: "ordered" });
  const { id: projectId, default_environment_id: id } = project;
  const copies = LIMITS.orderedEnvironments.value - 1;
  const configuration = { text: "x".repeat(ORDERED_BYTES) };
  await owner.call("PUT", `/v1/environments/${id}`, { name: "first", configuration });
  const environmentIds = [id, ...(await copyRow(d1, { table: "environments", id, copies }))];
  return { projectId, environmentIds };
}

interface Owners {
  organizationId: string;
  projectId: string;
  environmentId: string;
  other: Target["other"];
}

async function idsOf(
  create: Create,
  { organizationId, projectId, environmentId, other }: Owners,
): Promise<Target["ids"]> {
  const environment = `/v1/environments/${environmentId}`;
  const organization = `/v1/orgs/${organizationId}`;
  const pools = `${organization}/runner-pools`;
  const poolId = await create(pools, { name: "idle", environment_ids: [environmentId] });
  const person = { email: "flood@example.com", name: "Flood", role: "member" };
  const value = { name: "NAME", storage_method: "string", value: "value" };
  const freeze = { name: "next year", reason: "Idle", ...PERIOD, environment_ids: [environmentId] };
  return {
    org_id: organizationId,
    project_id: projectId,
    environment_id: environmentId,
    stack_id: await create(`${environment}/stacks`, { name: "web" }),
    component_id: await create(`${environment}/components`, COMPONENT),
    variable_id: await create(`/v1/environments/${other.environmentId}/variables`, value),
    deployment_id: await create(`${environment}/deployments`, {}),
    freeze_id: await create(`/v1/projects/${projectId}/freezes`, freeze),
    pool_id: poolId,
    token_id: await create(`${pools}/${poolId}/tokens`, { name: "idle" }),
    key_id: await create(`${organization}/api-keys`, { name: "idle" }),
    member_id: await create(`${organization}/members`, person),
    membership_id: await create(`${organization}/service-accounts`, { name: "ci", role: "member" }),
    invitation_id: await create(`${organization}/invitations`, {
      email: "invited@example.com",
      role: "member",
    }),
  };
}

async function startRunner(
  owner: Caller,
  create: Create,
  { organizationId, id: environmentId }: { organizationId: string; id: string },
): Promise<RunnerTarget> {
  const environment = `/v1/environments/${environmentId}`;
  const stackId = await create(`${environment}/stacks`, { name: "web" });
  const otherStackId = await create(`${environment}/stacks`, { name: "other" });
  const componentId = await create(`${environment}/components`, COMPONENT);
  const deploymentId = await create(`${environment}/deployments`, {});
  const pools = `/v1/orgs/${organizationId}/runner-pools`;
  const poolId = await create(pools, { name: environmentId, environment_ids: [environmentId] });
  const { token } = await owner.call("POST", `${pools}/${poolId}/tokens`, { name: "flood" });
  const runner = owner.with(token);
  const claim = { request_id: crypto.randomUUID() };
  const { attempt_id, lease_token } = await runner.call("POST", "/v1/runner/claims", claim);
  const headers = { "lease-token": lease_token };
  const attemptPath = `/v1/runner/attempts/${attempt_id}`;
  await runner.call("POST", `${attemptPath}/start`, undefined, headers);
  const report = { seq: 1, status: "in_progress", resources: [RESOURCE] };
  await runner.call("PUT", `${attemptPath}/stacks/${otherStackId}`, report, headers);
  const { data } = await owner.call("GET", `/v1/stacks/${otherStackId}/resources`);
  const resource = { id: data[0].id, stackId: otherStackId };
  const ids = { environmentId, componentId, stackId, deploymentId };
  return { runner, attemptPath, headers, ...ids, resource };
}

interface Copies {
  table: "stacks" | "environments";
  id: string;
  copies: number;
}

/** In the database, because so many requests would use the limits that the flood is to use. Returns the IDs. */
async function copyRow(d1: D1Database, { table, id, copies }: Copies): Promise<string[]> {
  const row = await d1.prepare(`select * from ${table} where id = ?`).bind(id).first();
  const columns = Object.keys(row ?? {});
  const values = columns.map(
    (name) => ({ id: "value ->> 'id'", name: "value ->> 'name'" })[name] ?? `${table}.${name}`,
  );
  const made = Array.from({ length: copies }, (_, at) => ({
    id: newId(systemClock),
    name: `copy-${at}`,
  }));
  await d1
    .prepare(
      `insert into ${table} (${columns.join(", ")})
       select ${values.join(", ")} from ${table}, json_each(?) where ${table}.id = ?`,
    )
    .bind(JSON.stringify(made), id)
    .run();
  return made.map((each) => each.id);
}
