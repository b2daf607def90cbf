import { getTableName, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Actor, credentialIdOf, type Runner } from "../../../actor.ts";
import type { RequestOrigin, RunnerContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { IdSequence } from "../../../db/id-sequence.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/ids.ts";
import type { AuditedAction, TargetType } from "../../../lib/resource-types.ts";
import type { ActorType, AuditedAct } from "./model.ts";
import { auditLog } from "./table.ts";

/** An actor of a request without a key, a runner token or a session, or of work without a request. */
export interface OtherActor {
  type: Exclude<ActorType, "api_key" | "session" | "runner_token">;
  credentialId?: string;
  membershipId?: string;
  accountId?: string;
  creatorKeyId?: string;
  creatorMembershipId?: string;
}

export interface AuditContext {
  db: Database;
  clock: Clock;
  /** Absent for work without a request. */
  origin?: RequestOrigin;
  actor?: Actor | OtherActor;
  runner?: Runner;
}

/** Writes acts to the audit log in the batch that does them, if `condition` holds. */
export function writeAudit(
  ctx: AuditContext,
  organizationId: string,
  acts: readonly AuditedAct[],
  condition: SQL,
) {
  return insertActs(ctx, { organizationId, actor: actorOf(ctx), acts, condition });
}

/** An act on each resource that a statement selects. */
export interface ActOnMany {
  action: AuditedAction;
  target: { type: TargetType; id: string | SQLWrapper; name: string | SQLWrapper | null };
  /** By default that of the context. */
  actor?: Omit<OtherActor, "membershipId"> & { membershipId?: string | SQLWrapper };
  changes?: AuditedAct["changes"];
  /**
   * Whose log has the act, of what may belong to several organizations: another one does not learn the
   * actor, who is not one of its own.
   */
  organizationOfTarget?: SQLWrapper;
}

/**
 * Writes an act on an unknown number of resources, or in an unknown number of organizations.
 * @param organizationId That of the actor, and of the log by default.
 * @param from The SQL after the select list.
 */
export function writeAuditFrom(
  ctx: AuditContext,
  organizationId: string | SQLWrapper,
  { action, target, actor, changes, organizationOfTarget }: ActOnMany,
  from: SQL,
) {
  const own = requestColumns(ctx, actor ? { ...NOBODY, ...actor } : actorOf(ctx));
  const isOwn = organizationOfTarget && sql`${organizationOfTarget} = ${organizationId}`;
  return insertFrom(
    ctx.db,
    auditLog,
    {
      ...(isOwn ? { ...hideFromOthers(own, isOwn), createdAt: own.createdAt } : own),
      id: new IdSequence(ctx.clock).at(sql`row_number() over (order by ${target.id}) - 1`),
      organizationId: organizationOfTarget ?? organizationId,
      action,
      outcome: "success",
      targetType: target.type,
      targetId: target.id,
      targetName: target.name,
      projectId: null,
      changes: changes ? JSON.stringify(changes) : null,
    },
    from,
  );
}

/** Writes a refused escalation by itself, at most once a minute for each credential and target. */
export function auditRefusal(
  ctx: AuditContext,
  organizationId: string,
  target: AuditedAct["target"],
) {
  const actor = actorOf(ctx);
  const action = "escalation.refused";
  const condition = sql`not exists (select 1 from audit_log where organization_id = ${organizationId}
    and action = ${action} and created_at > ${ctx.clock.now() - REFUSAL_INTERVAL_MS}
    and credential_id is ${actor.credentialId}
    and target_type = ${target.type} and target_id = ${target.id})`;
  const acts = [{ action, target }] as const;
  return insertActs(ctx, { organizationId, actor, acts, condition, outcome: "refused" });
}

export function auditExport(ctx: AuditContext, organizationId: string) {
  const target = { type: "organization", id: organizationId } as const;
  return writeAudit(ctx, organizationId, [{ action: "audit_log.exported", target }], sql`true`);
}

const INSERT = `insert into "${getTableName(auditLog)}"`;

/** Whether the text of a statement writes to the audit log. */
export function isAudit(statement: string): boolean {
  return statement.startsWith(INSERT);
}

export const REFUSAL_INTERVAL_MS = 60_000;

const NOBODY = {
  credentialId: null,
  membershipId: null,
  accountId: null,
  poolId: null,
  creatorKeyId: null,
  creatorMembershipId: null,
};

type AuditActor = { type: ActorType } & {
  [Name in keyof typeof NOBODY]: string | SQLWrapper | null;
};

function actorOf({ actor, runner }: AuditContext): AuditActor {
  if (actor && "type" in actor) return { ...NOBODY, ...actor };
  if (actor) {
    const { membershipId, accountId } = actor;
    const ids = { credentialId: credentialIdOf(actor), membershipId, accountId };
    return { ...NOBODY, type: actor.session ? "session" : "api_key", ...ids, ...creatorOf(actor) };
  }
  if (!runner) return { ...NOBODY, type: "service" };
  const { keyId, poolId, createdByKeyId, createdByMembershipId } = runner;
  const creator = { creatorKeyId: createdByKeyId, creatorMembershipId: createdByMembershipId };
  return { ...NOBODY, type: "runner_token", credentialId: keyId, poolId, ...creator };
}

/** A session is created with its key. */
function creatorOf({ session, keyId, membershipId, ...actor }: Actor) {
  if (session) {
    return { creatorKeyId: session.isOfPerson ? null : keyId, creatorMembershipId: membershipId };
  }
  const { createdByKeyId, createdByMembershipId } = actor;
  return { creatorKeyId: createdByKeyId, creatorMembershipId: createdByMembershipId };
}

interface Insert {
  organizationId: string;
  actor: AuditActor;
  acts: readonly AuditedAct[];
  condition: SQL;
  outcome?: "success" | "refused";
}

function insertActs(ctx: AuditContext, insert: Insert) {
  const items = insert.acts.map((act) => ({ ...act, id: newId(ctx.clock) }));
  const field = (path: string) => sql`item.value ->> ${sql.raw(`'$.${path}'`)}`;
  return insertFrom(
    ctx.db,
    auditLog,
    {
      ...requestColumns(ctx, insert.actor),
      id: field("id"),
      organizationId: insert.organizationId,
      action: field("action"),
      outcome: insert.outcome ?? "success",
      targetType: field("target.type"),
      targetId: field("target.id"),
      targetName: field("target.name"),
      projectId: field("projectId"),
      changes: field("changes"),
    },
    sql`from json_each(${JSON.stringify(items)}) as item where ${insert.condition}`,
  );
}

function requestColumns({ clock, origin }: AuditContext, { type, ...ids }: AuditActor) {
  return {
    createdAt: clock.now(),
    actorType: type,
    ...ids,
    clientAddress: origin?.clientAddress ?? null,
    userAgent: origin?.userAgent ?? null,
    requestId: origin?.requestId ?? null,
  };
}

function hideFromOthers(own: ReturnType<typeof requestColumns>, isOwn: SQL) {
  const { createdAt, actorType, ...ids } = own;
  const hidden = Object.entries(ids).map(
    ([name, value]) => [name, value && sql`iif(${isOwn}, ${value}, null)`] as const,
  );
  return {
    ...(Object.fromEntries(hidden) as Record<keyof typeof ids, SQL | null>),
    actorType: sql`iif(${isOwn}, ${actorType}, 'service')`,
  };
}

/** Writes a read of many resources. `changes` is SQL, so that it names what the batch reads. */
export function auditRead(
  ctx: AuditContext,
  organizationId: string,
  { action, target, projectId }: Omit<AuditedAct, "changes">,
  { changes, condition }: { changes: SQL; condition: SQL },
) {
  return insertFrom(
    ctx.db,
    auditLog,
    {
      ...requestColumns(ctx, actorOf(ctx)),
      id: newId(ctx.clock),
      organizationId,
      action,
      outcome: "success",
      targetType: target.type,
      targetId: target.id,
      targetName: target.name ?? null,
      projectId: projectId ?? null,
      changes,
    },
    sql`where ${condition}`,
  ).returning({ id: auditLog.id });
}

/** Writes the delivery of variables to a runner, if `allowed` holds, in the batch that reads them. */
export function auditDelivery(ctx: RunnerContext, attemptId: string, allowed: SQL) {
  const action: AuditedAction = "variables.delivered";
  return insertFrom(
    ctx.db,
    auditLog,
    {
      ...requestColumns(ctx, actorOf(ctx)),
      id: newId(ctx.clock),
      organizationId: ctx.runner.organizationId,
      action,
      outcome: "success",
      targetType: "attempt",
      targetId: attemptId,
      targetName: null,
      projectId: sql`deployments.project_id`,
      changes: null,
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
 * Writes what an operator does with a script to API keys and runner tokens.
 * @param condition May refer to the resource's ID as `item.value ->> 'recordId'`.
 */
export function auditOperator(
  ctx: AuditContext,
  action: AuditedAction,
  acts: readonly OperatorAct[],
  condition: SQL = sql`true`,
) {
  const items = acts.map((act) => ({ ...act, id: newId(ctx.clock) }));
  const targetId = sql`item.value ->> 'recordId'`;
  return insertFrom(
    ctx.db,
    auditLog,
    {
      ...requestColumns(ctx, { ...NOBODY, type: "operator" }),
      id: sql`item.value ->> 'id'`,
      organizationId: sql`item.value ->> 'organizationId'`,
      action,
      outcome: "success",
      targetType: sql`iif(exists (select 1 from runner_tokens where id = ${targetId}),
        'runner_token', 'api_key')`,
      targetId,
      targetName: null,
      projectId: null,
      changes: null,
    },
    sql`from json_each(${JSON.stringify(items)}) as item where ${condition}`,
  );
}
