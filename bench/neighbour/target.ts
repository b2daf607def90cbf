import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Caller } from "./caller.ts";

const RUNNERS = 5;
const COMPONENT = { name: "web", kind: "service" };
const RESOURCE = {
  template_id: "Bucket",
  physical_id: "bucket",
  resource_type: "AWS::S3::Bucket",
  status: "CREATE_COMPLETE",
};

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
  ids: Readonly<Record<string, string>>;
  /** Of requests that would make those about the first ones fail. */
  other: { projectId: string; environmentId: string; componentId: string };
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
    await copyStack(d1, id, LIMITS.stacksOfEnvironment.value - 1);
  }
  await d1
    .prepare("update deployments set status = 'succeeded' where id = ?")
    .bind(ids.deployment_id)
    .run();
  return { ids, other, runners };
}

interface Owners {
  organizationId: string;
  projectId: string;
  environmentId: string;
  other: Target["other"];
}

async function idsOf(create: Create, { organizationId, projectId, environmentId, other }: Owners) {
  const environment = `/v1/environments/${environmentId}`;
  const organization = `/v1/orgs/${organizationId}`;
  const pools = `${organization}/runner-pools`;
  const poolId = await create(pools, { name: "idle", environment_ids: [environmentId] });
  const person = { email: "flood@example.com", name: "Flood", role: "member" };
  const value = { name: "NAME", storage_method: "string", value: "value" };
  return {
    org_id: organizationId,
    project_id: projectId,
    environment_id: environmentId,
    stack_id: await create(`${environment}/stacks`, { name: "web" }),
    component_id: await create(`${environment}/components`, COMPONENT),
    variable_id: await create(`/v1/environments/${other.environmentId}/variables`, value),
    deployment_id: await create(`${environment}/deployments`, {}),
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

/** In the database, because so many requests would use the limits that the flood is to use. */
async function copyStack(d1: D1Database, stackId: string, copies: number): Promise<void> {
  const stack = await d1.prepare("select * from stacks where id = ?").bind(stackId).first();
  const columns = Object.keys(stack ?? {});
  const values = columns.map(
    (name) => ({ id: "value ->> 'id'", name: "value ->> 'name'" })[name] ?? `stacks.${name}`,
  );
  const made = Array.from({ length: copies }, (_, at) => ({
    id: newId(systemClock),
    name: `stack-${at}`,
  }));
  await d1
    .prepare(
      `insert into stacks (${columns.join(", ")})
       select ${values.join(", ")} from stacks, json_each(?) where stacks.id = ?`,
    )
    .bind(JSON.stringify(made), stackId)
    .run();
}
