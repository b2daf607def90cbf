import type { JobSource } from "../../../lib/job-source.ts";
import type { OrgRole, ProjectRole } from "../../../lib/roles.ts";
import type { Exemption, Rules } from "../../projects/access/model.ts";

/** The `held_until` of a deployment that no passing of time releases: the greatest time of JavaScript. */
export const HELD_FOR_EVENT = 8_640_000_000_000_000;

/**
 * That of one that meets its rules: before every time, and not the 0 of those without rules, because it has to be
 * evaluated again. Its approvals may expire before a runner asks for it, if somebody who gave one leaves.
 */
export const MEETS_RULES = 1;

export const APPROVAL_DECISIONS = ["approve", "reject"] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

export const CONDITION_CODES = [
  "approvals",
  "from",
  "sources",
  "window",
  "freeze",
  "group",
] as const;
export type ConditionCode = (typeof CONDITION_CODES)[number];

/** Who approves, as far as the rules ask. */
export interface Approver {
  membershipId: string;
  orgRole: OrgRole;
  projectRole: ProjectRole | null;
  /** Whether a sign-in has proven who it is, or none of the creators has added or invited it. */
  isVerified: 0 | 1;
}

/** An approval by a person who is still an active member. */
export interface Approval extends Approver {
  /** Digest of the configuration that was approved. Null: it was given before there were digests. */
  configuration: string | null;
  /** Whether nothing that the content results from has changed since. */
  isCurrent: 0 | 1;
  /** What differs from it beside the configuration, in words. */
  changed: readonly string[];
}

/** A success with the same source in another environment. */
export interface Success {
  id: string;
  environmentId: string;
  finishedAt: number;
  /** When the next deployment that succeeded there has started. Null: none has. */
  replacedAt: number | null;
  /** The positions of the stacks to be deployed that it had by name. */
  covers: "all" | readonly number[];
  /** Digest of its configuration. Null: not computed yet. */
  configuration: string | null;
  /** Digest of its configuration without the excepted paths. Null: not computed yet. */
  compared: string | null;
}

/** Digests of the configuration that a deployment results in. Null: not computed yet for the present one. */
export interface OwnDigests {
  /** Empty: the patch does not apply. */
  digest: string | null;
  /** Digest of the paths that `compared` leaves out. */
  exceptions: string | null;
  compared: string | null;
}

/** What a deployment redeploys. */
export interface Repeated {
  id: string;
  /** Digest of its configuration. Null: not computed yet. */
  configuration: string | null;
  /** Whether it is known what else it had. */
  isKnown: 0 | 1;
  /** Whether its source, stacks and connection were the same. */
  isSame: 0 | 1;
}

/** What a trust has verified. Without the members of `JobSource` if its claims are of no known form. */
export interface VerifiedSource extends Partial<JobSource> {
  issuer: string;
  trust_id: string;
}

export interface Freeze {
  id: string;
  /** Null: all of the organization. */
  projectId: string | null;
  name: string;
  reason: string;
  startsAt: number;
  endsAt: number;
  /** The memberships that may override it. */
  override: readonly string[];
}

/** What decides whether a deployment may start, apart from the time. */
export interface Facts {
  /** Those of the environment, and the earlier ones that the deployment keeps. Null: the environment has none. */
  rules: readonly (Rules | null)[];
  /** Who counts as the creator: the membership, and those that made its key. */
  creators: readonly string[];
  createdAt: number;
  approvals: readonly Approval[];
  /** That are not over when the deployment was created. */
  freezes: readonly Freeze[];
  /** Running deployments of the same groups, in other environments. */
  runningInGroup: readonly { id: string; environmentId: string }[];
  /** The names of the stacks to be deployed. */
  stackNames: readonly string[];
  hasSource: 0 | 1;
  successes: readonly Success[];
  /** Environments of which successes are not among those yet, because they are from before they were kept. */
  unlisted: readonly string[];
  /** The names of the environments in which the rules need a success, by ID. */
  places: Readonly<Record<string, string>>;
  /** Of the key that created the deployment. Null: not that of a trust. */
  source: VerifiedSource | null;
  /** What is deployed. Null: no commit. */
  commit: { sha: string; repoId: string } | null;
  /** A candidate: it counts only while the content is that of `repeated`. */
  exempt: Exemption | null;
  repeated: Repeated | null;
  own: OwnDigests;
  /** Of this content. */
  overridden: readonly string[] | null;
  /** The freezes that an override of `freeze` leaves out. */
  overriddenFreezes: readonly string[] | null;
}

/** Those that an override may leave out. A group is no permission, but order. */
export const OVERRIDABLE = [
  "approvals",
  "from",
  "sources",
  "window",
  "freeze",
] as const satisfies readonly ConditionCode[];

export type OverridableCode = (typeof OVERRIDABLE)[number];

export interface Override {
  /** Tells it from the same one of a repeated request. No response has it. */
  id: string;
  conditions: readonly OverridableCode[];
  /** The freezes of its moment that its author may lift. Absent without `freeze`. */
  freeze_ids?: readonly string[];
  reason: string;
  membership_id: string;
  created_at: string;
}

/** What keeps a deployment from starting. */
export interface Condition {
  code: ConditionCode;
  /** For people. */
  message: string;
  /** When it may be met, if the time alone decides. */
  opensAt?: number | undefined;
  /** When the deployment ends unless it is met before. */
  expiresAt?: number | undefined;
  /** The deployment that has to end first. */
  deploymentId?: string | undefined;
}
