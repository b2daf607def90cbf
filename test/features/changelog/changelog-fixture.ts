import { newCanarySecret } from "../../support/canary-secrets.ts";
import type { Parsed } from "../../support/client.ts";
import { operations } from "../../support/contract.ts";
import { createMissing } from "../../support/created.ts";
import { newIntegration } from "../../support/integrations.ts";
import { copiesOf } from "../../support/template.ts";
import {
  connect,
  join,
  newDeployment,
  newInside,
  newProject,
  newWorld,
  type Person,
  type World,
} from "../../support/world.ts";
import { writes } from "./changelog-harness.ts";

/** A project with one record of each type, and users with and without a role in it. */
export interface ChangelogFixture {
  world: World;
  project: Parsed;
  member: Person;
  outsiders: Person[];
  /** IDs by path parameter. */
  ids: Record<string, string>;
}

export const HOOK = `https://hooks.example.com/in?token=${encodeURIComponent(newCanarySecret())}`;

async function createFixture(): Promise<ChangelogFixture> {
  const world = await newWorld();
  const project = await newProject(world.client, { description: "Before." });
  const member = await join(world);
  const outsiders = [await join(world), await join(world)];
  await world.client.post(`/v1/projects/${project.id}/members`, {
    member_ids: [member.membershipId],
  });
  const { body: staging } = await world.client.post(`/v1/projects/${project.id}/environments`, {
    name: "staging",
    configuration: { replicas: 1 },
  });
  const inside = await newInside(world.client, staging.id);
  await connect(world.client, project.id);
  const deployment = await newDeployment(world.client, staging.id);
  await newIntegration(world.client, project.id, ["changelog"]);
  const integration = await newIntegration(world.client, project.id, [], HOOK);
  const ids = {
    ...inside,
    project_id: project.id,
    member_id: member.membershipId,
    integration_id: integration.id,
    deployment_id: deployment.id,
  };
  const reads = operations.filter(({ path }) => writes.some((each) => each.path === path));
  const missing = await createMissing(world.client, ids, reads);
  return { world, project, member, outsiders, ids: { ...ids, ...missing } };
}

export const newFixture = copiesOf(createFixture);
