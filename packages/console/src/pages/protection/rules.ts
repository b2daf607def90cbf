import type { Schemas } from "../../../../client/src/index.ts";
import { formatCount, formatSpan, humanize, showHidden } from "../../format.ts";

type Rules = Schemas["EnvironmentProtection"];

/** Of a member or an environment; the ID if it cannot be read. */
export type NameOf = (id: string) => string;

/** Each rule in words. Access is always there. */
export function describeRules(rules: Rules, nameOf: NameOf): (readonly [string, string])[] {
  const { access, approvals, from, sources, windows, group, exempt } = rules;
  const described: (readonly [string, string] | undefined)[] = [
    ["Deploy", describeMembers(access.deploy, nameOf)],
    ["Write variables and the configuration", describeMembers(access.configure, nameOf)],
    approvals && [
      "Approvals",
      `${describeApprovals(approvals, nameOf)} ${VERIFIED_BY[rules.approvers_verified_by ?? "identity_provider"]}`,
    ],
    from && ["Must have run in", describeFrom(from, nameOf)],
    sources && ["Only from CI", `${join(sources.map(describeSource), "or")}.`],
    windows && ["Times", describeWindows(windows)],
    group !== undefined ? ["One at a time", `In all environments of group ${group}.`] : undefined,
    exempt && [
      "Exempt",
      `${capitalize(
        join(
          exempt.map((each) => `${each}s`),
          "and",
        ),
      )} skip these rules and freezes, but still wait their turn.`,
    ],
  ];
  return described
    .filter((each) => each !== undefined)
    .map(([title, text]) => [title, showHidden(text)] as const);
}

function describeMembers(members: Schemas["EnvironmentMembers"], nameOf: NameOf): string {
  return members.role
    ? `Project ${members.role}s and organization admins`
    : namesOf(members, nameOf, "and");
}

function namesOf(
  { membership_ids: ids = [] }: Schemas["EnvironmentMembers"],
  nameOf: NameOf,
  word: "and" | "or",
): string {
  return join(ids.map(nameOf).toSorted(), word);
}

function describeApprovals(rule: Schemas["EnvironmentApprovals"], nameOf: NameOf): string {
  const { required, approvers, prevent_self_approval, expires_after_seconds } = rule;
  const { role } = approvers;
  const people =
    role && (required === 1 ? ONE_OF[role] : `project ${role}s or organization admins`);
  const needed = `Needs ${formatCount(required, "approval")} from ${people ?? namesOf(approvers, nameOf, "or")}.`;
  const self = prevent_self_approval ? "You can't approve your own deployment." : "";
  const end = `Expires after ${formatSpan(expires_after_seconds)} if not approved.`;
  return [needed, self, end].filter(Boolean).join(" ");
}

const ONE_OF = {
  owner: "a project owner or an organization admin",
  contributor: "a project contributor or an organization admin",
} satisfies Record<Schemas["ProtectionRole"], string>;

/** Who says who an approver is. */
const VERIFIED_BY = {
  identity_provider:
    "Approvers the creator added or invited must first sign in with the identity provider.",
  admins:
    "This server has no identity provider, so approvals are as strong as the organization's admins.",
} satisfies Record<Schemas["ApproverVerifier"], string>;

function describeSource(source: Schemas["EnvironmentSource"]): string {
  const { ref, repository_id: id, issuer, trust_ids: trusts = [], protected_ref } = source;
  const what = `${ref}${protected_ref ? " (protected)" : ""} in repository ${id}`;
  if (issuer) return `${what} at ${new URL(issuer).host}`;
  if (trusts.length > 0) return `${what} with trust ${join(trusts, "or")}`;
  return `${what} (matches nothing: add trust_ids or issuer)`;
}

function describeFrom(rule: Schemas["EnvironmentFrom"], nameOf: NameOf): string {
  const { environment_ids, minimum_seconds, same_configuration } = rule;
  const except = same_configuration?.except ?? [];
  const what = `The same source${same_configuration ? " and configuration" : ""}`;
  const but = except.length > 0 ? ` (except ${join(except, "and")})` : "";
  const long = minimum_seconds > 0 ? ` and run there for ${formatSpan(minimum_seconds)}` : "";
  return `${what}${but} must have succeeded in ${join(environment_ids.map(nameOf), "or")}${long}.`;
}

function describeWindows({ time_zone, weekly }: Schemas["EnvironmentWindows"]): string {
  const times = weekly.map(
    ({ days, from, to }) => `${join(days.map(humanize), "and")} ${from} to ${to}`,
  );
  return `${times.join("; ")} (${time_zone}).`;
}

function join(parts: readonly string[], word: "and" | "or"): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} ${word} ${last}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
