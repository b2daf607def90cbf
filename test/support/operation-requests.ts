import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Client, Parsed, Reply } from "./client.ts";
import { exampleBody, type Operation, operations } from "./contract.ts";
import { createMissing, pathWith, uniqueName } from "./created.ts";
import { freezeTime } from "./frozen-time.ts";
import { Instrumented } from "./instruments.ts";
import { newDelivery, newIntegration, newRecovery } from "./integrations.ts";
import { ISSUER, Issuer } from "./issuer.ts";
import { protect } from "./protection.ts";
import { copiesOf } from "./template.ts";
import {
  accept,
  type CredentialKind,
  connect,
  join,
  newDeployment,
  newInside,
  newInvitation,
  newKey,
  newPool,
  newProject,
  newResource,
  newServiceAccount,
  newTrust,
  newWorld,
  type Person,
  signIn,
  type World,
} from "./world.ts";

export const withApiKey = operations.filter(({ security }) =>
  security.some((each) => "api_key" in each),
);
export const isRead = (each: Operation) => each.method === "GET" && each["x-writes"] !== true;

/** Ends a deployment without a runner. */
async function pretendSuccess(id: string): Promise<void> {
  await env.DB.prepare("update deployments set status = 'succeeded' where id = ?").bind(id).run();
}

async function pretendInstallation(id: string): Promise<void> {
  await env.DB.prepare("update integrations set type = 'slack', confirm_by = 4e12 where id = ?")
    .bind(id)
    .run();
}

export interface Fixture {
  world: World;
  /** By the names of the path parameters. */
  ids: Record<string, string>;
  project: Parsed;
  environmentId: string;
  /** Of a member who is in no project. */
  outsiderId: string;
}

const newFixture = copiesOf(async (): Promise<Fixture> => {
  const world = await newWorld();
  const project = await newProject(world.client);
  const inside = await join(world);
  const members = `/v1/projects/${project.id}/members`;
  await world.client.post(members, { member_ids: [inside.membershipId] });
  const { body: staging } = await world.client.post(`/v1/projects/${project.id}/environments`, {
    name: "other",
  });
  const pool = await newPool(world, [staging.id]);
  const within = await newInside(world.client, staging.id);
  await connect(world.client, project.id);
  const deployment = await newDeployment(world.client, staging.id);
  const integration = await newIntegration(world.client, project.id);
  const serviceAccountId = await newServiceAccount(world);
  const ids: Record<string, string> = {
    deployment_id: deployment.id,
    resource_id: await newResource(String(within["stack_id"])),
    pool_id: pool.id,
    token_id: pool.tokenId,
    ...within,
    org_id: world.id,
    project_id: project.id,
    integration_id: integration.id,
    delivery_id: await newDelivery(integration.id),
    recovery_id: await newRecovery(integration.id),
    member_id: inside.membershipId,
    membership_id: serviceAccountId,
    trust_id: await newTrust(world, { membershipId: serviceAccountId }),
    key_id: inside.keyId,
    invitation_id: (await newInvitation(world)).id,
    session_id: (await signIn(world)).sessionId,
    member_session_id: (await signIn(inside)).sessionId,
    name: "api-5xx",
  };
  Object.assign(ids, await createMissing(world.client, ids));
  const { membershipId: outsiderId } = await join(world);
  return { world, ids, project, environmentId: staging.id, outsiderId };
});

/** Files share this module if they share a runtime, but each has an empty database. */
const shared = new Map<string, Promise<Fixture>>();

/** Writes that end records that others need. */
const NEEDS_OWN_FIXTURE =
  /^(cancel|confirm|delete|disconnect|remove|resume|revoke|rotate)|^(create(Approval|Freeze|ProjectFreeze|Recovery)|order(Environments|Stacks)|overrideDeployment|replaceProtection)$/;

function fixtureOf(operation: Operation, needsOwn: boolean): Promise<Fixture> {
  if (needsOwn || NEEDS_OWN_FIXTURE.test(operation.operationId)) return newFixture();
  const key = `${expect.getState().testPath} ${isRead(operation)}`;
  const fixture = shared.get(key) ?? newFixture();
  shared.set(key, fixture);
  return fixture;
}

