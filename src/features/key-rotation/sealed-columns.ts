import type { EncryptionContext } from "../../lib/cipher.ts";
import { secretContext, urlContext } from "../notifications/integrations/index.ts";
import { valueContext } from "../variables/index.ts";

/** A column whose texts are sealed, of a table whose rows have an ID and an organization. */
export interface SealedColumn {
  table: string;
  column: string;
  contextOf(organizationId: string, id: string): EncryptionContext;
}

/**
 * All that is sealed, in the order in which it has to be sealed anew: a secret becomes the previous
 * one, so those are met last.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "variables", column: "value", contextOf: valueContext },
  { table: "integrations", column: "url", contextOf: urlContext },
  { table: "integrations", column: "secret", contextOf: secretContext },
  { table: "integrations", column: "previous_secret", contextOf: secretContext },
];
