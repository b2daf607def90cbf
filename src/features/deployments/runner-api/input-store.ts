import { eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { type AttemptKey, CHECKED_OF_ATTEMPT, isAttempt } from "../deployments/index.ts";
import { attempts, deployments } from "../deployments/table.ts";

export type InputRow = Awaited<ReturnType<typeof findInput>>[number];

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
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .innerJoin(environments, eq(environments.id, attempts.environmentId))
    .where(isAttempt(attempt));
}
