import { and, eq, lte, type SQL, sql } from "drizzle-orm";
import { type Actor, credentialIdOf } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { idempotencyRecords } from "./table.ts";

export type EntryRow = Awaited<ReturnType<typeof selectEntry>>[number];

type Credential = Pick<Actor, "organizationId" | "keyId" | "session">;

/**
 * Finds the entry of a key, and deletes it if it is too old. A batch that writes goes to the primary:
 * after a failed batch, a replica may not have the entry of a concurrent request yet.
 */
export function findEntry(db: Database, actor: Credential, key: string, latest: number) {
  const isExpired = lte(idempotencyRecords.createdAt, latest);
  return {
    expired: db.delete(idempotencyRecords).where(and(within(actor, key), isExpired)),
    found: selectEntry(db, actor, key),
  };
}

const within = (actor: Credential, key: string) =>
  and(
    eq(idempotencyRecords.organizationId, actor.organizationId),
    eq(idempotencyRecords.credentialId, credentialIdOf(actor)),
    eq(idempotencyRecords.key, key),
  );

function selectEntry(db: Database, actor: Credential, key: string) {
  const { id, organizationId, fingerprint, status, result, secrets, changedKeys } =
    idempotencyRecords;
  return db
    .select({
      ...{ id, organizationId, fingerprint, status, result, secrets, changedKeys },
      /** Any of the organization: it wakes a consumer, which sends all that are due. */
      pendingDeliveryId: sql<string | null>`(select pending.id from deliveries as pending
        where pending.organization_id = idempotency_records.organization_id
          and pending.status = 'pending' limit 1)`.as("pending_delivery_id"),
    })
    .from(idempotencyRecords)
    .where(within(actor, key));
}

export type NewEntry = Omit<
  typeof idempotencyRecords.$inferInsert,
  "result" | "changedKeys" | "precedingBytes"
> & {
  result: string | SQL;
  changedKeys: string | SQL;
};

export function insertEntry(db: Database, entry: NewEntry, condition: SQL) {
  return insertFrom(
    db,
    idempotencyRecords,
    { ...entry, precedingBytes: 0 },
    sql`where ${condition}`,
  ).returning({ id: idempotencyRecords.id });
}

/** Returns the deleted entries, at most `limit`. */
export function deleteCreatedUntil(db: Database, time: number, limit: number) {
  const { id, createdAt } = idempotencyRecords;
  const some = db.select({ id }).from(idempotencyRecords).where(lte(createdAt, time)).limit(limit);
  return db.delete(idempotencyRecords).where(sql`${id} in ${some}`).returning({ id });
}
