import { and, asc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { batch } from "../../../src/db/batch.ts";
import type { Database } from "../../../src/db/client.ts";
import { isLiveOrganization } from "../../../src/db/tombstone.ts";
import { auditOperator } from "../../../src/features/housekeeping/audit/index.ts";
import {
  insertKey,
  issueApiKey,
  newKeyRow,
} from "../../../src/features/identity/api-keys/index.ts";
import { bootstraps } from "../../../src/features/identity/bootstrap/table.ts";
import { memberships } from "../../../src/features/tenancy/member-table.ts";
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { CommandError } from "./command-error.ts";

export interface OwnerKey {
  key: string;
  membershipId: string;
}

/**
 * Creates an API key for an owner of an organization, by default the oldest, without another key.
 * Undefined if there is no such owner.
 */
export async function createOwnerKey(
  d1: D1Database,
  clock: Clock,
  {
    organizationId,
    membershipId,
    name,
  }: Record<"organizationId" | "name", string> & {
    membershipId?: string | undefined;
  },
): Promise<OwnerKey | undefined> {
  const db: Database = drizzle(d1);
  const [owner] = await db
    .select({ organizationId: memberships.organizationId, membershipId: memberships.id })
    .from(memberships)
    .where(
      and(
        eq(memberships.organizationId, organizationId),
        eq(memberships.role, "owner"),
        isLiveOrganization(organizationId),
        membershipId === undefined ? undefined : eq(memberships.id, membershipId),
      ),
    )
    .orderBy(asc(memberships.createdAt), asc(memberships.id))
    .limit(1);
  if (!owner) return undefined;
  const issued = await issueApiKey(newId(clock));
  const row = {
    ...newKeyRow(issued, clock.now()),
    ...owner,
    name,
    role: "owner" as const,
    isOwn: true,
  };
  const act = { organizationId, recordId: issued.id };
  await batch(db, {
    key: insertKey(db, row),
    audit: auditOperator({ db, clock }, "owner_key.created", [act]),
  });
  return { key: issued.key, membershipId: owner.membershipId };
}

/** Creates an API key for the first owner of the organization that the first start made, without another key. */
export async function createFirstOwnerKey(d1: D1Database, name: string): Promise<string> {
  const [first] = await drizzle(d1).select().from(bootstraps);
  const organizationId = first?.organizationId ?? "";
  const created = await createOwnerKey(d1, systemClock, { organizationId, name });
  if (!created) throw new CommandError("The first organization has no owner.");
  return created.key;
}
