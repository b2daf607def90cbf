import { eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import type { ManyRows } from "../../../db/row-pages.ts";
import type { TargetType } from "../../../lib/resource-types.ts";
import { auditLog } from "./table.ts";

/** The targets that have the name of a person. */
const TARGETS: readonly TargetType[] = ["member", "account", "project_member", "invitation"];
const PERSONAL_FIELDS = ["name", "display_name", "avatar", "profile", "email"];
const PERSONAL_PATHS = ["before", "after"].flatMap((side) =>
  PERSONAL_FIELDS.map((field) => sql.raw(`'$.${side}.${field}'`)),
);

/**
 * The entries about a person, without the person's data. Keeps the IDs, the roles and the times.
 * @param targetIds Of the person.
 */
export function eraseAuditedPerson(db: Database, targetIds: readonly string[]): ManyRows {
  const { targetId, targetType, changes, createdAt, id } = auditLog;
  const isOne = (list: readonly string[]) =>
    sql`in (select value from json_each(${JSON.stringify(list)}))`;
  return {
    table: auditLog,
    lists: targetIds.map((target) => ({
      where: sql`${eq(targetId, target)}`,
      order: [sql`${createdAt}`, sql`${id}`],
    })),
    write: (condition) =>
      db
        .update(auditLog)
        .set({
          targetName: null,
          changes: sql`json_remove(${changes}, ${sql.join(PERSONAL_PATHS, sql`, `)})`,
        })
        .where(
          sql`${condition} and +${targetId} ${isOne(targetIds)} and ${targetType} ${isOne(TARGETS)}`,
        ),
  };
}
