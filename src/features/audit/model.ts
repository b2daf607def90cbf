/** Every action of the audit log, by the type of its target. */
export const AUDITED_ACTIONS = [
  "organization.created",
  "organization.renamed",
  "organization.deleted",
  "organization.key_policy_changed",
  "member.added",
  "member.activated",
  "member.role_changed",
  "member.removed",
  "account.updated",
  "account.deleted",
  "invitation.created",
  "invitation.accepted",
  "invitation.declined",
  "invitation.revoked",
  "service_account.created",
  "service_account.updated",
  "service_account.deleted",
  "api_key.created",
  "api_key.renamed",
  "api_key.narrowed",
  "api_key.rotated",
  "api_key.revoked",
  "sign_in_link.created",
  "session.created",
  "session.revoked",
  "trust.created",
  "trust.deleted",
  "trust.exchanged",
  "runner_pool.created",
  "runner_pool.updated",
  "runner_pool.deleted",
  "runner_token.created",
  "runner_token.rotated",
  "runner_token.revoked",
  "project.created",
  "project.updated",
  "project.deleted",
  "project.connected",
  "project.disconnected",
  "project_member.added",
  "project_member.role_changed",
  "project_member.removed",
  "environment.deleted",
  "component.deleted",
  "stack.deleted",
  "integration.created",
  "integration.updated",
  "integration.deleted",
  "integration.confirmed",
  "integration.resumed",
  "integration.secret_rotated",
  "variable.created",
  "variable.updated",
  "variable.deleted",
  "variable.revealed",
  "variables.revealed",
  "variables.delivered",
  "audit_log.exported",
  "escalation.refused",
  // By an operator, with a script:
  "owner_key.created",
  "credential.admitted",
  "credential.revoked",
] as const;
export type AuditedAction = (typeof AUDITED_ACTIONS)[number];

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

export const TARGET_TYPES = [
  "organization",
  "member",
  "account",
  "invitation",
  "service_account",
  "api_key",
  "session",
  "sign_in_link",
  "trust",
  "runner_pool",
  "runner_token",
  "project",
  "project_member",
  "environment",
  "component",
  "stack",
  "integration",
  "variable",
  "attempt",
] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

/** What is done, and to which resource. */
export interface AuditedAct {
  action: AuditedAction;
  target: { type: TargetType; id: string; name?: string | undefined };
  projectId?: string | undefined;
  /** The changed fields before and after, as the API presents them. Never contains a secret. */
  changes?: { before?: object | undefined; after?: object | undefined } | undefined;
}
