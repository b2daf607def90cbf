import type { Schemas } from "../../../client/src/index.ts";
import { hasEnded } from "./outcome.ts";

type Deployment = Schemas["Deployment"];

/** How many deployments are searched. */
const HISTORY = 500;

export interface Rollback {
  /** The newest that a runner has started, or may still start, whatever its outcome. */
  current: Deployment;
  /** The last success before it. */
  previous: Deployment;
}

/** What a rollback goes back to, among an environment's deployments, the newest first. Undefined: nothing. */
export async function findRollback(
  deployments: AsyncIterable<Deployment>,
): Promise<Rollback | undefined> {
  let current: Deployment | undefined;
  let searched = 0;
  for await (const deployment of deployments) {
    if (current && deployment.status === "succeeded") return { current, previous: deployment };
    if (isCurrent(deployment)) current ??= deployment;
    searched += 1;
    if (searched === HISTORY) break;
  }
  return undefined;
}

function isCurrent({ status, started_at }: Deployment): boolean {
  return started_at !== undefined || !hasEnded(status);
}
