import { type SQL, sql } from "drizzle-orm";
import type { RunnerContext, ServiceContext } from "../../context.ts";
import { insertFrom } from "../../db/insert-from.ts";
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
