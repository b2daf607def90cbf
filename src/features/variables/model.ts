export interface VariableInput {
  name: string;
  storageMethod: StorageMethod;
  /** Plain text. */
  value: string;
}

/** How a runner stores a variable at the provider (spec, "Variable"). */
export const STORAGE_METHODS = ["secret", "secure_string", "string"] as const;
export type StorageMethod = (typeof STORAGE_METHODS)[number];
