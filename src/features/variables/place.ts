import type { Place } from "../../lib/cipher.ts";

/** The place that a variable's value is sealed for. */
export function placeOf(organizationId: string, id: string): Place {
  return { table: "variables", row: id, organizationId };
}
