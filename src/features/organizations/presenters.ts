import { toTimestamp } from "../../lib/clock.ts";
import { presentCreatedApiKey } from "../api-keys/index.ts";
import type { OrganizationRow, OrganizationWithKey } from "./store.ts";

export function presentOrganization(row: OrganizationRow) {
  return {
    id: row.id,
    name: row.name,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}

export function presentCreatedOrganization({ row, key }: OrganizationWithKey) {
  const apiKey = presentCreatedApiKey({ row: row.apiKey, key });
  return { ...presentOrganization(row.organization), api_key: apiKey };
}
