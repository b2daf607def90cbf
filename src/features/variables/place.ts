import type { EncryptionContext } from "../../lib/cipher.ts";

/** The place that a variable's value is sealed for. */
export function valueContext(organizationId: string, id: string): EncryptionContext {
  return { table: "variables", row: id, organizationId };
}
