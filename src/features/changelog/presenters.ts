import { toTimestamp } from "../../lib/clock.ts";
import type { Fields } from "./index.ts";
import type { EntryRow } from "./store.ts";

export function presentEntry(row: EntryRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    action: row.action,
    record: { type: row.recordType, id: row.recordId, name: row.recordName ?? undefined },
    actor: presentActor(row),
    before: parseFields(row.before),
    after: parseFields(row.after),
    created_at: toTimestamp(row.createdAt),
  };
}

function presentActor({ accountId, membershipId, keyId }: EntryRow) {
  if (accountId === null || membershipId === null || keyId === null) return undefined;
  return { account_id: accountId, membership_id: membershipId, key_id: keyId };
}

function parseFields(json: string | null): Fields | undefined {
  return json === null ? undefined : (JSON.parse(json) as Fields);
}
