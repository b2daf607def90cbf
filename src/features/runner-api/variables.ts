import { and, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { StorageMethod } from "../variables/index.ts";
import { variables } from "../variables/table.ts";
import type { Reference } from "./store.ts";

/** A variable with its plain text. */
export interface DeliveredVariable {
  name: string;
  storageMethod: StorageMethod;
  resourceId: string;
  componentId: string | null;
  value: string;
}

/** The sealed variables of the attempt's environment, if its lease is live. */
export function listSealedVariables(db: Database, live: SQL, reference: Reference) {
  return db
    .select()
    .from(variables)
    .where(
      and(
        sql`${variables.environmentId} = (select mine.environment_id from attempts as mine
          where mine.id = ${reference.id})`,
        live,
      ),
    )
    .orderBy(variables.createdAt, variables.id);
}

/** Whether the lease is live: a runner that was silent too long has to be heard of first. */
export function leaseIsLive({ id, poolId }: Reference, now: number): SQL {
  return sql`exists (select 1 from attempts as held
    where held.id = ${id} and held.pool_id = ${poolId} and held.state = 'running'
      and held.lease_until > ${now})`;
}
