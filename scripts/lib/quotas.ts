import { eq, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { batch } from "../../src/db/batch.ts";
import type { Database } from "../../src/db/client.ts";
import { isLiveOrganization } from "../../src/db/tombstone.ts";
import { writeAudit } from "../../src/features/housekeeping/audit/index.ts";
import {
  DEFAULT_QUOTAS,
  QUOTA_KINDS,
  type QuotaKind,
} from "../../src/features/housekeeping/quotas/index.ts";
import { quotas } from "../../src/features/housekeeping/quotas/table.ts";
import { organizations } from "../../src/features/tenancy/organization-table.ts";
import type { Clock } from "../../src/lib/clock.ts";

export type Quotas = Readonly<Record<QuotaKind, { allowed: number; isOwn: boolean }>>;

/** By kind; null for the default again. */
export type QuotaChanges = ReadonlyMap<QuotaKind, number | null>;

/** Undefined if there is no such organization. */
export async function readQuotas(
  d1: D1Database,
  organizationId: string,
): Promise<Quotas | undefined> {
  const db: Database = drizzle(d1);
  const { found, own } = await batch(db, {
    found: db
      .select({ id: organizations.id })
      .from(organizations)
      .where(isLiveOrganizationOf(organizationId)),
    own: db.select().from(quotas).where(eq(quotas.organizationId, organizationId)),
  });
  if (found.length === 0) return undefined;
  const allowed = new Map(own.map((quota) => [quota.kind, quota.allowed]));
  const entries = QUOTA_KINDS.map((kind) => {
    const quota = allowed.get(kind);
    return [kind, { allowed: quota ?? DEFAULT_QUOTAS[kind], isOwn: quota !== undefined }];
  });
  return Object.fromEntries(entries) as Quotas;
}

/** Writes the quotas that differ from `before`, on record. Returns whether any does. */
export async function changeQuotas(
  d1: D1Database,
  clock: Clock,
  organizationId: string,
  { before, changes }: { before: Quotas; changes: QuotaChanges },
): Promise<boolean> {
  const db: Database = drizzle(d1);
  const changed = [...changes].filter(
    ([kind, allowed]) => (before[kind].isOwn ? before[kind].allowed : null) !== allowed,
  );
  if (changed.length === 0) return false;
  const act = {
    action: "quotas.changed",
    target: { type: "organization", id: organizationId },
    changes: {
      before: Object.fromEntries(changed.map(([kind]) => [kind, before[kind].allowed])),
      after: Object.fromEntries(
        changed.map(([kind, allowed]) => [kind, allowed ?? DEFAULT_QUOTAS[kind]]),
      ),
    },
  } as const;
  const isLive = isLiveOrganization(organizationId);
  await batch(db, {
    ...Object.fromEntries(
      changed.map(([kind, allowed]) => [kind, writeQuota(db, { organizationId, kind }, allowed)]),
    ),
    audit: writeAudit({ db, clock, actor: { type: "operator" } }, organizationId, [act], isLive),
  });
  return true;
}

function writeQuota(
  db: Database,
  quota: Pick<typeof quotas.$inferSelect, "organizationId" | "kind">,
  allowed: number | null,
) {
  const { organizationId, kind } = quotas;
  if (allowed === null) {
    const isQuota = sql`${organizationId} = ${quota.organizationId} and ${kind} = ${quota.kind}`;
    return db.delete(quotas).where(isQuota);
  }
  return db
    .insert(quotas)
    .values({ ...quota, allowed })
    .onConflictDoUpdate({ target: [organizationId, kind], set: { allowed } });
}

function isLiveOrganizationOf(id: string): SQL {
  return sql`${organizations.id} = ${id} and ${isLiveOrganization(id)}`;
}
