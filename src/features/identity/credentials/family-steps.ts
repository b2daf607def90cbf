import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { edgesOfFamily, familyTable, followWay, nodesTable, type Ways } from "./family.ts";

/** The ID and the degree of a node of a family. */
export type Member = readonly [id: string, degree: number];

/** Selects the IDs and the degrees of members. */
export type Members = SQL;

/** Where a walk starts, and which ways it takes. */
export interface Walk {
  roots: readonly string[];
  /** Theirs. */
  organizationId: string;
  ways: Ways;
}

type Directions = Pick<Walk, "organizationId" | "ways">;

export const MEMBER = {
  id: sql<string>`item.id`.as("id"),
  degree: sql<number>`item.degree`.as("degree"),
};

export function selectMembers(members: readonly Member[]): Members {
  return sql`select value ->> 0 as id, value ->> 1 as degree from json_each(${JSON.stringify(members)})`;
}

/**
 * Selects members, each with a JSON array of those that it leads to.
 * @param most Of each. One more is read, so that it is known whether there are more.
 */
export function selectEdges(
  db: Database,
  members: Members,
  { organizationId, ways }: Directions,
  most: number,
) {
  const edges = sql<string>`item.edges`.as("edges");
  return db.select({ ...MEMBER, edges }).from(
    sql`(${nodesTable(members, organizationId)}
      select id, degree, ${edgesOfFamily(ways, most + 1)} as edges from family) as item`,
  );
}

/** Selects some of those that members lead to, in several generations. */
export function selectAhead(db: Database, members: Members, { organizationId, ways }: Directions) {
  const family = familyTable(members, organizationId, ways);
  return db.select(MEMBER).from(sql`(${family} select id, degree from family) as item`);
}

export interface FoundMember {
  id: string;
  degree: number;
  position: number;
}

/** For each way from a member: selects a page of what it leads to. */
export function selectWays(
  db: Database,
  [id, degree]: Member,
  { organizationId, ways }: Directions,
) {
  const node = { id: sql`${id}`, degree: sql`${degree}` };
  return ways(node).map(
    (way) => (page: { after: number; size: number }) =>
      db.all<FoundMember>(followWay(node, way, organizationId, page)),
  );
}

/** Selects `value`, which a select returns. */
export function selectValue(db: Database, value: SQL) {
  return db
    .select({ value: sql<number>`item.value`.as("value") })
    .from(sql`(${value} as value) as item`);
}
