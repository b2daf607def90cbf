import { type SQL, sql } from "drizzle-orm";

/** How far a family is followed to other organizations. */
export type FamilyReach =
  /** To those that it has founded, by what an owner revokes. */
  | "founded"
  /** Also to those that sessions have switched to, by what the person revokes. */
  | "switched";

/** The degree of what a family starts with, and of the keys whose places that has taken by a rotation. */
export const ROOT = 2;

/**
 * A key, a session, a membership or, in a list, a runner token, of which the ways on are followed. Its degree is 0 for a
 * membership of the organization that the family has added, and for what that makes by itself, which does not end with
 * the family; otherwise 1, or `ROOT`.
 */
export interface Node {
  id: SQL;
  degree: SQL;
}

/** Rows of a table that a node leads to. */
export interface Way {
  table: string;
  id?: SQL;
  degree?: SQL;
  where: SQL;
}

/** The ways from a node, those to what has not ended first. They may use the table `home`. */
export type Ways = (node: Node) => readonly Way[];

/** D1 permits so many selects in a compound. */
const TERMS = 5;
/** A recursive select follows each node to at most so many others, and finds at most so many in total. */
const BRANCHES = 10;
const MOST = sql`250`;

/**
 * To what was made with a key, a session or a membership, ended or not:
 * - the keys that they made, themselves, in a session, or by rotating another one;
 * - the keys that took their places by a rotation, because whoever has a key may have rotated it;
 * - in an organization that they have founded, the memberships that they have added, with their keys.
 */
export function familyWays(reach: FamilyReach): Ways {
  return (node) => [
    ...keysMadeBy(node, "api_keys"),
    ...sessionsOf(node, "sessions", reach),
    ...membersAddedBy(node, "memberships"),
    ...keysMadeBy(node, "revoked_keys"),
    ...sessionsOf(node, "ended_sessions", reach),
    ...membersAddedBy(node, "removed_memberships"),
    ...replacementsOf(node, "api_keys"),
    ...replacementsOf(node, "revoked_keys"),
    keyOfSession(node, "sessions"),
    keyOfSession(node, "ended_sessions"),
  ];
}

/** To the runner tokens of a family, too: its trusts may have issued many. */
export const listedWays: Ways = (node) => [
  ...madeWith(node, "runner_tokens"),
  ...familyWays("founded")(node),
];

/** To the keys that a key bounds: they may have no more than it has, and expire no later. */
export const boundWays: Ways = ({ id }) => [
  { table: "api_keys", where: sql`created_by_key_id = ${id}` },
  { table: "revoked_keys", where: sql`created_by_key_id = ${id}` },
  { table: "revoked_keys", where: sql`replaced_by_key_id = ${id}` },
];

function keysMadeBy(node: Node, table: "api_keys" | "revoked_keys"): Way[] {
  return [...madeWith(node, table), { table, where: sql`membership_id = ${node.id}` }];
}

function madeWith({ id }: Node, table: string): Way[] {
  return [
    { table, where: sql`issued_by_key_id = ${id}` },
    { table, where: sql`created_by_session_id = ${id}` },
    { table, where: sql`rotated_by_key_id = ${id}` },
  ];
}

/**
 * Of a membership, the valid ones only if it ends with the family; and those of the links of a session, and those that it
 * was switched to.
 */
function sessionsOf(
  { id, degree }: Node,
  table: "sessions" | "ended_sessions",
  reach: FamilyReach,
): Way[] {
  const continued =
    reach === "switched" ? sql`min(${degree}, 1)` : sql`organization_id = (select id from home)`;
  // A member who stays keeps valid sessions; those that have ended lead to the members who were added in them.
  const isEnding = table === "sessions" ? degree : sql`1`;
  return [
    // Without it, SQLite may read all sessions in the order of the page.
    {
      table: `${table} indexed by ${table}_list`,
      where: sql`membership_id = ${id} and ${isEnding}`,
    },
    { table, degree: continued, where: sql`created_by_session_id = ${id}` },
  ];
}

