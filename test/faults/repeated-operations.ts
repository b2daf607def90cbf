import { env } from "cloudflare:workers";
import type { Client } from "../support/client.ts";
import { newDelivery, newIntegration } from "../support/integrations.ts";
import {
  connect,
  newDeployment,
  newKey,
  newProject,
  newServiceAccount,
  newStack,
  newWorld,
  type World,
} from "../support/world.ts";

type Fetch = (request: Request) => Promise<Response>;

/** An organization whose changes are delivered, with environments to change. */
export interface Fixture {
  world: World;
  /** Of an isolate that keeps its cache. */
  fetch: Fetch;
  projectId: string;
  integrationId: string;
  environments: readonly string[];
}

export const TARGETS = 3;
export const VARIANTS = 3;

/** @param fetch An isolate whose deliveries nobody sends. */
export async function newFixture(fetch: Fetch): Promise<Fixture> {
  const world = await newWorld();
  const client = world.client.via(fetch);
  const { id: projectId, default_environment_id } = await newProject(client);
  await connect(client, projectId);
  const environments = [default_environment_id];
  while (environments.length < TARGETS) {
    const body = { name: `e${environments.length}` };
    environments.push((await client.post(`/v1/projects/${projectId}/environments`, body)).body.id);
  }
  for (const id of environments) await newStack(client, id);
  const { id: integrationId } = await newIntegration(client, projectId, ["changelog"]);
  return { world, fetch, projectId, integrationId, environments };
}

/** A request that is sent with an `Idempotency-Key`. */
export interface RepeatableRequest {
  method: "POST" | "PATCH";
  path: string;
  body?: object;
}

/** Requests with an `Idempotency-Key`, which histories repeat. */
export interface Operation {
  method: "POST" | "PATCH";
  /** Of the record or the collection. Requests of one target can be without an effect. */
  path(fixture: Fixture, target: number): string;
  /** Some variants are conflicts in some histories. */
  body(variant: number): object;
  /** The response shows secrets. */
  hasSecrets?: boolean;
}

const environmentOf = ({ environments }: Fixture, target: number) =>
  `/v1/environments/${environments[target % environments.length]}`;

export function requestOf(
  { method, path, body }: Operation,
  fixture: Fixture,
  { target, variant }: { target: number; variant: number },
): RepeatableRequest {
  return { method, path: path(fixture, target), body: body(variant) };
}

/** Operations on the records of every fixture, for random histories. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "create an environment": {
    method: "POST",
    path: ({ projectId }) => `/v1/projects/${projectId}/environments`,
    body: (variant) => ({ name: `e${variant}`, configuration: { replicas: variant } }),
  },
  "rename an environment": {
    method: "PATCH",
    path: environmentOf,
    body: (variant) => ({ name: `e${variant}` }),
  },
  "create a component": {
    method: "POST",
    path: (fixture, target) => `${environmentOf(fixture, target)}/components`,
    body: (variant) => ({ name: `c${variant}`, kind: "service" }),
  },
  "create a deployment": {
    method: "POST",
    path: (fixture, target) => `${environmentOf(fixture, target)}/deployments`,
    body: (variant) => ({
      queue: "fifo",
      patch: [{ op: "add", path: "/a", value: variant }],
    }),
  },
  "create an API key": {
    method: "POST",
    path: ({ world }) => `/v1/orgs/${world.id}/api-keys`,
    body: (variant) => ({ name: `key ${variant}`, role: "member" }),
    hasSecrets: true,
  },
};

/** Requests of one operation, each of which has an effect. */
export interface RequestSource {
  /** Also writes what this request needs. */
  next(variant: number): Promise<RepeatableRequest>;
  /** Throws unless the last request has the effect that its rows do not show. */
  verify?(): Promise<void>;
}

/** Writes what all requests of the source need. */
export type NewSource = (fixture: Fixture) => Promise<RequestSource>;

/** The same request each time, apart from its body. */
function repeat(
  method: RepeatableRequest["method"],
  path: string,
  body?: (variant: number) => object,
): RequestSource {
  return { next: async (variant) => ({ method, path, ...(body && { body: body(variant) }) }) };
}

const simpleSource =
  (operation: Operation): NewSource =>
  async (fixture) => ({
    next: async (variant) => requestOf(operation, fixture, { target: 1, variant }),
  });

const clientOf = ({ world, fetch }: Fixture) => world.client.via(fetch);
const integrationOf = ({ projectId, integrationId }: Fixture) =>
  `/v1/projects/${projectId}/notification-integrations/${integrationId}`;

