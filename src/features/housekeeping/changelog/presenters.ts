import { toTimestamp } from "../../../lib/clock.ts";
import { presentTargets } from "../audit/index.ts";
import type { Fields } from "./index.ts";
import type { EntryRow } from "./store.ts";

export function presentEntry(row: EntryRow) {
  const record = {
    type: row.resourceType,
    id: row.resourceId,
    name: row.resourceName ?? undefined,
  };
  return {
    id: row.id,
    project_id: row.projectId,
    action: row.action,
    record,
    targets: presentTargets(record, row),
    actor: presentActor(row),
    source: row.keyId === null ? undefined : { id: row.keyId, name: row.sourceName ?? undefined },
    before: presentFields(row.before),
    after: presentFields(row.after),
    created_at: toTimestamp(row.createdAt),
  };
}

function presentActor({ accountId, membershipId, keyId, actorName }: EntryRow) {
  if (accountId === null || membershipId === null || keyId === null) return undefined;
  const name = actorName ?? undefined;
  return { name, account_id: accountId, membership_id: membershipId, key_id: keyId };
}

function presentFields(json: string | null): Fields | undefined {
  return json === null ? undefined : JSON.parse(json);
}
