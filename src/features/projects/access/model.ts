import { ApiError } from "../../../lib/errors.ts";
import type { CodeHostIssuer } from "../../../lib/job-source.ts";

/** Everybody with at least the role in the project, or the listed memberships alone: one of both. */
export interface Members {
  role?: "contributor" | "owner" | undefined;
  membership_ids?: string[] | undefined;
}

export const PERMISSIONS = ["deploy", "configure"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface ApprovalRule {
  required: number;
  approvers: Members;
  prevent_self_approval: boolean;
  expires_after_seconds: number;
}

export const DAYS = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
] as const;
export type Day = (typeof DAYS)[number];

/** Times of the day as `09:30`. One that ends before it begins, or then, ends on the next day. */
export interface WeeklyWindow {
  days: Day[];
  from: string;
  to: string;
}

export interface WindowRule {
  /** An IANA name. */
  time_zone: string;
  weekly: WeeklyWindow[];
}

export interface FromRule {
  environment_ids: string[];
  minimum_seconds: number;
  /** JSON Pointers. Absent: the configuration may be another one. */
  same_configuration?: { except: string[] } | undefined;
}

/** The CI jobs that may deploy. Stored ones from before have neither trusts nor an issuer, and match nothing. */
export interface SourceRule {
  /** These trusts, or else all of the issuer. */
  trust_ids?: string[] | undefined;
  issuer?: CodeHostIssuer | undefined;
  /** Digits. */
  repository_id: string;
  /** In full, or with `*` for any characters but `/`. */
  ref: string;
  protected_ref?: boolean | undefined;
}

/** A redeployment of what ran before, or of what runs. */
export const EXEMPTIONS = ["rollback", "restart"] as const;
export type Exemption = (typeof EXEMPTIONS)[number];

/** Of an environment, as they are stored and shown. */
export interface Rules {
  access: Readonly<Record<Permission, Members>>;
  approvals?: ApprovalRule | undefined;
  from?: FromRule | undefined;
  sources?: SourceRule[] | undefined;
  windows?: WindowRule | undefined;
  /** One deployment at a time runs in the environments of a project that have the same. */
  group?: string | undefined;
  /** Need nothing of the above but their turn in the group. */
  exempt?: Exemption[] | undefined;
}

const CONTRIBUTORS: Members = { role: "contributor" };

/** Of an environment without rules. */
export const OPEN_ACCESS: Rules["access"] = { deploy: CONTRIBUTORS, configure: CONTRIBUTORS };

/** @param stored Null: none. */
export function parseRules(stored: string | null): Rules | undefined {
  return stored === null ? undefined : (JSON.parse(stored) as Rules);
}

const MAY = {
  deploy: "deploy to this environment",
  configure: "write the variables and the configuration of this environment",
} as const satisfies Record<Permission, string>;

/** Its message names who may. */
export class AccessDenied extends ApiError {
  constructor(who: string, permission: Permission) {
    super("forbidden", `Only ${who} may ${MAY[permission]}.`);
  }
}

/** @param names Of the listed memberships, as far as they exist. */
export function describeMembers(members: Members, names: readonly string[]): string {
  if (members.role) {
    return `${members.role}s of the project and admins of the organization`;
  }
  return names.length === 0 ? "members who have left" : joinNames(names.map((name) => `"${name}"`));
}

function joinNames(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
