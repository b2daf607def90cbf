import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../../lib/clock.ts";
import type { VariableInput } from "./model.ts";
import { warningOf } from "./refusal.ts";
import type { VariableInput as VariableSchema } from "./schemas.ts";
import type { SealedRow, VariableRow } from "./store.ts";

/** What the changelog has of it. */
export function presentFields(row: VariableRow) {
  return {
    id: row.id,
    component_id: row.componentId ?? undefined,
    environment_id: row.environmentId,
    name: row.name,
    resource_id: row.resourceId,
    storage_method: row.storageMethod,
    version: row.version,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}

export function presentVariable(row: VariableRow) {
  return { ...presentFields(row), warning: warningOf(row.name) };
}

/** The value is decrypted. */
export function presentRevealed(row: SealedRow) {
  return { ...presentVariable(row), value: row.value };
}

export function toVariableInput(body: z.output<typeof VariableSchema>): VariableInput {
  const { name, storage_method, value } = body;
  return { name, storageMethod: storage_method, value };
}
