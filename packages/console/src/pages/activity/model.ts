import { AUDITED_ACTIONS } from "../../generated/audited-actions.ts";

export const KINDS = [
  ["", "Everything"],
  ["deployments", "Deployments"],
  ["variables", "Variables"],
  ["access", "Access"],
  ["settings", "Settings"],
] as const;
export type Kind = Exclude<(typeof KINDS)[number][0], "">;

const BY_TYPE: Readonly<Record<string, Kind>> = {
  deployment: "deployments",
  variable: "variables",
  variables: "variables",
  ...Object.fromEntries(
    [
      ...["account", "api_key", "credential", "escalation", "invitation", "member", "owner_key"],
      ...["project_member", "project_members", "runner_token", "service_account", "session"],
      ...["sign_in_link", "trust"],
    ].map((type) => [type, "access"] as const),
  ),
};

export function kindOf(action: string): Kind {
  return BY_TYPE[action.split(".")[0] ?? ""] ?? "settings";
}

const SECURITY: readonly string[] = [
  ...["audit_log.exported", "deployment.overridden", "environment.protection_changed"],
  ...["freeze.created", "freeze.deleted", "integration.secret_rotated"],
  ...["organization.key_policy_changed", "quotas.changed", "variable.revealed"],
  "variables.revealed",
];

/** What concerns access, secrets and rules. */
export function isSecurity(action: string): boolean {
  return kindOf(action) === "access" || SECURITY.includes(action);
}

export interface ActivityFilter {
  kind: string;
  isSecurityOnly: boolean;
}

export function fitsFilter(action: string, { kind, isSecurityOnly }: ActivityFilter): boolean {
  return (kind === "" || kindOf(action) === kind) && (!isSecurityOnly || isSecurity(action));
}

/** What the audit log is asked for. Empty: every action. */
export function auditedActionsOf(filter: ActivityFilter): string[] {
  const actions = AUDITED_ACTIONS.filter((action) => fitsFilter(action, filter));
  return actions.length === AUDITED_ACTIONS.length ? [] : [...actions];
}
