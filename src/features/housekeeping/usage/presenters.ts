import { databaseStatus } from "../../../lib/database-size.ts";
import { DEFAULT_QUOTAS, type QuotaKind } from "../quotas/index.ts";
import {
  HISTORY_KINDS,
  isUnlimited,
  SHOWN_HISTORY,
  type ShownHistory,
  USAGE_KINDS,
  type UsageKind,
} from "./model.ts";
import type { Usage } from "./store.ts";

export function presentUsage(
  { live, history, quotas }: Usage,
  { actor }: { actor: { organizationId: string } },
) {
  const quotaOf = (kind: QuotaKind) => quotas.get(kind) ?? DEFAULT_QUOTAS[kind];
  const bytesOf = (kind: ShownHistory) => history.get(kind)?.bytes ?? 0;
  return {
    org_id: actor.organizationId,
    bytes: {
      used: sum([...live.values()].map(({ bytes }) => bytes)),
      allowed: quotaOf("stored_bytes"),
    },
    records: Object.fromEntries(
      USAGE_KINDS.map((kind) => {
        const { records = 0, bytes = 0 } = live.get(kind) ?? {};
        const allowed = isUnlimited(kind) ? undefined : quotaOf(kind);
        return [kind, { used: records, allowed, bytes }] as const;
      }),
    ) as Record<UsageKind, { used: number; allowed: number | undefined; bytes: number }>,
    history: {
      used: sum(HISTORY_KINDS.map(bytesOf)),
      allowed: quotaOf("history_bytes"),
      by_kind: Object.fromEntries(SHOWN_HISTORY.map((kind) => [kind, bytesOf(kind)])) as Record<
        ShownHistory,
        number
      >,
    },
    database: databaseStatus(),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
