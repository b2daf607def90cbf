import { newCanarySecret } from "./canary-secrets.ts";
import type { Parsed } from "./client.ts";
import { copiesOf } from "./template.ts";
import { newProject, newWorld, type World } from "./world.ts";

interface VariableScopes {
  world: World;
  project: Parsed;
  /** The path of the environment's variables. */
  environment: string;
  /** The path of the component's variables. */
  component: string;
}

const newFixture = copiesOf(async () => {
  const world = await newWorld();
  const project = await newProject(world.client);
  const components = `/v1/environments/${project.default_environment_id}/components`;
  const { body } = await world.client.post(components, { name: "api", kind: "service" });
  return { world, project, componentId: String(body.id) };
});

/** A new project, with the environment and the component that its variables belong to. */
export async function newVariableScopes(): Promise<VariableScopes> {
  const { world, project, componentId } = await newFixture();
  const environment = `/v1/environments/${project.default_environment_id}/variables`;
  return { world, project, environment, component: `/v1/components/${componentId}/variables` };
}

export const variable = (name: string, value = newCanarySecret(), storage_method = "secret") => ({
  name,
  storage_method,
  value,
});

export const reveal = async ({ client }: Pick<World, "client">, id: string) =>
  (await client.get(`/v1/variables/${id}/value`)).body;

export const namesOf = (reply: { body: Parsed }): string[] =>
  reply.body.data.map(({ name }: Parsed) => name).toSorted();

export const byName = (a: Parsed, b: Parsed) => (a.name < b.name ? -1 : 1);
