import type { Place } from "../../lib/cipher.ts";
import { placeOfSecret, placeOfUrl } from "../notifications/integrations/index.ts";
import { placeOf as placeOfValue } from "../variables/index.ts";

/** A column whose texts are sealed, of a table whose rows have an ID and an organization. */
export interface SealedColumn {
  table: string;
  column: string;
  placeOf(organizationId: string, id: string): Place;
}

/**
 * All that is sealed, in the order in which it has to be sealed anew: a secret becomes the previous
 * one, so those are met last.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "variables", column: "value", placeOf: placeOfValue },
  { table: "integrations", column: "url", placeOf: placeOfUrl },
  { table: "integrations", column: "secret", placeOf: placeOfSecret },
  { table: "integrations", column: "previous_secret", placeOf: placeOfSecret },
];