async function bodyOf(operation: Operation, fixture: Fixture) {
  const { world, project, environmentId, ids } = fixture;
  const body = exampleBody(operation);
  if (!body) return undefined;
  const { default_environment_id } = project;
  const outsider = "member_ids" in body ? await join(world) : undefined;
  const replacements = {
    default_environment_id,
    environment_ids:
      operation.operationId === "orderEnvironments"
        ? [environmentId, default_environment_id]
        : [environmentId],
    member_ids: [outsider?.membershipId],
    stack_ids: [ids["second_stack_id"], ids["stack_id"]],
    name: uniqueName(body["name"]),
    patch: [],
    environment_id: environmentId,
    configuration: {},
    email: `${crypto.randomUUID()}@example.com`,
    issuer: ISSUER,
    since: new Date(Date.now() - 60_000).toISOString(),
    until: undefined,
    membership_id: ids["membership_id"],
    // A stack's component costs a further query.
    component_id: undefined,
  };
  for (const [name, value] of Object.entries(replacements)) if (name in body) body[name] = value;
  if (operation.operationId === "updateIntegration") {
    body["url"] = "https://hooks.example.com/another";
  }
  return body;
}

const OWN = { isOwn: true };

interface Prepared {
  worker: Instrumented;
  fixture: Fixture;
  caller: Person;
  /** In the same isolate, or in another one. */
  send(options?: SendOptions): Promise<Reply>;
}

interface SendOptions {
  method?: string;
  headers?: Record<string, string>;
  worker?: Instrumented;
  /** By default the caller. */
  client?: Client;
  /** In place of that of the case or of the example. */
  body?: unknown;
  query?: string;
}

interface PrepareOptions {
  /** By default an owner of the organization. */
  newCaller?(fixture: Fixture): Promise<Person>;
  /** Whether no other request uses the fixture. */
  needsOwnFixture?: boolean;
  /** In place of the example of the document. */
  special?: {
    body?(fixture: Fixture): object;
    query?: string;
    prepare?(fixture: Fixture): Promise<unknown>;
  };
}

/** Of the deployment, by any owner. */
async function requireApproval({ world, environmentId }: Fixture): Promise<void> {
  await protect(world.client, environmentId, {
    approvals: { required: 1, approvers: { role: "owner" }, prevent_self_approval: false },
  });
}

/** After all others, until somebody sets an order. */
async function addSecondStack({ world, environmentId, ids }: Fixture): Promise<void> {
  const stacks = `/v1/environments/${environmentId}/stacks`;
  const { id } = (await world.client.post(stacks, { name: "second" })).body;
  await env.DB.prepare("update stacks set created_at = 4e12 where id = ?").bind(id).run();
  ids["second_stack_id"] = id;
}

/** A successful request of an operation, for an isolate that has cached the key. */
export async function prepare(
  operation: Operation,
  credential: CredentialKind = "api_key",
  { newCaller, needsOwnFixture = false, special }: PrepareOptions = {},
): Promise<Prepared> {
  const worker = new Instrumented({ network: (await Issuer.create()).fetch });
  const fixture = await fixtureOf(operation, needsOwnFixture);
  const { world, ids } = fixture;
  const { operationId } = operation;
  if (operationId.endsWith("Protection")) {
    const rules = { access: { deploy: { role: "owner" } } };
    await protect(world.client, fixture.environmentId, rules);
  }
  if (operationId === "orderStacks") await addSecondStack(fixture);
  if (["createApproval", "overrideDeployment"].includes(operationId))
    await requireApproval(fixture);
  else if (operationId !== "cancelDeployment") await pretendSuccess(String(ids["deployment_id"]));
  if (operationId === "confirmIntegration")
    await pretendInstallation(String(ids["integration_id"]));
  await special?.prepare?.(fixture);
  const path = pathWith(operation, ids);
  const own = special?.body?.(fixture) ?? (await bodyOf(operation, fixture));
  const newOwner = () => (operationId === "deleteAccount" ? accept(world) : newKey(world, OWN));
  const key = await (newCaller ? newCaller(fixture) : newOwner());
  const caller = credential === "session" ? await signIn(key) : key;
  // On a busy machine, a call to the limiter would time out, and be repeated or replaced.
  freezeTime();
  await caller.client.via(worker.fetch).get("/v1/orgs");
  worker.forget();
  return {
    worker,
    fixture,
    caller,
    send: ({ method, headers, worker: other = worker, client, body = own, query } = {}) =>
      (client ?? caller.client)
        .via(other.fetch)
        .request(method ?? operation.method, path + (query ?? special?.query ?? ""), body, headers),
  };
}
