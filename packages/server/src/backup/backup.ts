import {
  statesBefore,
  TRANSITIONS,
} from "../../../../src/features/deployments/deployments/lifecycle.ts";
import type { Clock } from "../../../../src/lib/clock.ts";
import { CommandError } from "../command-error.ts";
import { newHeader, type Row, type RowLine, type Value, withTrailer } from "./file.ts";
import { newestMigration } from "./migration.ts";
import { BACKUP_TABLES, partsOf, tableNamed } from "./tables.ts";

/** Records of a page, each with its parts. */
const PAGE = 50;
const ACTIVE_STATUSES = `('${statesBefore(TRANSITIONS.deployment).join("', '")}')`;

/** Rows of one table; `where` refers to `binds` by their numbers. */
interface Query {
  table: string;
  where: string;
  binds: readonly Value[];
}

export interface BackupOptions {
  /** Undefined: everything. */
  organizationId: string | undefined;
  release: string;
  clock: Clock;
}

type LastNumber = { environment_id: string; number: number };

/**
 * The lines of a backup of everything, or of one organization.
 *
 * D1 cannot read several pages at one moment, and others write meanwhile. What depends on each other
 * is therefore read in one batch, which is one transaction: the members of an organization with their
 * keys; a project with its members, connection, environments, components, stacks, unfinished
 * deployments and the last number of each environment; and every other record with its parts.
 * Finished deployments never change, so those up to that number are read afterwards.
 */
export async function* backup(d1: D1Database, options: BackupOptions): AsyncGenerator<string> {
  const { organizationId, release, clock } = options;
  const created_at = new Date(clock.now()).toISOString();
  const migration = await newestMigration(d1);
  const scope = { organization_id: organizationId ?? null };
  const header = newHeader({ release, created_at, migration, ...scope });
  yield* withTrailer(header, new Reader(d1, organizationId).rows());
}

class Reader {
  readonly #d1: D1Database;
  readonly #organizationId: string | undefined;
  /** Pools that attempts refer to precede them; later pages leave these out. */
  readonly #writtenPools = new Set<Value | undefined>();

  constructor(d1: D1Database, organizationId: string | undefined) {
    this.#d1 = d1;
    this.#organizationId = organizationId;
  }

