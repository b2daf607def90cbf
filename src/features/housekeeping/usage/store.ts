import { eq, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { type Growth, selectExceeded, selectStorage } from "./growth.ts";
import { limitChecks, usage } from "./table.ts";

/** Fails its batch if the write would exceed a limit. */
export function checkLimits(ctx: SystemContext, growth: Growth) {
  return insertFrom(
    ctx.db,
    limitChecks,
    { organizationId: growth.organizationId, isWithin: 0 },
    sql`from (${selectExceeded(growth)}) as exceeded limit 1`,
  );
}

export function findExceeded(ctx: SystemContext, growth: Growth) {
  return ctx.db.get<{ what: string; allowed: number } | undefined>(
    sql`select what, allowed from (${selectExceeded(growth)}) as exceeded limit 1`,
  );
}

/** The quotas of bytes of a write, with what is used of each. */
export function listStorage(db: Database, organizationId: string) {
  return db
    .select({
      what: sql<string>`storage.what`.as("what"),
      allowed: sql<number>`storage.allowed`.as("allowed"),
      used: sql<number>`storage.used`.as("used"),
    })
    .from(sql`(${selectStorage(organizationId)}) as storage`);
}

export function listUsage(db: Database, organizationId: string) {
  return db.select().from(usage).where(eq(usage.organizationId, organizationId));
}