async function create(client: Client, path: string, body: object): Promise<string> {
  const reply = await client.post(path, body);
  if (reply.status !== 201) throw new Error(`The record was not created: ${reply.text}`);
  return reply.body.id;
}

const overlap = (variant: number) => ({ overlap_seconds: 3_600 + variant });

/** Of `OPERATIONS`. */
export const SIMPLE_SOURCES = Object.entries(OPERATIONS).map(
  ([name, operation]) => [name, simpleSource(operation)] as const,
);

const SOURCES_WITH_BODIES: Readonly<Record<string, NewSource>> = {
  ...Object.fromEntries(SIMPLE_SOURCES),
  "create a deployment of two stacks": async (fixture) => {
    const environment = environmentOf(fixture, 1);
    const client = clientOf(fixture);
    const stackIds = [
      await create(client, `${environment}/stacks`, { name: "network" }),
      await create(client, `${environment}/stacks`, { name: "database" }),
    ];
    return repeat("POST", `${environment}/deployments`, (variant) => ({
      stack_ids: stackIds,
      queue: "fifo",
      reason: `release ${variant}`,
    }));
  },
  "create a recovery": async (fixture) => ({
    next: async (variant) => {
      // Two recoveries of an integration cannot run at once.
      await env.DB.prepare("update recoveries set status = 'finished' where integration_id = ?")
        .bind(fixture.integrationId)
        .run();
      const since = new Date(Date.now() - (variant + 1) * 60_000).toISOString();
      return { method: "POST", path: `${integrationOf(fixture)}/recoveries`, body: { since } };
    },
  }),
  "rotate an API key": async (fixture) => {
    const path = `/v1/orgs/${fixture.world.id}/api-keys`;
    const id = await create(clientOf(fixture), path, { name: "ci", role: "member" });
    return repeat("POST", `${path}/${id}/rotate`, overlap);
  },
  "rotate a runner token": async (fixture) => {
    const client = clientOf(fixture);
    const pools = `/v1/orgs/${fixture.world.id}/runner-pools`;
    const pool = await create(client, pools, { name: "eu", environment_ids: fixture.environments });
    const tokens = `${pools}/${pool}/tokens`;
    const id = await create(client, tokens, { name: "runner" });
    return repeat("POST", `${tokens}/${id}/rotate`, overlap);
  },
};

const ROLES = ["admin", "member"] as const;

const OTHER_SOURCES: Readonly<Record<string, NewSource>> = {
  "ping an integration": async (fixture) => repeat("POST", `${integrationOf(fixture)}/ping`),
  "deliver again": async (fixture) => {
    const id = await newDelivery(fixture.integrationId);
    return repeat("POST", `${integrationOf(fixture)}/deliveries/${id}/redeliver`);
  },
  "rotate the secret of an integration": async (fixture) =>
    repeat("POST", `${integrationOf(fixture)}/rotate-secret`),
  redeploy: async (fixture) => {
    const { id } = await newDeployment(clientOf(fixture), String(fixture.environments[1]));
    return repeat("POST", `/v1/deployments/${id}/redeploy`);
  },
  "cancel a deployment": async (fixture) => ({
    next: async () => {
      const { id } = await newDeployment(clientOf(fixture), String(fixture.environments[1]));
      return { method: "PATCH", path: `/v1/deployments/${id}/cancel` };
    },
  }),
  "change the role of a service account": async (fixture) => {
    const { world, fetch } = fixture;
    const membershipId = await newServiceAccount(world, "admin");
    const key = await newKey(world, { membershipId, role: "admin" });
    const client = key.client.via(fetch);
    const all = `/v1/orgs/${world.id}/service-accounts`;
    let role: (typeof ROLES)[number] = "admin";
    const verify = async () => {
      const { status } = await client.get(all);
      const expected = role === "admin" ? 200 : 403;
      if (status !== expected) throw new Error(`A key of the new role ${role} gets ${status}`);
    };
    return {
      verify,
      next: async (variant) => {
        // The isolate caches the key with its previous role.
        await verify();
        role = ROLES[variant % ROLES.length] ?? "admin";
        return { method: "PATCH", path: `${all}/${membershipId}`, body: { role } };
      },
    };
  },
};

/** Whose requests differ by their bodies only. */
export const OPERATIONS_WITH_BODIES = Object.entries(SOURCES_WITH_BODIES);

/** Add a line for each kind of write that can be repeated. */
export const ALL_OPERATIONS = [...OPERATIONS_WITH_BODIES, ...Object.entries(OTHER_SOURCES)];