/** People of the own organization keep their credentials: an admin sees and removes them. */
function membersAddedBy({ id, degree }: Node, table: "memberships" | "removed_memberships"): Way[] {
  const added = sql`iif(organization_id = (select id from home), 0, min(${degree}, 1))`;
  return [
    { table, degree: added, where: sql`added_by_key_id = ${id}` },
    { table, degree: added, where: sql`added_by_session_id = ${id}` },
  ];
}

/** The key that has taken the place of a key by a rotation, and the keys whose places a root has taken. */
function replacementsOf({ id, degree }: Node, table: "api_keys" | "revoked_keys"): Way[] {
  return [
    {
      table,
      id: sql`replaced_by_key_id`,
      where: sql`id = ${id} and replaced_by_key_id is not null`,
    },
    { table, degree, where: sql`replaced_by_key_id = ${id} and ${degree} = 2` },
  ];
}

/** That of a sign-in has no other use. */
function keyOfSession({ id }: Node, table: "sessions" | "ended_sessions"): Way {
  return {
    table,
    id: sql`key_id`,
    where: sql`id = ${id} and key_id is not null and source = 'open_id_connect'`,
  };
}

function follow(node: Node, way: Way): SQL {
  return sql`select ${found(node, way)} from ${sql.raw(way.table)} where ${way.where}`;
}

function found({ degree }: Node, way: Way): SQL {
  return sql`${way.id ?? sql`id`} as id, ${way.degree ?? sql`min(${degree}, 1)`} as degree`;
}

/** Selects a page of what a node leads to in one way, with its `position`, which is greater than `after`. */
export function followWay(
  node: Node,
  way: Way,
  organizationId: string,
  { after, size }: { after: number; size: number },
): SQL {
  return sql`with ${homeTable(organizationId)} select ${found(node, way)}, rowid as position
    from ${sql.raw(way.table)} where ${way.where} and rowid > ${after} order by rowid limit ${size}`;
}

/** Selects a root. */
export function rootOf(id: string): SQL {
  return sql`select ${id}, ${ROOT}`;
}

/** The table `home(id)`: the organization that the ways start in. */
function homeTable(organizationId: string): SQL {
  return sql`home(id) as (select ${organizationId})`;
}

/**
 * The tables `home(id)` and `family(id, degree)`, for a select that follows: nodes, and what they lead to. A large family
 * is not whole: see `isWhole`.
 * @param nodes Selects their IDs and degrees.
 */
export function familyTable(nodes: SQL, organizationId: string, ways: Ways): SQL {
  // A recursive select names its table once. A statement may contain a family six times, and 100 parameters: each value
  // is bound once.
  return sql`with recursive ${homeTable(organizationId)},
    family(id, degree) as (${nodes}
      union select edge.value ->> 0, edge.value ->> 1
        from family join json_each(${edgesOfFamily(ways, BRANCHES)}) as edge
      limit ${MOST})`;
}

/** Whether the table `family` has all that it leads to. Otherwise only a walk reads it. */
export function isWhole(ways: Ways): SQL {
  const edges = edgesOfFamily(ways, BRANCHES + 1);
  return sql`(select count(*) < ${MOST} and ifnull(max(json_array_length(${edges})), 0) <= ${BRANCHES} from family)`;
}

/** The same tables, with these nodes alone. */
export function nodesTable(nodes: SQL, organizationId: string): SQL {
  return sql`with ${homeTable(organizationId)}, family(id, degree) as (${nodes})`;
}

/** A JSON array of the ID and the degree of what a row of `family` leads to, at most so many. */
export function edgesOfFamily(ways: Ways, most: number): SQL {
  const node = { id: sql`family.id`, degree: sql`family.degree` };
  const edges = unionAll(ways(node).map((way) => follow(node, way)));
  return sql`(select json_group_array(json_array(id, degree)) from (${edges} limit ${most}))`;
}

export function unionAll(selects: readonly SQL[]): SQL {
  if (selects.length <= TERMS) return sql.join([...selects], sql` union all `);
  const groups: SQL[] = [];
  for (let start = 0; start < selects.length; start += TERMS) {
    groups.push(sql`select * from (${unionAll(selects.slice(start, start + TERMS))})`);
  }
  return unionAll(groups);
}
