import { and, asc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { insertKey, issueApiKey, newKeyRow } from "../../src/features/api-keys/index.ts";
import { bootstraps } from "../../src/features/bootstrap/table.ts";
import { memberships } from "../../src/features/memberships/table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { CommandError } from "./command.ts";
import { openLocalDatabase } from "./database.ts";

/** Creates an API key for the first owner of the local organization, without another key. */
export async function createLocalKey(): Promise<string> {
  const { d1, close } = await openLocalDatabase();
  try {
    const db = drizzle(d1);
    const { organizationId } = bootstraps;
    const [owner] = await db
      .select({ organizationId, membershipId: memberships.id })
      .from(bootstraps)
      .innerJoin(
        memberships,
        and(eq(memberships.organizationId, organizationId), eq(memberships.role, "owner")),
      )
      .orderBy(asc(memberships.createdAt), asc(memberships.id))
      .limit(1);
    if (!owner) throw new CommandError("The local organization has no owner.");
    const issued = await issueApiKey(newId(systemClock));
    const row = newKeyRow(issued, systemClock.now());
    await insertKey(db, { ...row, ...owner, name: "npm start", role: "owner" });
    return issued.key;
  } finally {
    await close();
  }
}
