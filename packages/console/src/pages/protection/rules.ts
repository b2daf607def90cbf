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
    from && ["Tried before", describeFrom(from, nameOf)],
    sources && ["Sources", `Only CI jobs of ${join(sources.map(describeSource), "or")}.`],
    windows && ["Times", describeWindows(windows)],
    group !== undefined
      ? ["One at a time", `Over all environments of the group ${group}.`]
      : undefined,
    exempt && [
      "Exempt",
      `A ${join([...exempt], "or")} needs nothing of this but its turn in the group, and no freeze holds it.`,
    ],
  ];
  return described
    .filter((each) => each !== undefined)
    .map(([title, text]) => [title, showHidden(text)] as const);
}

function describeMembers(members: Schemas["EnvironmentMembers"], nameOf: NameOf): string {
  return members.role
    ? `${humanize(members.role)}s of the project, and admins of the organization`
    : join((members.membership_ids ?? []).map(nameOf).toSorted(), "and");
}

function describeApprovals(rule: Schemas["EnvironmentApprovals"], nameOf: NameOf): string {
  const { required, approvers, prevent_self_approval, expires_after_seconds } = rule;
  const needed = approvers.role
    ? `${formatCount(required, "approval")} by ${approvers.role}s of the project or admins of the organization`
    : `${formatCount(required, "approval")} of: ${describeMembers(approvers, nameOf)}`;
  const self = prevent_self_approval ? "Nobody approves a deployment of their own." : "";
  const end = `Without that, a deployment is canceled ${formatSpan(expires_after_seconds)} after its creation.`;
  return [`${needed}.`, self, end].filter(Boolean).join(" ");
}

/** Who says who an approver is. */
const VERIFIED_BY = {
  identity_provider:
    "People whom the creator added or invited have to sign in with the identity provider first.",
  admins:
    "Approvals are as strong as the organization's admins: this server has no identity provider, so they vouch for who a person is.",
} satisfies Record<Schemas["ApproverVerifier"], string>;

function describeSource(source: Schemas["EnvironmentSource"]): string {
  const { ref, repository_id: id, issuer, trust_ids: trusts = [], protected_ref } = source;
  const what = `${ref}${protected_ref ? " (protected)" : ""} of the repository ${id}`;
  if (issuer) return `${what} at ${new URL(issuer).host}`;
  if (trusts.length > 0) return `${what} with the trust ${join(trusts, "or")}`;
  return `${what} (matches nothing: add trust_ids or issuer)`;
}

function describeFrom(rule: Schemas["EnvironmentFrom"], nameOf: NameOf): string {
  const { environment_ids, minimum_seconds, same_configuration } = rule;
  const except = same_configuration?.except ?? [];
  const what = `The same source${same_configuration ? " and configuration" : ""}`;
  const but = except.length > 0 ? ` (except ${join(except, "and")})` : "";
  const long = minimum_seconds > 0 ? `, and been there for ${formatSpan(minimum_seconds)}` : "";
  return `${what}${but} has to have succeeded in ${join(environment_ids.map(nameOf), "or")}${long}.`;
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
