import type { EncryptionContext } from "../../lib/cipher.ts";

export interface VariableInput {
  name: string;
  storageMethod: StorageMethod;
  /** Plain text. */
  value: string;
}

/** How a runner stores a variable at the provider (spec, "Variable"). */
export const STORAGE_METHODS = ["secret", "secure_string", "string"] as const;
export type StorageMethod = (typeof STORAGE_METHODS)[number];

/** The place that a variable's value is sealed for. */
export function valueContext(organizationId: string, id: string): EncryptionContext {
  return { table: "variables", row: id, organizationId };
}
