import { LIMITS } from "../../lib/limits.ts";
import { RECORD_QUOTAS, USAGE_KINDS, type UsageByKind, type UsageKind } from "./model.ts";

export function presentUsage(organizationId: string, usage: UsageByKind) {
  const bytes = [...usage.values()].reduce((sum, each) => sum + each.bytes, 0);
  return {
    org_id: organizationId,
    bytes: { used: bytes, allowed: LIMITS.storedBytes.value },
    records: Object.fromEntries(
      USAGE_KINDS.map((kind) => [kind, presentKind(kind, usage.get(kind))] as const),
    ) as Record<UsageKind, ReturnType<typeof presentKind>>,
  };
}

function presentKind(kind: UsageKind, usage: { records: number; bytes: number } | undefined) {
  return {
    used: usage?.records ?? 0,
    allowed: kind === "deployments" ? undefined : RECORD_QUOTAS[kind],
    bytes: usage?.bytes ?? 0,
  };
}
