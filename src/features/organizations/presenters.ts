import { toTimestamp } from "../../lib/clock.ts";
import { presentCreatedApiKey } from "../api-keys/index.ts";
import type { FoundedOrganization, OrganizationRow } from "./store.ts";

export function presentOrganization(row: OrganizationRow) {
  return {
    id: row.id,
    name: row.name,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}

export function presentFoundedOrganization({ organization, apiKey }: FoundedOrganization) {
  return { ...presentOrganization(organization), api_key: presentCreatedApiKey(apiKey) };
}
