import { sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import type { ManyRows } from "../../../db/row-pages.ts";
import { idempotencyRecords } from "./table.ts";

interface RepeatedPerson {
  memberships: readonly { id: string; organizationId: string }[];
  /** The IDs and the address of the person, as a result has them. */
  texts: readonly string[];
}

/** The entries of requests of a person, and those whose result mentions the person. */
export function eraseEntries(db: Database, { memberships, texts }: RepeatedPerson): ManyRows {
  const organizationIds = memberships.map((each) => each.organizationId);
  const members = sql`(select value from json_each(${JSON.stringify(memberships.map(({ id }) => id))}))`;
  const { organizationId, credentialId, result, precedingBytes } = idempotencyRecords;
  const credentials = ["api_keys", "revoked_keys", "sessions", "ended_sessions"].map(
    (table) => sql`select id from ${sql.identifier(table)} where membership_id in ${members}`,
  );
  return {
    table: idempotencyRecords,
    lists: organizationIds.map((id) => ({
      where: sql`${organizationId} = ${id}`,
      order: [sql`${precedingBytes}`, sql`rowid`],
    })),
    write: (condition) =>
      db.delete(idempotencyRecords).where(
        sql`${condition}
          and +${organizationId} in (select value from json_each(${JSON.stringify(organizationIds)}))
          and (${credentialId} in (${sql.join(credentials, sql` union all `)})
            or exists (select 1 from json_each(${JSON.stringify(texts)}) as item
              where instr(${result}, item.value) > 0))`,
      ),
  };
}
