import type { EncryptionContext } from "../../../lib/cipher.ts";
import { Conflict } from "../../../lib/errors.ts";

export const NAME_TAKEN = new Conflict(
  "A variable with this name already exists. Replace it, or choose another name.",
);

export const RESOURCE_ID_TAKEN = new Conflict(
  "A renamed variable keeps the resource_id of this name. Delete it, or choose another name.",
);

export const VARIABLES_CHANGING = new Conflict(
  "Another request is changing the same variables. Retry.",
);

/** What the limits of an environment count. */
export const COUNTED = {
  variables: "variables of an environment",
  bytes: "bytes of values in an environment",
} as const;

export interface VariableInput {
  name: string;
  storageMethod: StorageMethod;
  /** Plain text. */
  value: string;
}

/** How a runner stores a variable at the provider. Source: docs/variables.md, "Storage methods". */
export const STORAGE_METHODS = ["secret", "secure_string", "string"] as const;
export type StorageMethod = (typeof STORAGE_METHODS)[number];

export interface ScopeReference {
  kind: "environment" | "component";
  id: string;
}

export interface Scope {
  organizationId: string;
  projectId: string;
  environmentId: string;
  /** Null for variables of the environment itself. */
  componentId: string | null;
}

/** Variable names are unique per scope ID. */
export function scopeIdOf(scope: Scope): string {
  return scope.componentId ?? scope.environmentId;
}

/** The path of a variable at the provider. It is set once: a renamed variable keeps it. */
export function resourceIdOf(scope: Scope, name: string): string {
  const { projectId, environmentId, componentId } = scope;
  return ["", projectId, environmentId, componentId, name]
    .filter((part) => part !== null)
    .join("/");
}

/** A value opens only in the scope that it was written for. */
export function valueContext({
  id,
  organizationId,
  projectId,
  environmentId,
  componentId,
}: Scope & { id: string }): EncryptionContext {
  const owners = [projectId, environmentId, componentId];
  return { table: "variables", row: id, organizationId, owners };
}
