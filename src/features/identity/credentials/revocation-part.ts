import { type Column, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { revocationParts } from "./revocation-part-table.ts";

/** How many credentials one batch ends. */
export const PART_SIZE = LIMITS.revokedCredentials.value;

interface NewPart {
  /** The SQL before the select, for tables that the others use. */
  prefix?: SQL;
  /** Selects `id` and `turn`: those with a lower turn end before others. At least one more than a part has. */
  credentials: SQL;
  /** Nothing ends unless it holds. */
  condition: SQL;
}

/**
 * The first statement of a batch that revokes: at most so many credentials that one batch can end them. The last
 * statement is `closePart`.
 */
export function openPart(db: Database, { prefix = sql``, credentials, condition }: NewPart) {
  return db.insert(revocationParts).select(sql`${prefix}
    select 1, item.credentials, item.is_last from (
      select json_group_array(list.id) filter (where list.position <= ${PART_SIZE}) as credentials,
        count(*) <= ${PART_SIZE} as is_last
      from (select record.id, row_number() over (order by record.turn) as position
        from (${credentials}) as record) as list) as item
    where ${condition}`);
}

/** Whether the part that is open has a credential. */
export function isInPart({ id }: { id: Column }): SQL {
  return sql`${id} in (select value from json_each((select credentials from revocation_parts where id = 1)))`;
}

/** Whether nothing remains after the part that is open. Null, which is not true, if none is. */
export const IS_LAST_PART = sql`(select is_last from revocation_parts where id = 1)`;

/** Returns nothing if no part was open. */
export function closePart(db: Database) {
  const { id, isLast } = revocationParts;
  return db.delete(revocationParts).where(sql`${id} = 1`).returning({ isLast });
}
