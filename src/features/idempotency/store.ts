import { and, eq, lt, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { idempotencyRecords } from "./table.ts";

export type RecordRow = Awaited<ReturnType<typeof findRecord>>[number];

export function findRecord(db: Database, credentialId: string, key: string) {
  const { id, fingerprint, status, result, secrets, changedKeys, createdAt } = idempotencyRecords;
  return db
    .select({
      id,
      organizationId: idempotencyRecords.organizationId,
      fingerprint,
      status,
      result,
      secrets,
      changedKeys,
      createdAt,
      /** Of the organization: any wakes a consumer, which sends all that are due. */
      pendingDeliveryId: sql<string | null>`(select pending.id from deliveries as pending
        where pending.organization_id = idempotency_records.organization_id
          and pending.status = 'pending' limit 1)`.as("pending_delivery_id"),
    })
    .from(idempotencyRecords)
    .where(and(eq(idempotencyRecords.credentialId, credentialId), eq(idempotencyRecords.key, key)));
}

export type NewRecord = Omit<
  typeof idempotencyRecords.$inferInsert,
  "result" | "changedKeys" | "precedingBytes"
> & {
  result: string | SQL;
  changedKeys: string | SQL;
};

export function insertRecord({ db }: ServiceContext, record: NewRecord, condition: SQL) {
  return insertFrom(
    db,
    idempotencyRecords,
    { ...record, precedingBytes: 0 },
    sql`where ${condition}`,
  ).returning({ id: idempotencyRecords.id });
}

export function deleteRecord(db: Database, id: string) {
  return db.delete(idempotencyRecords).where(eq(idempotencyRecords.id, id));
}

/** Returns the deleted records, at most `limit`. */
export function deleteCreatedBefore(db: Database, time: number, limit: number) {
  const { id, createdAt } = idempotencyRecords;
  const some = db.select({ id }).from(idempotencyRecords).where(lt(createdAt, time)).limit(limit);
  return db.delete(idempotencyRecords).where(sql`${id} in ${some}`).returning({ id });
}
