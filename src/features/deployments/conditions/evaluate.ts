import { orgRoleReaches, projectRoleReaches } from "../../../lib/roles.ts";
import type { ApproverVerifier } from "../../../lib/settings.ts";
import {
  type ApprovalRule,
  describeMembers,
  type Members,
  type Rules,
} from "../../projects/access/model.ts";
import {
  type Approval,
  type Approver,
  type Condition,
  type Facts,
  HELD_FOR_EVENT,
  MEETS_RULES,
} from "./model.ts";
import { type Reader, SERVICE } from "./reader.ts";
import {
  findClosedWindow,
  findFreezes,
  findMissingSuccess,
  findOtherSource,
  findRunningInGroup,
  isSameDigest,
  type Seen,
} from "./rule-conditions.ts";

/**
 * The conditions that are not met, of all rules that apply. Until a digest is stored, it equals no other.
 * @param reader For whom the messages are.
 */
export function findOpenConditions(
  facts: Facts,
  verifier: ApproverVerifier,
  now: number,
  reader: Reader = SERVICE,
): Condition[] {
  const seen = { now, reader, verifier };
  const rules = rulesOf(facts);
  const { overridden, overriddenFreezes } = facts;
  const freezes = facts.freezes.filter(({ id }) => !overriddenFreezes?.includes(id));
  const open = [
    ...rules.flatMap((each) => findOpenOfRules(each, facts, seen)),
    ...(rules.length > 0 && rules.every((each) => isExempt(each, facts))
      ? []
      : findFreezes(freezes, seen)),
  ].filter(({ code }) => code === "freeze" || !overridden?.includes(code));
  // Of two rules that say the same, the one that expires first decides.
  return open.filter(
    (one, at) =>
      !open.some((other, index) => {
        if (other.message !== one.message) return false;
        const later = (one.expiresAt ?? 0) - (other.expiresAt ?? 0);
        return later > 0 || (later === 0 && index < at);
      }),
  );
}

/** The time from which a deployment with rules may start, as far as the time decides. */
export function heldUntil(conditions: readonly Condition[]): number {
  return Math.max(MEETS_RULES, ...conditions.map(({ opensAt = HELD_FOR_EVENT }) => opensAt));
}

export function isExpired(conditions: readonly Condition[], now: number): boolean {
  return conditions.some(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now);
}

/**
 * Whether the deployment may meet more once the digests of its own configuration are stored.
 * @param exceptions Digest of the paths that the rules leave out. Undefined: no rule compares the configuration.
 */
export function lacksOwnDigests(facts: Facts, exceptions: string | undefined): boolean {
  const { approvals, exempt, hasSource, own, successes } = facts;
  const isCompared = successes.length > 0 && exceptions !== undefined;
  if (isCompared && own.exceptions !== exceptions) return true;
  const isWhole = successes.length > 0 && hasSource === 0;
  const isOutdated = approvals.some(({ isCurrent }) => isCurrent === 0);
  return own.digest === null && (isOutdated || exempt !== null || isWhole);
}

/** The paths that all rules leave out of the comparison with earlier configurations. Undefined: none compares them. */
export function exceptionsOf(facts: Facts): string[] | undefined {
  const lists = rulesOf(facts).flatMap(({ from }) =>
    from?.same_configuration ? [from.same_configuration.except] : [],
  );
  return lists[0]?.filter((path) => lists.every((list) => list.includes(path)));
}

function rulesOf({ rules }: Facts): Rules[] {
  return rules.filter((each) => each !== null);
}

function findOpenOfRules(rules: Rules, facts: Facts, seen: Seen): Condition[] {
  if (isExempt(rules, facts)) return findRunningInGroup(rules, facts, seen);
  const { approvals, from, sources, windows } = rules;
  return [
    ...(approvals ? findMissingApprovals(approvals, facts, seen.verifier) : []),
    ...(from ? findMissingSuccess(from, facts, seen) : []),
    ...(sources ? findOtherSource(sources, facts) : []),
    ...(windows ? findClosedWindow(windows, seen.now) : []),
    ...findRunningInGroup(rules, facts, seen),
  ];
}

