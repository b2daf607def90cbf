import { toTimestamp } from "../../../lib/clock.ts";
import { OPEN_ACCESS, type Rules } from "../../projects/access/model.ts";
import { maySee, type Reader } from "../conditions/index.ts";
import type { ProtectionRow } from "./store.ts";

export function presentRules(rules: string | null): Rules {
  return { access: OPEN_ACCESS, ...(JSON.parse(rules ?? "{}") as Partial<Rules>) };
}

export function presentProtection(
  { environmentId, rules, updatedAt }: ProtectionRow,
  { actor }: { actor: Reader },
) {
  const { from, ...others } = presentRules(rules);
  const seen = from?.environment_ids.filter((id) => maySee(actor, id));
  return {
    environment_id: environmentId,
    ...others,
    ...(from && seen && { from: { ...from, environment_ids: seen } }),
    updated_at: updatedAt === null ? undefined : toTimestamp(updatedAt),
  };
}
