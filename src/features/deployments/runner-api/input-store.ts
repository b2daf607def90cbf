import { eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { type AttemptKey, CHECKED_OF_ATTEMPT, isAttempt } from "../deployments/index.ts";
import { attempts, deployments } from "../deployments/table.ts";

export type InputRow = Awaited<ReturnType<typeof findInput>>[number];

/** The needs that a configuration may have, by its text: `mayHaveNeeds` in SQL. */
const MAY_HAVE_NEEDS = sql`(instr(deployments.configuration, 'outputs.') or instr(deployments.configuration, '"needs"'))`;

/** A stack that is not deployed: ID, name and outputs. */
export type OtherStack = [id: string, name: string, outputs: Record<string, string>];

/** By the ID of their stack: those of its last success. */
export type OutputsOfStacks = Readonly<Record<string, Record<string, string>>>;

/** What a started deployment deploys, and where. */
export function findInput(db: Database, attempt: AttemptKey) {
  return db
    .select({
      projectId: environments.projectId,
      configuration: deployments.configuration,
      checked: CHECKED_OF_ATTEMPT.as("checked"),
      outputs: sql<string>`(select json_group_object(stacks.id, json(stacks.outputs))
        from deployment_stacks join stacks on stacks.id = deployment_stacks.stack_id
        where deployment_stacks.deployment_id = deployments.id)`.as("outputs"),
      others:
        sql<string>`iif(${MAY_HAVE_NEEDS}, (select json_group_array(json_array(stacks.id, stacks.name, json(stacks.outputs))
          order by stacks.name)
        from stacks where stacks.environment_id = deployments.environment_id and not exists (select 1
          from deployment_stacks as own where own.deployment_id = deployments.id and own.stack_id = stacks.id)), '[]')`.as(
          "other_stacks",
        ),
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .innerJoin(environments, eq(environments.id, attempts.environmentId))
    .where(isAttempt(attempt));
}
