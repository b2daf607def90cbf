import { toTimestamp } from "../../../lib/clock.ts";
import { OPEN_ACCESS, type Rules } from "../../projects/access/model.ts";
import type { ProtectionRow } from "./store.ts";

export function presentRules(rules: string | null): Rules {
  return { access: OPEN_ACCESS, ...(JSON.parse(rules ?? "{}") as Partial<Rules>) };
}

export function presentProtection({ environmentId, rules, updatedAt }: ProtectionRow) {
  return {
    environment_id: environmentId,
    ...presentRules(rules),
    updated_at: updatedAt === null ? undefined : toTimestamp(updatedAt),
  };
}
