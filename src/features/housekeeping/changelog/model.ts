import type { AuditedAction, ChangedType } from "../../../lib/resource-types.ts";

export const ACTIONS = [
  "created",
  "updated",
  "deleted",
  "canceled",
  "connected",
  "disconnected",
  "disabled",
  "confirmed",
  "resumed",
  "failing",
  "paused",
] as const;
export type Action = (typeof ACTIONS)[number];

/** A resource as the API presents it, without secrets. */
export type Fields = Record<string, unknown>;

export interface Change<Kind extends Action = Action> {
  projectId: string;
  action: Kind;
  record: { type: ChangedType; id: string; name?: string | undefined };
  before?: Fields | undefined;
  after?: Fields | undefined;
  /** In the audit log, if not the action that follows from the type of the resource. */
  auditedAs?: AuditedAction;
}
