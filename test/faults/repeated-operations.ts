import { connect, newIntegration, newProject, newWorld, type World } from "../support/world.ts";

/** An organization whose changes are delivered, with environments to change. */
export interface Fixture {
  world: World;
  projectId: string;
  environments: readonly string[];
}

export const TARGETS = 3;
export const VARIANTS = 3;

/** @param fetch An isolate whose deliveries nobody sends. */
export async function newFixture(fetch: (request: Request) => Promise<Response>): Promise<Fixture> {
  const world = await newWorld();
  const client = world.client.via(fetch);
  const { id: projectId, default_environment_id } = await newProject(client);
  await connect(client, projectId);
  const environments = [default_environment_id];
  while (environments.length < TARGETS) {
    const body = { name: `e${environments.length}` };
    environments.push((await client.post(`/v1/projects/${projectId}/environments`, body)).body.id);
  }
  await newIntegration(client, projectId, ["changelog"]);
  return { world, projectId, environments };
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

/** Add a line for each kind of write that can be repeated. */
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
      stack_ids: [],
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
