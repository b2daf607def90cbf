import { orgRoleReaches, projectRoleReaches } from "../../../lib/roles.ts";
import {
  type ApprovalRule,
  describeMembers,
  type Members,
  type Rules,
} from "../../projects/access/model.ts";
import { type Approval, type Condition, type Facts, HELD_FOR_EVENT, MEETS_RULES } from "./model.ts";
import {
  findClosedWindow,
  findFreezes,
  findMissingSuccess,
  findOtherSource,
  findRunningInGroup,
} from "./rule-conditions.ts";

/** What depends on reading more than the facts. */
export interface Content {
  /** Of the resulting configuration, the source and the stacks. Null: the patch does not apply. */
  digest: string | null;
  /** Where it differs from what was approved. */
  differences: readonly string[];
  /** The successes that have had its configuration, as far as the rules compare it. */
  sameIds: readonly string[];
}

/**
 * The conditions that are not met, of all rules that apply.
 * @param content Undefined: as it was when each approval was given that is current.
 */
export function findOpenConditions(
  facts: Facts,
  content: Content | undefined,
  now: number,
): Condition[] {
  const rules = rulesOf(facts);
  const { overridden, overriddenFreezes } = facts;
  const freezes = facts.freezes.filter(({ id }) => !overriddenFreezes?.includes(id));
  const open = [
    ...rules.flatMap((each) => findOpenOfRules(each, facts, content, now)),
    ...(rules.length > 0 && rules.every((each) => isExempt(each, facts))
      ? []
      : findFreezes(freezes, now)),
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

/** Whether approvals were given before something changed that may have changed the content, or a rule compares it. */
export function needsContent(facts: Facts): boolean {
  const isChanged = facts.approvals.some(({ isCurrent }) => isCurrent === 0);
  return isChanged || (facts.successes.length > 0 && exceptionsOf(facts) !== undefined);
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

function findOpenOfRules(
  rules: Rules,
  facts: Facts,
  content: Content | undefined,
  now: number,
): Condition[] {
  if (isExempt(rules, facts)) return findRunningInGroup(rules, facts);
  const { approvals, from, sources, windows } = rules;
  const isSame = (id: string) => content?.sameIds.includes(id) ?? false;
  return [
    ...(approvals ? findMissingApprovals(approvals, facts, content) : []),
    ...(from ? findMissingSuccess(from, facts, now, isSame) : []),
    ...(sources ? findOtherSource(sources, facts) : []),
    ...(windows ? findClosedWindow(windows, now) : []),
    ...findRunningInGroup(rules, facts),
  ];
}

function isExempt({ exempt = [] }: Rules, facts: Facts): boolean {
  return facts.exempt !== null && exempt.includes(facts.exempt);
}

function findMissingApprovals(
  rule: ApprovalRule,
  { approvals, creators, createdAt }: Facts,
  content: Content | undefined,
): Condition[] {
  const isSame = ({ isCurrent, digest }: Approval) => isCurrent === 1 || digest === content?.digest;
  const able = approvals.filter((each) => isApprover(each, rule, creators));
  const counted = able.filter(isSame).length;
  if (counted >= rule.required) return [];
  const expiresAt = createdAt + rule.expires_after_seconds * 1_000;
  const needed = `${counted} of ${rule.required} approval${rule.required > 1 ? "s" : ""}`;
  const who = rule.approvers.role ? ` by ${describeMembers(rule.approvers, [])}` : "";
  const outdated = able.length - counted;
  const changed = outdated > 0 ? describeChange(outdated, content) : "";
  return [{ code: "approvals", message: `${needed}${who}${changed}.`, expiresAt }];
}

function describeChange(outdated: number, content: Content | undefined): string {
  const given = `${outdated} ${outdated > 1 ? "were" : "was"} given before a change`;
  if (content?.digest === null) return `; ${given}, and the patch no longer applies`;
  const { differences = [] } = content ?? {};
  return differences.length > 0 ? `; ${given} of ${differences.join(", ")}` : `; ${given}`;
}

/** The approvals that are missing, and that this person may give and has not given for the present content. */
export function findGivable(
  facts: Facts,
  member: Pick<Approval, "membershipId" | "orgRole" | "projectRole">,
): Condition[] {
  const { creators, overridden } = facts;
  const hasGiven = facts.approvals.some(
    ({ membershipId, isCurrent }) => membershipId === member.membershipId && isCurrent === 1,
  );
  if (hasGiven || overridden?.includes("approvals")) return [];
  return rulesOf(facts).flatMap((rules) => {
    const { approvals } = rules;
    if (!approvals || isExempt(rules, facts) || !isApprover(member, approvals, creators)) return [];
    return findMissingApprovals(approvals, facts, undefined);
  });
}

/** Whether a person's approval counts under the rule, whatever it was given for. */
export function isApprover(
  member: Pick<Approval, "membershipId" | "orgRole" | "projectRole">,
  { approvers, prevent_self_approval }: ApprovalRule,
  creators: readonly string[],
): boolean {
  if (prevent_self_approval && creators.includes(member.membershipId)) return false;
  return isMember(member, approvers);
}

function isMember(
  {
    membershipId,
    orgRole,
    projectRole,
  }: Pick<Approval, "membershipId" | "orgRole" | "projectRole">,
  { role, membership_ids: ids }: Members,
): boolean {
  if (ids && !ids.includes(membershipId)) return false;
  if (orgRoleReaches(orgRole, "admin")) return true;
  return projectRole !== null && projectRoleReaches(projectRole, role ?? "viewer");
}
