import type { EncryptionContext } from "../../../lib/cipher.ts";

/** The place that a URL is sealed for. It is not that of secrets: the one never opens as the other. */
export function urlContext(organizationId: string, id: string): EncryptionContext {
  return { table: "integrations.url", row: id, organizationId };
}

/** The place that a secret is sealed for, whether it is the newest or the one before. */
export function secretContext(organizationId: string, id: string): EncryptionContext {
  return { table: "integrations.secret", row: id, organizationId };
}