  async *rows(): AsyncGenerator<RowLine> {
    let found = 0;
    for await (const id of this.#idsOf("organizations", "id")) {
      found += 1;
      yield* this.#read(MEMBERS.map((each) => ({ ...each, binds: [id] })));
    }
    if (this.#organizationId !== undefined && found === 0) {
      throw new CommandError(`There is no organization ${this.#organizationId}.`);
    }
    for await (const id of this.#idsOf("projects", "organization_id")) yield* this.#project(id);
    yield* this.#otherRecords();
  }

  async *#project(id: string): AsyncGenerator<RowLine> {
    const binds = [id];
    const unfinished = `project_id = ?1 and status in ${ACTIVE_STATUSES}`;
    const queries = [
      ...PROJECT.map((each) => ({ ...each, binds })),
      ...deploymentQueries(unfinished, binds),
    ];
    const [lastNumbers, ...results] = await this.#batch([
      this.#d1.prepare(LAST_NUMBERS).bind(id),
      ...queries.map((query) => this.#select(query)),
    ]);
    const lines = toLines(queries, results);
    yield* this.#withoutWrittenPools(lines);
    const unfinishedIds = JSON.stringify(
      lines.filter(({ table }) => table === "deployments").map(({ row }) => row["id"]),
    );
    for (const { environment_id, number } of (lastNumbers ?? []) as LastNumber[]) {
      yield* this.#finishedDeployments(environment_id, number, unfinishedIds);
    }
  }

  /** Newest first: the one that superseded another is then never missing. */
  async *#finishedDeployments(
    environmentId: string,
    lastNumber: number,
    unfinishedIds: string,
  ): AsyncGenerator<RowLine> {
    const condition = `environment_id = ?1 and number > ?2 and number <= ?3
      and id not in (select value from json_each(?4))`;
    for (let upTo = lastNumber; upTo > 0; upTo -= PAGE) {
      const binds = [environmentId, upTo - PAGE, upTo, unfinishedIds];
      yield* this.#read(deploymentQueries(condition, binds));
    }
  }

  async *#otherRecords(): AsyncGenerator<RowLine> {
    for (const { name, partOf } of BACKUP_TABLES.values()) {
      if (!partOf && !ENTANGLED.has(name)) yield* this.#pagesOf(name);
    }
  }

  async *#pagesOf(table: string): AsyncGenerator<RowLine> {
    for (let after: Value | undefined = ""; after !== undefined; ) {
      const binds: Value[] = [after, this.#organizationId ?? null];
      const where = `id > ?1 and (?2 is null or organization_id = ?2) order by id limit ${PAGE}`;
      const parts = partsOf(table).map((part) => ({
        table: part.name,
        where: `${part.partOf?.column} in (select id from ${table} where ${where})`,
        binds,
      }));
      const queries = [{ table, where, binds }, ...parts];
      const lines = toLines(queries, await this.#batch(queries.map((each) => this.#select(each))));
      yield* this.#withoutWrittenPools(lines);
      after = lines.filter((line) => line.table === table).at(PAGE - 1)?.row["id"];
    }
  }

  /** The IDs of a table's rows in scope, in pages. */
  async *#idsOf(table: string, organizationColumn: string): AsyncGenerator<string> {
    const statement = this.#d1.prepare(`select id from ${table}
      where id > ?1 and (?2 is null or ${organizationColumn} = ?2) order by id limit ${PAGE}`);
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: D1PreparedStatement = statement.bind(after, this.#organizationId ?? null);
      const ids = (await page.all<{ id: string }>()).results.map(({ id }) => id);
      yield* ids;
      after = ids.at(PAGE - 1);
    }
  }

  async *#read(queries: readonly Query[]): AsyncGenerator<RowLine> {
    const results = await this.#batch(queries.map((query) => this.#select(query)));
    yield* this.#withoutWrittenPools(toLines(queries, results));
  }

  *#withoutWrittenPools(lines: readonly RowLine[]): Generator<RowLine> {
    for (const line of lines) {
      const isWritten = line.table === "runner_pools" && this.#writtenPools.has(line.row["id"]);
      if (isWritten) continue;
      if (line.table === "runner_pools") this.#writtenPools.add(line.row["id"]);
      yield line;
    }
  }

  #select({ table, where, binds }: Query): D1PreparedStatement {
    const { columns } = tableNamed(table);
    const names = columns.map((column) => `"${column}"`).join(", ");
    return this.#d1.prepare(`select ${names} from ${table} where ${where}`).bind(...binds);
  }

  async #batch(statements: D1PreparedStatement[]): Promise<Row[][]> {
    return (await this.#d1.batch<Row>(statements)).map(({ results }) => results);
  }
}

/** An organization with its members; parents before children. */
const MEMBERS = [
  { table: "organizations", where: "id = ?1" },
  {
    table: "accounts",
    where: "id in (select account_id from memberships where organization_id = ?1)",
  },
  { table: "memberships", where: "organization_id = ?1" },
  { table: "api_keys", where: "organization_id = ?1" },
  { table: "bootstraps", where: "organization_id = ?1" },
  { table: "quotas", where: "organization_id = ?1" },
] as const;

const PROJECT = [
  { table: "projects", where: "id = ?1" },
  ...partsOf("projects").map(({ name, partOf }) => ({
    table: name,
    where: `${partOf?.column} = ?1`,
  })),
  { table: "environments", where: "project_id = ?1" },
  {
    table: "environment_positions",
    where: "environment_id in (select id from environments where project_id = ?1)",
  },
  { table: "components", where: "project_id = ?1" },
  { table: "stacks", where: "project_id = ?1" },
];

/** The tables that are not read page by page. */
const ENTANGLED: ReadonlySet<string> = new Set([
  ...[...MEMBERS, ...PROJECT].map(({ table }) => table),
  "deployments",
  "attempts",
]);

const LAST_NUMBERS = `select id as environment_id, (select max(number) from deployments
  where deployments.environment_id = environments.id) as number
  from environments where project_id = ?1`;

/** Deployments with their parts, their attempts, and the pools of these. */
function deploymentQueries(condition: string, binds: readonly Value[]): Query[] {
  const ofDeployments = `deployment_id in (select id from deployments where ${condition})`;
  const pools = `id in (select pool_id from attempts where ${ofDeployments})`;
  return [
    { table: "runner_pools", where: pools, binds },
    { table: "deployments", where: condition, binds },
    ...partsOf("deployments").map(({ name }) => ({ table: name, where: ofDeployments, binds })),
    { table: "attempts", where: ofDeployments, binds },
  ];
}

function toLines(queries: readonly Query[], results: readonly Row[][]): RowLine[] {
  return queries.flatMap(({ table }, at) => (results[at] ?? []).map((row) => ({ table, row })));
}
