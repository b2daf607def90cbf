import { toTimestamp } from "../../../lib/clock.ts";
import { matchesGlob } from "../../../lib/glob.ts";
import { durationOf } from "../../../lib/quantities.ts";
import type { FromRule, Rules, SourceRule, WindowRule } from "../../projects/access/model.ts";
import type { Condition, Facts, Freeze, Success } from "./model.ts";
import { describeTime, isOpen, nextOpening } from "./windows.ts";

/** @param isSame Whether the success has had the configuration, as far as the rule compares it. */
export function findMissingSuccess(
  rule: FromRule,
  { successes, places: names }: Facts,
  now: number,
  isSame: (id: string) => boolean,
): Condition[] {
  const able = successes.filter(
    ({ id, environmentId }) =>
      rule.environment_ids.includes(environmentId) && (!rule.same_configuration || isSame(id)),
  );
  const minimum = rule.minimum_seconds * 1_000;
  const isLong = ({ finishedAt, replacedAt }: Success, until: number) =>
    (replacedAt ?? until) - finishedAt >= minimum;
  if (able.some((each) => isLong(each, now))) return [];
  const places = rule.environment_ids.map((id) => `"${names[id] ?? id}"`).join(" or ");
  const same = rule.same_configuration ? "source and configuration" : "source";
  const there = minimum > 0 ? `, and has been there for ${durationOf(minimum)}` : "";
  const message = `Starts once a deployment of the same ${same} has succeeded in ${places}${there}.`;
  const times = able.flatMap(({ finishedAt, replacedAt }) =>
    replacedAt === null ? [finishedAt + minimum] : [],
  );
  const opensAt = times.length > 0 ? Math.min(...times) : undefined;
  return [{ code: "from", message, opensAt }];
}

/** The claims are those that a trust has verified: what a caller wrote about its source proves nothing. */
export function findOtherSource(
  rules: readonly SourceRule[],
  { claims, commit }: Facts,
): Condition[] {
  const message = `Needs a key that a trust has given for ${rules.map(describeSource).join(", or ")}`;
  const isOf = ({ repository_id: id, ref }: SourceRule) =>
    claims?.repository_id === id && matchesGlob(ref, claims.ref ?? "");
  if (!rules.some(isOf)) return [{ code: "sources", message: `${message}.` }];
  if (!commit || (commit.sha === claims?.sha && commit.repoId === claims.repository_id)) return [];
  return [{ code: "sources", message: `${message}, and its commit as the source.` }];
}

const describeSource = ({ repository_id: id, ref }: SourceRule) => `${ref} of the repository ${id}`;

export function findClosedWindow(rule: WindowRule, now: number): Condition[] {
  if (isOpen(rule, now)) return [];
  const opensAt = nextOpening(rule, now) ?? undefined;
  const when = opensAt === undefined ? "" : ` ${describeTime(rule.time_zone, opensAt)}`;
  return [{ code: "window", message: `Its window opens${when}.`, opensAt }];
}

export function findFreezes(freezes: readonly Freeze[], now: number): Condition[] {
  return freezes
    .filter(({ startsAt, endsAt }) => startsAt <= now && now < endsAt)
    .map(({ name, reason, endsAt }) => ({
      code: "freeze",
      message: `Frozen until ${toTimestamp(endsAt)} by "${name}": ${reason}`,
      opensAt: endsAt,
    }));
}

export function findRunningInGroup({ group }: Rules, { groupIds }: Facts): Condition[] {
  const [deploymentId] = groupIds;
  if (group === undefined || deploymentId === undefined) return [];
  const message = `Starts after the deployment ${deploymentId} of its group "${group}" has ended.`;
  return [{ code: "group", message, deploymentId }];
}
