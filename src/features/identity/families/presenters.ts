import { toTimestamp } from "../../../lib/clock.ts";
import type { FamilyItem } from "./model.ts";

export function presentFamilyItem(item: FamilyItem) {
  return {
    type: item.type,
    id: item.id,
    name: item.name ?? undefined,
    membership_id: item.membershipId ?? undefined,
    role: item.role ?? undefined,
    counts: item.type === "organization" ? countTypes(item.credentials) : undefined,
    created_at: toTimestamp(item.createdAt),
  };
}

/** Each text begins with a type. */
function countTypes(credentials: ReadonlySet<string>) {
  const counts = { api_keys: 0, runner_tokens: 0, trusts: 0, invitations: 0 };
  for (const each of credentials) counts[`${each.split(" ")[0]}s` as keyof typeof counts] += 1;
  return counts;
}
