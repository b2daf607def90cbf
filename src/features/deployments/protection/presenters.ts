import { toTimestamp } from "../../../lib/clock.ts";
import { approverVerifier, type IdentitySettings } from "../../../lib/settings.ts";
import { OPEN_ACCESS, type Rules } from "../../projects/access/model.ts";
import { maySee, type Reader } from "../conditions/index.ts";
import type { ProtectionRow } from "./store.ts";

export function presentRules(rules: string | null): Rules {
  return { access: OPEN_ACCESS, ...(JSON.parse(rules ?? "{}") as Partial<Rules>) };
}

export function presentProtection(
  { environmentId, rules, updatedAt }: ProtectionRow,
  { actor, settings }: { actor: Reader; settings: IdentitySettings },
) {
  const { from, ...others } = presentRules(rules);
  const seen = from?.environment_ids.filter((id) => maySee(actor, id));
  return {
    environment_id: environmentId,
    ...others,
    ...(from && seen && { from: { ...from, environment_ids: seen } }),
    approvers_verified_by: others.approvals && approverVerifier(settings),
    updated_at: updatedAt === null ? undefined : toTimestamp(updatedAt),
  };
}
