import { toTimestamp } from "../../../lib/clock.ts";
import { matchesGlob } from "../../../lib/glob.ts";
import { durationOf } from "../../../lib/quantities.ts";
import type { ApproverVerifier } from "../../../lib/settings.ts";
import type { FromRule, Rules, SourceRule, WindowRule } from "../../projects/access/model.ts";
import type { Condition, Facts, Freeze, Success, VerifiedSource } from "./model.ts";
import { maySee, type Reader, seesOrganization } from "./reader.ts";
import { describeTime, isOpen, nextOpening } from "./windows.ts";

/** When the conditions are read, by whom, and who verifies the approvers. */
export interface Seen {
  now: number;
  reader: Reader;
  verifier: ApproverVerifier;
}

/** Each stack to be deployed needs a success that had it by name. */
export function findMissingSuccess(
  rule: FromRule,
  facts: Facts,
  { now, reader }: Seen,
): Condition[] {
  const { stackNames, places: names } = facts;
  const able = facts.successes.filter(
    (each) => rule.environment_ids.includes(each.environmentId) && isSameIn(rule, each, facts),
  );
  const minimum = rule.minimum_seconds * 1_000;
  const isLong = ({ finishedAt, replacedAt }: Success) =>
    (replacedAt ?? now) - finishedAt >= minimum;
  const missing = [...stackNames.keys()].filter(
    (at) => !able.some((each) => covers(each, at) && isLong(each)),
  );
  if (missing.length === 0 && stackNames.length > 0) return [];
  const places = describePlaces(rule.environment_ids, names, reader);
  const what = facts.hasSource ? "source" : "configuration";
  const same = rule.same_configuration ? "source and configuration" : what;
  const some =
    missing.length < stackNames.length
      ? ` with ${nameSome(missing.map((at) => stackNames[at] ?? ""))}`
      : "";
  const there = minimum > 0 ? `, and has been there for ${durationOf(minimum)}` : "";
  const message = `Starts once a deployment of the same ${same} has succeeded in ${places}${some}${there}.`;
  const openings = missing.map((at) => {
    const times = able.flatMap((each) =>
      each.replacedAt === null && covers(each, at) ? [each.finishedAt + minimum] : [],
    );
    return Math.min(...times);
  });
  const opensAt = Math.max(...openings);
  return [{ code: "from", message, ...(Number.isFinite(opensAt) && { opensAt }) }];
}

/** Whether a success with the same source counts. Without a source, its whole configuration is compared. */
function isSameIn(rule: FromRule, success: Success, { hasSource, own }: Facts): boolean {
  if (rule.same_configuration) return isSameDigest(own.compared, success.compared);
  return hasSource === 1 || isSameDigest(own.digest, success.configuration);
}

/** One that is not stored yet equals no other. */
export function isSameDigest(one: string | null, other: string | null): boolean {
  return one !== null && one !== "" && one === other;
}

function covers({ covers: positions }: Success, at: number): boolean {
  return positions === "all" || positions.includes(at);
}

const NAMED_STACKS = 3;

function nameSome(names: readonly string[]): string {
  const named = names.slice(0, NAMED_STACKS).map((name) => `"${name}"`);
  const more = names.length - named.length;
  return `${names.length > 1 ? "stacks" : "stack"} ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Each of those that the reader may see, and the others once. */
function describePlaces(ids: readonly string[], names: Facts["places"], reader: Reader): string {
  const described = ids.map((id) => {
    if (!maySee(reader, id)) return "another environment";
    return id in names ? `"${names[id]}"` : "an environment that no longer exists";
  });
  return [...new Set(described)].join(" or ");
}

const UNNAMED =
  "An entry of sources names neither a trust nor an issuer, so it matches nothing: add trust_ids or issuer to it.";

/** What a caller wrote about its source proves nothing. */
export function findOtherSource(
  rules: readonly SourceRule[],
  { source, commit }: Facts,
): Condition[] {
  const message = `Needs a key that a trust has given for ${rules.map(describeSource).join(", or ")}`;
  if (!source || !rules.some((rule) => isOfSource(rule, source))) {
    const unnamed = rules.some((rule) => !rule.trust_ids && !rule.issuer) ? ` ${UNNAMED}` : "";
    return [{ code: "sources", message: `${message}.${unnamed}` }];
  }
  if (!commit || (commit.sha === source.sha && commit.repoId === source.repository_id)) return [];
  return [{ code: "sources", message: `${message}, and its commit as the source.` }];
}

function isOfSource(rule: SourceRule, source: VerifiedSource): boolean {
  const { trust_ids: trustIds, issuer, repository_id: id, ref, protected_ref: isProtected } = rule;
  if (source.ref === undefined || source.repository_id !== id) return false;
  const isNamed = trustIds ? trustIds.includes(source.trust_id) : issuer === source.issuer;
  return isNamed && matchesGlob(ref, source.ref) && (!isProtected || source.is_protected === true);
}

function describeSource({ repository_id: id, ref, issuer, protected_ref }: SourceRule): string {
  const kind = protected_ref ? "the protected ref " : "";
  const host = issuer ? ` at ${issuer}` : "";
  return `${kind}${ref} of the repository ${id}${host}`;
}

export function findClosedWindow(rule: WindowRule, now: number): Condition[] {
  if (isOpen(rule, now)) return [];
  const opensAt = nextOpening(rule, now) ?? undefined;
  const when = opensAt === undefined ? "" : ` ${describeTime(rule.time_zone, opensAt)}`;
  return [{ code: "window", message: `Its window opens${when}.`, opensAt }];
}

export function findFreezes(freezes: readonly Freeze[], { now, reader }: Seen): Condition[] {
  return freezes
    .filter(({ startsAt, endsAt }) => startsAt <= now && now < endsAt)
    .map((freeze) => ({
      code: "freeze",
      message: `Frozen until ${toTimestamp(freeze.endsAt)} by ${describeFreeze(freeze, reader)}`,
      opensAt: freeze.endsAt,
    }));
}

function describeFreeze({ projectId, name, reason }: Freeze, reader: Reader): string {
  const isSeen = projectId !== null || seesOrganization(reader);
  return isSeen ? `"${name}": ${reason}` : "a freeze of the organization.";
}

export function findRunningInGroup(
  { group }: Rules,
  { runningInGroup }: Facts,
  { reader }: Seen,
): Condition[] {
  const [running] = runningInGroup;
  if (group === undefined || !running) return [];
  const isSeen = maySee(reader, running.environmentId);
  const which = isSeen ? `the deployment ${running.id}` : "a deployment of another environment";
  const message = `Starts after ${which} of its group "${group}" has ended.`;
  return [{ code: "group", message, ...(isSeen && { deploymentId: running.id }) }];
}
