import type { Place } from "../../../lib/cipher.ts";

/** The place that a URL is sealed for. It is not that of secrets: the one never opens as the other. */
export function placeOfUrl(organizationId: string, id: string): Place {
  return { table: "integrations.url", row: id, organizationId };
}

/** The place that a secret is sealed for, whether it is the newest or the one before. */
export function placeOfSecret(organizationId: string, id: string): Place {
  return { table: "integrations.secret", row: id, organizationId };
}
