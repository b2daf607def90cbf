import { and, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import type { TargetType } from "../../../lib/resource-types.ts";
import { auditLog } from "./table.ts";

/** The targets that have the name of a person. */
const TARGETS: readonly TargetType[] = ["member", "account", "project_member", "invitation"];
const PERSONAL_FIELDS = ["name", "display_name", "avatar", "profile", "email"];
const PERSONAL_PATHS = ["before", "after"].flatMap((side) =>
  PERSONAL_FIELDS.map((field) => sql.raw(`'$.${side}.${field}'`)),
);

/** Keeps the IDs, the roles and the times. `ids` are of the person's targets. */
export function eraseAuditedPerson(db: Database, ids: readonly string[], condition: SQL) {
  const { targetId, targetType, changes } = auditLog;
  return db
    .update(auditLog)
    .set({
      targetName: null,
      changes: sql`json_remove(${changes}, ${sql.join(PERSONAL_PATHS, sql`, `)})`,
    })
    .where(
      and(
        sql`${targetId} in (select value from json_each(${JSON.stringify(ids)}))`,
        sql`${targetType} in (select value from json_each(${JSON.stringify(TARGETS)}))`,
        condition,
      ),
    );
}
