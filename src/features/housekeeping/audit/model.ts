import type { AuditedAction, TargetType } from "../../../lib/resource-types.ts";

export const ACTOR_TYPES = [
  "api_key",
  "session",
  "sign_in_link",
  "open_id_connect",
  "runner_token",
  "invitation",
  "trust",
  "bootstrap_token",
  "operator",
  "service",
] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

export const OUTCOMES = ["success", "refused"] as const;

/** What is done, and to which resource. */
export interface AuditedAct {
  action: AuditedAction;
  target: { type: TargetType; id: string; name?: string | undefined };
  projectId?: string | undefined;
  /** The changed fields before and after, as the API presents them. Never contains a secret. */
  changes?: { before?: object | undefined; after?: object | undefined } | undefined;
}
