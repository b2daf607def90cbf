import { toTimestamp } from "../../../lib/clock.ts";
import { maskHost, maskUrl } from "../../../lib/mask-url.ts";
import type { Fields } from "./index.ts";
import type { EntryRow } from "./store.ts";

export function presentEntry(row: EntryRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    action: row.action,
    record: { type: row.resourceType, id: row.resourceId, name: presentName(row) },
    actor: presentActor(row),
    before: presentFields(row, row.before),
    after: presentFields(row, row.after),
    created_at: toTimestamp(row.createdAt),
  };
}

function presentActor({ accountId, membershipId, keyId, actorName }: EntryRow) {
  if (accountId === null || membershipId === null || keyId === null) return undefined;
  const name = actorName ?? undefined;
  return { name, account_id: accountId, membership_id: membershipId, key_id: keyId };
}

/** Masks the entries that earlier versions wrote with the whole host. */
function presentName({ resourceType, resourceName }: EntryRow): string | undefined {
  if (resourceName === null) return undefined;
  return resourceType === "integration" ? maskHost(resourceName) : resourceName;
}

/** Masks the entries that earlier versions wrote with more of the URL. */
function presentFields({ resourceType }: EntryRow, json: string | null): Fields | undefined {
  if (json === null) return undefined;
  const fields = JSON.parse(json) as Fields;
  const { url } = fields;
  const isTarget = resourceType === "integration" && typeof url === "string";
  return isTarget ? { ...fields, url: maskUrl(url) } : fields;
}
