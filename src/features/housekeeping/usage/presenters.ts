import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { USAGE_KINDS, type UsageByKind, type UsageKind } from "./model.ts";

export function presentUsage(usage: UsageByKind, { actor }: { actor: { organizationId: string } }) {
  const bytes = [...usage.values()].reduce((sum, each) => sum + each.bytes, 0);
  return {
    org_id: actor.organizationId,
    bytes: { used: bytes, allowed: LIMITS.storedBytes.value },
    records: Object.fromEntries(
      USAGE_KINDS.map((kind) => [kind, presentKind(usage.get(kind), quotaOf(kind))] as const),
    ) as Record<UsageKind, ReturnType<typeof presentKind>>,
  };
}

const quotaOf = (kind: UsageKind) => (kind === "deployments" ? undefined : QUOTAS[kind]);

function presentKind(
  usage: { records: number; bytes: number } | undefined,
  allowed: number | undefined,
) {
  return {
    used: usage?.records ?? 0,
    allowed,
    bytes: usage?.bytes ?? 0,
  };
}
