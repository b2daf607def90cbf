import type { EncryptionContext } from "../../../lib/cipher.ts";
import type { Reference } from "./model.ts";

/** Standard Webhooks 1.0 asks for 24 to 64. */
const SECRET_BYTES = 32;

export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** In the format of Standard Webhooks 1.0. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** Differs from the context of secrets, so that neither can be decrypted as the other. */
export function urlContext({ id, organizationId, projectId }: Reference): EncryptionContext {
  return { table: "integrations.url", row: id, organizationId, owners: [projectId] };
}

/** For the previous secret too: a rotation copies the encrypted value. */
export function secretContext({ id, organizationId, projectId }: Reference): EncryptionContext {
  return { table: "integrations.secret", row: id, organizationId, owners: [projectId] };
}