/** Only with the content of the success that it repeats: the ID alone proves nothing about it. */
function isExempt({ exempt = [] }: Rules, { exempt: candidate, own, repeated }: Facts): boolean {
  if (candidate === null || !exempt.includes(candidate) || !repeated?.isSame) return false;
  return isSameDigest(own.digest, repeated.configuration);
}

function findMissingApprovals(
  rule: ApprovalRule,
  facts: Facts,
  verifier: ApproverVerifier,
): Condition[] {
  const { approvals, creators, createdAt } = facts;
  const permitted = approvals.filter((each) => isApprover(each, rule, creators));
  const able = permitted.filter((each) => isKnown(each, verifier));
  const outdated = able.filter((each) => !isOfContent(each, facts));
  const counted = able.length - outdated.length;
  if (counted >= rule.required) return [];
  const expiresAt = createdAt + rule.expires_after_seconds * 1_000;
  const needed = `${counted} of ${rule.required} approval${rule.required > 1 ? "s" : ""}`;
  const who = rule.approvers.role ? ` by ${describeMembers(rule.approvers, [])}` : "";
  const changed = outdated.length > 0 ? describeChange(outdated, facts) : "";
  const unknown = describeUnknown(permitted.length - able.length);
  return [{ code: "approvals", message: `${needed}${who}${changed}${unknown}.`, expiresAt }];
}

function describeUnknown(count: number): string {
  if (count === 0) return "";
  return `; ${count} count${count > 1 ? "" : "s"} only after a sign-in with the identity provider`;
}

/** Whether an approval was given for what would start now. */
function isOfContent({ isCurrent, configuration, changed }: Approval, { own }: Facts): boolean {
  return isCurrent === 1 || (changed.length === 0 && isSameDigest(own.digest, configuration));
}

function describeChange(outdated: readonly Approval[], { own }: Facts): string {
  const given = `${outdated.length} ${outdated.length > 1 ? "were" : "was"} given before a change`;
  if (own.digest === "") return `; ${given}, and the patch no longer applies`;
  const isOther = outdated.some(({ configuration }) => !isSameDigest(own.digest, configuration));
  const others = outdated.flatMap(({ changed }) => changed);
  const parts = [...(isOther && own.digest !== null ? ["the configuration"] : []), ...others];
  return parts.length > 0 ? `; ${given} of ${[...new Set(parts)].join(", ")}` : `; ${given}`;
}

/** The approvals that are missing, and that this person may give and has not given for the present content. */
export function findGivable(
  facts: Facts,
  member: Approver,
  verifier: ApproverVerifier,
): Condition[] {
  const { creators, overridden } = facts;
  if (!isKnown(member, verifier)) return [];
  const hasGiven = facts.approvals.some(
    (each) => each.membershipId === member.membershipId && isOfContent(each, facts),
  );
  if (hasGiven || overridden?.includes("approvals")) return [];
  return rulesOf(facts).flatMap((rules) => {
    const { approvals } = rules;
    if (!approvals || isExempt(rules, facts) || !isApprover(member, approvals, creators)) return [];
    return findMissingApprovals(approvals, facts, verifier);
  });
}

/** Whether it is certain that the person is none of the creators under another name. */
export function isKnown(
  { isVerified }: Pick<Approver, "isVerified">,
  verifier: ApproverVerifier,
): boolean {
  return verifier === "admins" || isVerified === 1;
}

/** Whether the rule lets the member approve, if it is known who that is. */
export function isApprover(
  member: Omit<Approver, "isVerified">,
  { approvers, prevent_self_approval }: ApprovalRule,
  creators: readonly string[],
): boolean {
  if (prevent_self_approval && creators.includes(member.membershipId)) return false;
  return isMember(member, approvers);
}

function isMember(
  { membershipId, orgRole, projectRole }: Omit<Approver, "isVerified">,
  { role, membership_ids: ids }: Members,
): boolean {
  if (ids && !ids.includes(membershipId)) return false;
  if (orgRoleReaches(orgRole, "admin")) return true;
  return projectRole !== null && projectRoleReaches(projectRole, role ?? "viewer");
}
