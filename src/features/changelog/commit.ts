import type { Actor, SystemContext } from "../../context.ts";
import { commit, type Results, type Statements } from "../../db/batch.ts";
import { isNoOp } from "./diff.ts";
import type { Action, Change } from "./model.ts";
import { recordChanges } from "./record.ts";

type ActorContext = SystemContext & { actor: Actor };

/**
 * Commits what the actor does together with its changelog entries and their event. The last of the
 * statements changes the record: if it changes no row, nothing is recorded.
 *
 * Returns undefined, and writes nothing, for an update that is a no-op: writing it would undo,
 * unrecorded, what another request has changed since the record was read.
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
  const results = await commit(ctx, { statements, changelog });
  return results.statements as Results<Group>;
}
