import { batch, type RowsStatement } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { ROOT } from "./family.ts";
import {
  type Member,
  type Members,
  selectAhead,
  selectEdges,
  selectMembers,
  selectWays,
  type Walk,
} from "./family-steps.ts";

/** How many members a statement follows, and to how many others each. Those with more take the next step. */
const STEPS = [
  { size: 1_000, edges: 6 },
  { size: 40, edges: 100 },
  { size: 4, edges: 1_000 },
  { size: 1, edges: 6_000 },
] as const;
/** Of those that lead to even more. */
const PAGE = 5_000;
/** So many members are followed over several generations in the same round trip, because a chain has one after another. */
const AHEAD = 25;

/**
 * Reads a family of any size in parts, each small enough that others do not wait for it. What `select` reads of members is
 * read together with what they lead to. A credential that is not valid makes nothing more, so a walk that finds nothing
 * that a revocation would end has seen all that it would end.
 */
export async function* walkFamily<Row>(
  db: Database,
  { roots, ...directions }: Walk,
  select: (members: Members) => RowsStatement<Row>,
): AsyncGenerator<Row[]> {
  const known = new Map<string, number>();
  const waiting: Member[] = [];
  const add = ([id, degree]: Member) => {
    if (degree <= (known.get(id) ?? -1)) return;
    known.set(id, degree);
    waiting.push([id, degree]);
  };
  for (const id of roots) add([id, ROOT]);
  while (waiting.length > 0) {
    const part = waiting.splice(0, STEPS[0].size);
    const members = selectMembers(part);
    const read = await batch(db, {
      rows: select(members),
      edges: selectEdges(db, members, directions, STEPS[0].edges),
      ahead: selectAhead(db, selectMembers(part.slice(-AHEAD)), directions),
    });
    yield read.rows;
    await readWide(db, addEdges(read.edges, STEPS[0].edges, add), directions, add);
    for (const { id, degree } of read.ahead) add([id, degree]);
  }
}

/** The greatest value that `select` returns of members, or 0. */
export async function findGreatest(
  db: Database,
  { walk, select }: { walk: Walk; select: (members: Members) => RowsStatement<{ value: number }> },
): Promise<number> {
  let greatest = 0;
  for await (const rows of walkFamily(db, walk, select)) {
    greatest = Math.max(greatest, ...rows.map(({ value }) => value));
  }
  return greatest;
}

type Directions = Omit<Walk, "roots">;
type Add = (member: Member) => void;

/** Returns those that lead to more than `most` others. */
function addEdges(
  found: readonly { id: string; degree: number; edges: string }[],
  most: number,
  add: Add,
): Member[] {
  return found.flatMap(({ id, degree, edges }) => {
    const members: Member[] = JSON.parse(edges);
    if (members.length > most) return [[id, degree] as const];
    for (const each of members) add(each);
    return [];
  });
}

async function readWide(
  db: Database,
  wide: readonly Member[],
  directions: Directions,
  add: Add,
): Promise<void> {
  let left = wide;
  for (const { size, edges } of STEPS.slice(1)) {
    const wider: Member[] = [];
    for (let start = 0; start < left.length; start += size) {
      const members = selectMembers(left.slice(start, start + size));
      const read = await batch(db, { edges: selectEdges(db, members, directions, edges) });
      wider.push(...addEdges(read.edges, edges, add));
    }
    left = wider;
  }
  for (const each of left) await readPages(db, each, directions, add);
}

async function readPages(
  db: Database,
  member: Member,
  directions: Directions,
  add: Add,
): Promise<void> {
  for (const select of selectWays(db, member, directions)) {
    for (let after = 0, size = PAGE; size === PAGE; ) {
      const page = await select({ after, size });
      for (const { id, degree } of page) add([id, degree]);
      after = page.at(-1)?.position ?? 0;
      size = page.length;
    }
  }
}
