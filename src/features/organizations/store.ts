import { eq } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { memberships } from "../../db/schema.ts";
import { organizations } from "./table.ts";

export type OrganizationRow = typeof organizations.$inferSelect;

export function findOrganization(db: Database, id: string) {
  return db.select().from(organizations).where(eq(organizations.id, id));
}

export function insertOrganization(db: Database, organization: OrganizationRow) {
  return db.insert(organizations).values(organization).returning();
}

export function insertOwner(
  db: Database,
  owner: { id: string; organizationId: string; accountId: string; now: number },
) {
  const { now, ...membership } = owner;
  return db
    .insert(memberships)
    .values({ ...membership, role: "owner", createdAt: now, updatedAt: now });
}
