import { type SQL, sql } from "drizzle-orm";
import type { RunnerContext, ServiceContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { type AUDITED_ACTIONS, auditRecords } from "./table.ts";

export interface AuditedAct {
  action: (typeof AUDITED_ACTIONS)[number];
  projectId: string;
  recordId: string;
}

/** Records the act if `allowed` holds; belongs in the batch of the act, with the same condition. */
export function insertAuditRecord(
  { db, actor, clock }: ServiceContext,
  act: AuditedAct,
  allowed: SQL,
) {
  const { organizationId, accountId, membershipId, keyId } = actor;
  const record = { id: newId(clock), organizationId, accountId, membershipId, keyId, ...act };
  const createdAt = clock.now();
  return insertFrom(db, auditRecords, { ...record, createdAt }, sql`where ${allowed}`);
}

/**
 * Records the delivery of variables to a runner, if `allowed` holds; belongs in the batch that reads
 * them. A runner has no account and no membership: the columns contain its pool's ID instead.
 */
export function auditDelivery(
  { db, runner, clock }: RunnerContext,
  attemptId: string,
  allowed: SQL,
) {
  const { organizationId, poolId, keyId } = runner;
  const action: AuditedAct["action"] = "variables.delivered";
  return insertFrom(
    db,
    auditRecords,
    {
      id: newId(clock),
      organizationId,
      projectId: sql`deployments.project_id`,
      accountId: poolId,
      membershipId: poolId,
      keyId,
      action,
      recordId: attemptId,
      createdAt: clock.now(),
    },
    sql`from attempts join deployments on deployments.id = attempts.deployment_id
      where attempts.id = ${attemptId} and ${allowed}`,
  );
}

export interface OperatorAct {
  organizationId: string;
  recordId: string;
}

/**
 * Records what an operator does with a script. An operator acts without a project, an account or a
 * key: the columns contain the organization's ID instead.
 * @param condition May refer to the record's ID as `item.value ->> 'recordId'`.
 */
export function auditOperator(
  { db, clock }: { db: Database; clock: Clock },
  action: AuditedAct["action"],
  acts: readonly OperatorAct[],
  condition: SQL = sql`true`,
) {
  const items = acts.map((act) => ({ ...act, id: newId(clock) }));
  const organizationId = sql`item.value ->> 'organizationId'`;
  return insertFrom(
    db,
    auditRecords,
    {
      id: sql`item.value ->> 'id'`,
      organizationId,
      projectId: organizationId,
      accountId: organizationId,
      membershipId: organizationId,
      keyId: organizationId,
      action,
      recordId: sql`item.value ->> 'recordId'`,
      createdAt: clock.now(),
    },
    sql`from json_each(${JSON.stringify(items)}) as item where ${condition}`,
  );
}
