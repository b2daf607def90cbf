import { env } from "cloudflare:workers";
import {
  TRANSITIONS,
  type Transition,
} from "../../src/features/deployments/deployments/lifecycle.ts";

interface Machine {
  table: string;
  column: string;
  /** `from to`. `none to` for a new record. */
  edges: readonly string[];
}

const MACHINES: readonly Machine[] = [
  { table: "deployments", column: "status", edges: edgesOf(TRANSITIONS.deployment) },
  { table: "attempts", column: "state", edges: edgesOf(TRANSITIONS.attempt) },
  { table: "deployment_stacks", column: "status", edges: edgesOf(TRANSITIONS.stack) },
];

function edgesOf(transitions: readonly Transition<string>[]): string[] {
  const edges = transitions.flatMap(({ from, to }) =>
    (from.length > 0 ? from : ["none"]).flatMap((before) =>
      to.map((after) => `${before} ${after}`),
    ),
  );
  return [...new Set(edges)];
}

/** The database refuses a change of state that is no edge of `TRANSITIONS`, and logs the others. */
export const EDGE_TRIGGERS = Object.fromEntries(
  MACHINES.flatMap(({ table, column, edges }) => {
    const list = edges.map((edge) => `'${edge}'`).join(", ");
    const changes = `new.${column} <> old.${column}`;
    const edge = `old.${column} || ' ' || new.${column}`;
    const reject = "begin select raise(abort, 'INVARIANT a change of state is no transition'); end";
    const log = (value: string) =>
      `begin insert or ignore into walk_edges values ('${table}', ${value}); end`;
    return [
      [
        `${table}_edge`,
        `before update on ${table} when ${changes} and ${edge} not in (${list}) ${reject}`,
      ],
      [
        `${table}_first`,
        `before insert on ${table} when 'none ' || new.${column} not in (${list}) ${reject}`,
      ],
      [`${table}_changed`, `after update on ${table} when ${changes} ${log(edge)}`],
      [`${table}_created`, `after insert on ${table} ${log(`'none ' || new.${column}`)}`],
    ];
  }),
);

export const EDGE_TABLE = `create table if not exists walk_edges (subject text, edge text,
  primary key (subject, edge)) without rowid`;

/** The edges of all walks in this file. The storage of one test may not reach the next. */
const met = new Set<string>();

export async function recordEdges(): Promise<void> {
  const { results } = await env.DB.prepare(
    "select subject || ': ' || edge as edge from walk_edges",
  ).all<{ edge: string }>();
  for (const { edge } of results) met.add(edge);
}

/** Rare, because most runners of the walk report a stack once. */
const RARE = ["deployment_stacks: in_progress succeeded", "deployment_stacks: in_progress skipped"];

export function listUnmetEdges(): string[] {
  const all = MACHINES.flatMap(({ table, edges }) => edges.map((edge) => `${table}: ${edge}`));
  return all.filter((edge) => !met.has(edge) && !RARE.includes(edge));
}
