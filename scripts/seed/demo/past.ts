const DAY_MS = 86_400_000;

/** The times of what has happened. Credentials, rules and what is still to come keep theirs. */
const HISTORY: Readonly<Record<string, readonly string[]>> = {
  deployments: ["created_at", "started_at", "finished_at", "updated_at"],
  deployment_stacks: ["timestamp", "deployment_created_at", "started_at"],
  deployment_approvals: ["created_at"],
  environment_successes: ["created_at", "started_at", "finished_at"],
  audit_log: ["created_at"],
  changelog_entries: ["created_at"],
  alarms: ["created_at", "changed_at", "updated_at"],
  variables: ["created_at", "updated_at"],
};

/** Moves an organization's history into the past, as if that many milliseconds had passed since. */
export async function passTime(d1: D1Database, organizationId: string, ms: number): Promise<void> {
  const days = Math.floor(ms / DAY_MS);
  const moved = Object.entries(HISTORY).map(([table, columns]) => {
    const changes = columns.map((column) => `${column} = ${column} - ?1`).join(", ");
    return d1
      .prepare(`update ${table} set ${changes} where organization_id = ?2`)
      .bind(ms, organizationId);
  });
  // A day's row may not take the day of another one, which moves as well: the sign keeps them apart.
  const away = d1
    .prepare("update deployment_days set day = ?1 - day where organization_id = ?2")
    .bind(days, organizationId);
  const back = d1
    .prepare("update deployment_days set day = -day where organization_id = ?1 and day < 0")
    .bind(organizationId);
  await d1.batch([...moved, away, back]);
}

/** Gives a deployment in progress a past: it was queued and started so many milliseconds ago. */
export async function startEarlier(
  d1: D1Database,
  deploymentId: string,
  { queuedMs, runMs }: { queuedMs: number; runMs: number },
): Promise<void> {
  await d1.batch([
    d1
      .prepare(
        `update deployments set created_at = created_at - ?2 - ?3, started_at = started_at - ?3 where id = ?1`,
      )
      .bind(deploymentId, queuedMs, runMs),
    d1
      .prepare(
        `update deployment_stacks set deployment_created_at =
           (select created_at from deployments where id = ?1) where deployment_id = ?1`,
      )
      .bind(deploymentId),
  ]);
}

/** Lets the stacks of a deployment, which have all ended now, have run one after the other for as long as it has. */
export async function spreadStacks(
  d1: D1Database,
  deploymentId: string,
  { runMs, stacks }: { runMs: number; stacks: number },
): Promise<void> {
  const each = Math.floor(runMs / stacks);
  await d1
    .prepare(
      `update deployment_stacks set started_at = timestamp - ?2 * (?3 - position),
         timestamp = timestamp - ?2 * (?3 - position - 1) where deployment_id = ?1`,
    )
    .bind(deploymentId, each, stacks)
    .run();
}
