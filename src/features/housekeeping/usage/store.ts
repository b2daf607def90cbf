import { eq, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { idempotencyTotals } from "../idempotency/table.ts";
import type { QuotaKind } from "../quotas/index.ts";
import { quotas } from "../quotas/table.ts";
import { type Growth, selectExceeded, selectStorage } from "./growth.ts";
import type { ShownHistory, UsageKind } from "./model.ts";
import { historyUsage, limitChecks, usage } from "./table.ts";

/** A kind that nothing is stored of may be absent. */
export interface Usage {
  live: ReadonlyMap<UsageKind, Counted>;
  history: ReadonlyMap<ShownHistory, { bytes: number }>;
  /** Those that an operator has set for the organization. */
  quotas: ReadonlyMap<QuotaKind, number>;
}

interface Counted {
  records: number;
  bytes: number;
}

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

export function selectUsage(db: Database, organizationId: string) {
  return {
    live: db.select().from(usage).where(eq(usage.organizationId, organizationId)),
    history: db
      .select({
        kind: sql<ShownHistory>`${historyUsage.kind}`.as("kind"),
        bytes: historyUsage.bytes,
      })
      .from(historyUsage)
      .where(eq(historyUsage.organizationId, organizationId))
      .unionAll(
        db
          .select({
            kind: sql<ShownHistory>`'idempotency_records'`.as("kind"),
            bytes: idempotencyTotals.bytes,
          })
          .from(idempotencyTotals)
          .where(eq(idempotencyTotals.organizationId, organizationId)),
      ),
    quotas: db.select().from(quotas).where(eq(quotas.organizationId, organizationId)),
  };
}

/** By the bytes of their live data, their history and their audit log. */
export function listLargest(db: Database, limit: number) {
  return db.all<{ organizationId: string; bytes: number }>(sql`
    select organization_id as "organizationId", sum(bytes) as bytes
    from (select organization_id, bytes from ${usage}
      union all select organization_id, bytes from ${historyUsage}) as counted
    group by organization_id order by bytes desc limit ${limit}`);
}
