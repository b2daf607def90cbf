import { toTimestamp } from "../../../lib/clock.ts";
import type { FamilyItem } from "./store.ts";

interface Counts {
  api_keys: number;
  runner_tokens: number;
  trusts: number;
  invitations: number;
}

export function presentFamilyItem(item: FamilyItem) {
  return {
    type: item.type,
    id: item.id,
    name: item.name ?? undefined,
    membership_id: item.membershipId ?? undefined,
    role: item.role ?? undefined,
    counts: item.counts === null ? undefined : (JSON.parse(item.counts) as Counts),
    created_at: toTimestamp(item.createdAt),
  };
}
