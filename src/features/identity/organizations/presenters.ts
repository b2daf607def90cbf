import { toTimestamp } from "../../../lib/clock.ts";
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

export function presentFounded({ organization }: OrganizationWithKey["row"]) {
  return presentOrganization(organization);
}

export function presentFirstKey({ row, key }: OrganizationWithKey) {
  return { api_key: presentCreatedApiKey({ row: row.apiKey, key }) };
}

export function presentCreatedOrganization(created: OrganizationWithKey) {
  return { ...presentFounded(created.row), ...presentFirstKey(created) };
}
