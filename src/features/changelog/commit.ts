import type { SystemContext } from "../../context.ts";
import { batch, type Results, type Statements } from "../../db/batch.ts";
import type { AuditContext } from "../audit/index.ts";
import { isNoOp } from "./diff.ts";
import type { Action, Change } from "./model.ts";
import { recordChanges } from "./record.ts";

type ActorContext = SystemContext & Required<Pick<AuditContext, "actor" | "origin">>;

/**
 * Commits the statements with changelog entries and audit records, which are written only if the last
 * statement changes a row. Returns undefined and writes nothing for a no-op update: writing it could undo a concurrent
 * change without an entry.
 */
export async function commitChange<const Group extends Statements>(
  ctx: ActorContext,
  statements: Group,
  change: Change<"updated">,
): Promise<Results<Group> | undefined>;
export async function commitChange<const Group extends Statements>(
  ctx: ActorContext,
  statements: Group,
  ...changes: readonly Change<Exclude<Action, "updated">>[]
): Promise<Results<Group>>;
export async function commitChange<const Group extends Statements>(
  ctx: ActorContext,
  statements: Group,
  ...changes: readonly Change[]
): Promise<Results<Group> | undefined> {
  if (changes.length > 0 && changes.every(isNoOp)) return undefined;
  const changelog = recordChanges(ctx, ctx.actor.organizationId, changes);
  const results = await batch(ctx.db, { statements, changelog });
  return results.statements as Results<Group>;
}
