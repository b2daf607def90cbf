/**
 * How many resources of a type an organization may store. Triggers on the table of a type count its rows
 * and the bytes that callers write in `usage`, which has the same names.
 */
export const QUOTAS = {
  projects: 1_000,
  environments: 10_000,
  components: 50_000,
  stacks: 50_000,
  variables: 100_000,
  alarms: 50_000,
  members: 10_000,
  project_members: 100_000,
  api_keys: 1_000,
  runner_pools: 1_000,
  runner_tokens: 1_000,
  integrations: 10_000,
};
export type LimitedKind = keyof typeof QUOTAS;

/** The types of resources whose changes are in the changelog of their project. */
export const CHANGED_TYPES = [
  "project",
  "project_member",
  "environment",
  "component",
  "stack",
  "variable",
  "deployment",
  "integration",
] as const;
export type ChangedType = (typeof CHANGED_TYPES)[number];

/** Which request created a deployment. */
export const DEPLOYMENT_TRIGGERS = ["api", "redeployment", "promotion", "rollback"] as const;
export type DeploymentTrigger = (typeof DEPLOYMENT_TRIGGERS)[number];

/** The types of resources that an entry of the audit log is about. */
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
  "deployment",
  "freeze",
  "attempt",
] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

/** What is in the audit log. A change that the changelog has, too, is in both if its name is here. */
const AUDITED = {
  organization: ["created", "renamed", "deleted", "key_policy_changed"],
  member: ["added", "activated", "role_changed", "removed"],
  account: ["updated", "deleted"],
  invitation: ["created", "accepted", "declined", "revoked"],
  service_account: ["created", "updated", "deleted"],
  api_key: ["created", "renamed", "narrowed", "rotated", "revoked"],
  sign_in_link: ["created"],
  session: ["created", "revoked"],
  trust: ["created", "deleted", "exchanged"],
  runner_pool: ["created", "updated", "deleted"],
  runner_token: ["created", "rotated", "revoked"],
  project: ["created", "updated", "deleted", "connected", "disconnected"],
  project_member: ["added", "role_changed", "removed"],
  project_members: ["added"],
  environment: ["deleted", "protection_changed"],
  deployment: ["approved", "rejected", "overridden"],
  freeze: ["created", "deleted"],
  component: ["deleted"],
  stack: ["deleted"],
  integration: ["created", "updated", "deleted", "confirmed", "resumed", "secret_rotated"],
  variable: ["created", "updated", "deleted", "revealed"],
  variables: ["written", "revealed", "delivered"],
  audit_log: ["exported"],
  escalation: ["refused"],
  // By an operator, with a script:
  owner_key: ["created"],
  credential: ["admitted", "revoked"],
  quotas: ["changed"],
} as const;
type Audited = typeof AUDITED;
export type AuditedAction = {
  [Type in keyof Audited]: `${Type}.${Audited[Type][number]}`;
}[keyof Audited];

export const AUDITED_ACTIONS = Object.entries(AUDITED).flatMap(([type, actions]) =>
  actions.map((action) => `${type}.${action}`),
) as [AuditedAction, ...AuditedAction[]];

/** The changes of project members have the names that the audit log has for an organization's. */
export const ACTIONS_OF_CHANGES: Readonly<Record<string, AuditedAction>> = {
  "project_member.created": "project_member.added",
  "project_member.updated": "project_member.role_changed",
  "project_member.deleted": "project_member.removed",
};
