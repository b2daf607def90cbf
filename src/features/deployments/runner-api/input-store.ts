import { eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { projectConnections } from "../connections/table.ts";
import { type AttemptKey, isAttempt } from "../deployments/index.ts";
import { attempts, deployments } from "../deployments/table.ts";

export type InputRow = Awaited<ReturnType<typeof findInput>>[number];

export interface StackOfInput {
  id: string;
  name: string;
  /** Null: the stack runs no single component. */
  componentId: string | null;
  componentName: string | null;
  outputs: Record<string, string>;
}

const { provider, accountId, region, roleArn, externalId, settings } = projectConnections;

/** What a started deployment deploys, and where. */
export function findInput(db: Database, attempt: AttemptKey) {
  return db
    .select({
      projectId: sql<string>`${projects.id}`.as("project_id"),
      projectName: sql<string>`${projects.name}`.as("project_name"),
      environmentName: sql<string>`${environments.name}`.as("environment_name"),
      configuration: deployments.configuration,
      stacks: sql<string>`(select json_group_array(json_object('id', item.id, 'name', item.name,
          'componentId', item.component_id, 'componentName', item.component_name,
          'outputs', json(item.outputs)))
        from (select stacks.id, stacks.name, components.id as component_id,
            components.name as component_name, stacks.outputs
          from deployment_stacks join stacks on stacks.id = deployment_stacks.stack_id
          left join components on components.id = stacks.component_id
          where deployment_stacks.deployment_id = deployments.id
          order by deployment_stacks.position) as item)`.as("stacks"),
      connection: { provider, accountId, region, roleArn, externalId, settings },
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .innerJoin(environments, eq(environments.id, attempts.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(projectConnections, eq(projectConnections.projectId, projects.id))
    .where(isAttempt(attempt));
}
