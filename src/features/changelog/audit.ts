import type { SQL } from "drizzle-orm";
import {
  type AuditContext,
  type AuditedAct,
  type AuditedAction,
  writeAudit,
} from "../audit/index.ts";
import { differenceBetween, isNoOp } from "./diff.ts";
import type { Action, Change, Fields, RecordType } from "./model.ts";

/** The changes that are in the audit log, too. */
const AUDITED: { [Type in RecordType]?: { [Kind in Action]?: AuditedAction } } = {
  project: {
    created: "project.created",
    updated: "project.updated",
    connected: "project.connected",
    disconnected: "project.disconnected",
  },
  project_member: {
    created: "project_member.added",
    updated: "project_member.role_changed",
    deleted: "project_member.removed",
  },
  environment: { deleted: "environment.deleted" },
  component: { deleted: "component.deleted" },
  stack: { deleted: "stack.deleted" },
  variable: {
    created: "variable.created",
    updated: "variable.updated",
    deleted: "variable.deleted",
  },
  integration: {
    created: "integration.created",
    updated: "integration.updated",
    deleted: "integration.deleted",
    confirmed: "integration.confirmed",
    resumed: "integration.resumed",
  },
};

/** What the audit log leaves out: it outlives the person and the project. */
const OMITTED_FIELDS: { [Type in RecordType]?: readonly string[] } = {
  project_member: ["avatar", "name", "display_name", "profile"],
  environment: ["configuration"],
};

export function auditChanges(
  ctx: AuditContext,
  organizationId: string,
  changes: readonly Change[],
  condition: SQL,
) {
  const acts = changes.filter((change) => !isNoOp(change)).flatMap(toActs);
  return acts.length > 0 ? writeAudit(ctx, organizationId, acts, condition) : undefined;
}

function toActs({ action: kind, record, auditedAs, ...change }: Change): AuditedAct[] {
  const { type, id, name } = record;
  const action = auditedAs ?? AUDITED[type]?.[kind];
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
