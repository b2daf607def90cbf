import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { POLICIES } from "../../src/rate-limits/policies.ts";
import type { Caller } from "./caller.ts";

const STACKS = LIMITS.deploymentStacks.value;
const RUNNERS = 5;
const VALUE = "v".repeat(200);

/** One request of the flood. */
type Send = (caller: Caller) => Promise<{ status: number }>;

export interface Flood {
  /** The most expensive valid requests of 20 keys and 5 runner tokens, until it is aborted. */
  sendWorst(pauseMs: number, signal: AbortSignal): Promise<Counts>;
  /** As many requests that are refused before they reach the database. */
  sendRefused(pauseMs: number, signal: AbortSignal): Promise<Counts>;
}

export interface Counts {
  admitted: number;
  refused: number;
}

/** @param callers Of one owner; the first makes what the requests are about. */
export async function newFlood(callers: readonly Caller[], d1: D1Database): Promise<Flood> {
  const [owner] = callers;
  if (!owner) throw new Error("There is no key");
  const target = await newTarget(owner, d1);
  const requests = requestsOf(target);
  const runners = [];
  for (const runner of target.runners) runners.push(await newRunner(owner, runner));
  const worst = [
    ...callers.map((caller, at) => () => requests[(at + turn()) % requests.length]?.(caller)),
    ...runners,
  ];
  const refused = callers[1] ?? owner;
  return {
    sendWorst: (pauseMs, signal) => repeat(worst, pauseMs, signal),
    sendRefused: async (pauseMs, signal) => {
      for (let sent = 0; sent < POLICIES.reveal.limit; sent += 1) await reveal(refused);
      return repeat(
        Array.from(worst, () => () => reveal(refused)),
        pauseMs,
        signal,
      );
    },
  };
}

let turns = 0;

function turn(): number {
  turns += 1;
  return turns;
}

const reveal: Send = (caller) => caller.send("GET", "/v1/variables/0000000000000000000000/value");

async function repeat(
  sends: readonly (() => Promise<{ status: number }> | undefined)[],
  pauseMs: number,
  signal: AbortSignal,
): Promise<Counts> {
  const counts: Counts = { admitted: 0, refused: 0 };
  const connection = async (send: (typeof sends)[number]) => {
    while (!signal.aborted) {
      const reply = await send();
      counts[reply?.status === 429 ? "refused" : "admitted"] += 1;
      await sleep(pauseMs);
    }
  };
  await Promise.all(sends.map(connection));
  return counts;
}

/** Of a runner: an environment with one stack. */
interface RunnerTarget {
  environmentId: string;
  stackId: string;
  token: string;
}

interface Target {
  projectId: string;
  /** With as many stacks as a deployment may have. */
  environmentId: string;
  organizationId: string;
  runners: RunnerTarget[];
}

async function newTarget(owner: Caller, d1: D1Database): Promise<Target> {
  const project = await owner.call("POST", "/v1/projects", { name: "flood" });
  const { id: projectId, default_environment_id: environmentId, org_id: organizationId } = project;
  const connection = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };
  await owner.call("PUT", `/v1/projects/${projectId}/connection`, connection);
  const addStack = async (environment: string): Promise<string> =>
    (await owner.call("POST", `/v1/environments/${environment}/stacks`, { name: "web" })).id;
  await copyStack(d1, await addStack(environmentId), STACKS - 1);
  const pools = `/v1/orgs/${organizationId}/runner-pools`;
  const runners: RunnerTarget[] = [];
  for (let at = 0; at < RUNNERS; at += 1) {
    const environments = `/v1/projects/${projectId}/environments`;
    const { id } = await owner.call("POST", environments, { name: `runner-${at}` });
    const pool = await owner.call("POST", pools, { name: `pool-${at}`, environment_ids: [id] });
    const made = await owner.call("POST", `${pools}/${pool.id}/tokens`, { name: "flood" });
    runners.push({ environmentId: id, stackId: await addStack(id), token: made.token });
  }
  return { projectId, environmentId, organizationId, runners };
}

/** In the database, because so many requests would use the limits that the flood is to use. */
async function copyStack(d1: D1Database, stackId: string, copies: number): Promise<void> {
  const stack = await d1.prepare("select * from stacks where id = ?").bind(stackId).first();
  const columns = Object.keys(stack ?? {});
  const values = columns.map(
    (name) => ({ id: "value ->> 'id'", name: "value ->> 'name'" })[name] ?? name,
  );
  const made = Array.from({ length: copies }, (_, at) => ({
    id: newId(systemClock),
    name: `stack-${at}`,
  }));
  await d1
    .prepare(
      `insert into stacks (${columns.join(", ")}) select ${values
        .map((value, at) => (value === columns[at] ? `stacks.${value}` : value))
        .join(", ")} from stacks, json_each(?) where stacks.id = ?`,
    )
    .bind(JSON.stringify(made), stackId)
    .run();
}

/** For callers: writes and reads that cost the database most. */
function requestsOf({ projectId, environmentId, organizationId }: Target): Send[] {
  const variables = Array.from({ length: LIMITS.writtenVariables.value }, (_, at) => ({
    name: `SETTING_${at}`,
    storage_method: "string",
    value: VALUE,
  }));
  const environment = `/v1/environments/${environmentId}`;
  const large = { settings: Array.from({ length: 1_000 }, (_, at) => `${at} ${VALUE}`) };
  const write =
    (method: string, path: string, body: () => unknown): Send =>
    (caller) =>
      caller.send(method, path, body());
  const read =
    (path: string): Send =>
    (caller) =>
      caller.send("GET", path);
  return [
    write("PUT", `${environment}/variables`, () => ({
      mode: "merge",
      variables: variables.map((each) => ({ ...each, value: `${Math.random()}${VALUE}` })),
    })),
    write("POST", `${environment}/deployments`, () => ({})),
    write("PATCH", environment, () => ({ configuration: { ...large, at: Math.random() } })),
    read(`${environment}/deployments?limit=240`),
    read(`${environment}/variables?limit=240`),
    read(`${environment}/stacks?limit=240`),
    read(`/v1/projects/${projectId}/changelog?limit=240`),
    read(`/v1/projects/${projectId}/events?limit=240`),
    read(`/v1/orgs/${organizationId}/audit-log?limit=240`),
    read(`/v1/projects/${projectId}/overview`),
  ];
}

/** Starts a deployment, and reports as many new resources of its stack with each request as it may. */
async function newRunner(
  owner: Caller,
  { environmentId, stackId, token }: RunnerTarget,
): Promise<() => Promise<{ status: number }>> {
  await owner.call("POST", `/v1/environments/${environmentId}/deployments`, {});
  const runner = owner.with(token);
  const claim = { request_id: crypto.randomUUID() };
  const { attempt_id, lease_token } = await runner.call("POST", "/v1/runner/claims", claim);
  const headers = { "lease-token": lease_token };
  const attempt = `/v1/runner/attempts/${attempt_id}`;
  await runner.call("POST", `${attempt}/start`, undefined, headers);
  let seq = 0;
  return () => {
    seq += 1;
    const resources = Array.from({ length: LIMITS.reportedResources.value }, (_, at) => ({
      template_id: `resource-${seq}-${at}`,
      provider_id: crypto.randomUUID(),
      resource_type: "AWS::S3::Bucket",
      status: "CREATE_IN_PROGRESS",
    }));
    const report = { seq, status: "in_progress", resources };
    return runner.send("PUT", `${attempt}/stacks/${stackId}`, report, headers);
  };
}
