import type { SQL } from "drizzle-orm";
import {
  ACTIONS_OF_CHANGES,
  AUDITED_ACTIONS,
  type AuditedAction,
  type ChangedType,
} from "../../../lib/resource-types.ts";
import { type AuditContext, type AuditedAct, writeAudit } from "../audit/index.ts";
import { differenceBetween, isNoOp } from "./diff.ts";
import type { Change, Fields } from "./model.ts";

/** Undefined for a change that is in the changelog alone. */
function auditedActionOf(change: string): AuditedAction | undefined {
  return ACTIONS_OF_CHANGES[change] ?? AUDITED_ACTIONS.find((action) => action === change);
}

/** What the audit log leaves out: it outlives the person and the project. */
const OMITTED_FIELDS: { [Type in ChangedType]?: readonly string[] } = {
  project_member: ["avatar", "name", "display_name", "profile"],
  environment: ["configuration"],
};

export function auditChanges(
  ctx: AuditContext,
  organizationId: string,
  changes: readonly Change[],
  condition: SQL,
  together?: AuditedAct,
) {
  const acts = changes.filter((change) => !isNoOp(change)).flatMap(toActs);
  if (acts.length === 0) return undefined;
  return writeAudit(
    ctx,
    organizationId,
    together && acts.length > 1 ? [together] : acts,
    condition,
  );
}

function toActs({ action: kind, record, auditedAs, ...change }: Change): AuditedAct[] {
  const { type, id, name } = record;
  const action = auditedAs ?? auditedActionOf(`${type}.${kind}`);
  if (!action || type === "deployment") return [];
  const omitted = OMITTED_FIELDS[type] ?? [];
  const { before, after } = differenceBetween(
    omit(change.before, omitted),
    omit(change.after, omitted),
  );
  const target = { type, id, name };
  return [{ action, target, projectId: change.projectId, changes: { before, after } }];
}

function omit(fields: Fields | undefined, names: readonly string[]): Fields | undefined {
  return (
    fields && Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
  );
}
