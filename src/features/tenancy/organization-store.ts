import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";

/** The organization whose budget pays for what is done for this one. */
export async function findPayer(db: Database, organizationId: string): Promise<string> {
  const { id } = await db.get<{ id: string }>(sql`select coalesce((select limits_organization_id
    from organizations where id = ${organizationId}), ${organizationId}) as id`);
  return id;
}
