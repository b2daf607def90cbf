import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { idempotencyRecords } from "./table.ts";

/**
 * Deletes the entries of requests of a person, and those whose result mentions the person.
 * @param texts The IDs and the address of the person, as a result has them.
 */
export function eraseEntries(
  db: Database,
  memberships: readonly { id: string; organizationId: string }[],
  texts: readonly string[],
  condition: SQL,
) {
  const organizationIds = JSON.stringify(memberships.map((each) => each.organizationId));
  const membershipIds = JSON.stringify(memberships.map(({ id }) => id));
  const { organizationId, credentialId, result } = idempotencyRecords;
  return db.delete(idempotencyRecords).where(
    sql`${organizationId} in (select value from json_each(${organizationIds}))
      and (${credentialId} in (select api_keys.id from api_keys
          where api_keys.membership_id in (select value from json_each(${membershipIds}))
          union all select sessions.id from sessions
          where sessions.membership_id in (select value from json_each(${membershipIds})))
        or exists (select 1 from json_each(${JSON.stringify(texts)}) as item
          where instr(${result}, item.value) > 0))
      and ${condition}`,
  );
}
