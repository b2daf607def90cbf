import { applyMigrations } from "../scripts/lib/migrations.ts";
import { bundle, start } from "../scripts/lib/workers.ts";
import { UNITS } from "../src/lib/database-units.ts";
import { LIMITS } from "../src/lib/limits.ts";
import type { BenchmarkResult } from "./report.ts";
import { type Spread, shuffle, spread } from "./stats.ts";

/** Enough for a clock of milliseconds. */
const ROWS = 100_000;
const WRITTEN_ROWS = 20_000;
const WINDOW_SECONDS = 60;
/** Rows of an average size in random order, with the indexes that most tables of the service have. */
const COLUMNS =
  "id text primary key, owner text not null, created_at integer not null, body text not null";
const NEW_ROWS = `select hex(randomblob(11)), hex(randomblob(1)), abs(random()) % 1000000,
  printf('%0300d', value) from (with recursive number(value) as
    (select 1 union all select value + 1 from number limit`;
const SETUP = [
  `create table measured (${COLUMNS})`,
  "create index measured_owner on measured (owner, created_at)",
  `insert into measured ${NEW_ROWS} ${ROWS}) select value from number)`,
];
const READ = "select sum(length(body)) as bytes from measured where body > ''";
const WRITE = `insert into measured ${NEW_ROWS} ${WRITTEN_ROWS}) select value from number)`;
const FORGET = `delete from measured where rowid > ${ROWS}`;

interface Measured {
  /** Microseconds. */
  time: number;
  read: number;
  written: number;
}

/** Measures the time of D1 for a row that is read and a row that is written, and so the weights of `UNITS`. */
export async function measureUnits(rounds: number, folder: string): Promise<BenchmarkResult> {
  const worker = await start(bundle("src/index.ts", folder), {});
  try {
    await applyMigrations(worker.d1);
    await worker.d1.batch(SETUP.map((sql) => worker.d1.prepare(sql)));
    const reads: number[] = [];
    const writes: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const sql of shuffle([READ, WRITE])) {
        const { time, read, written } = await run(worker.d1, sql);
        if (written === 0) reads.push(time / read);
        else writes.push(time / written);
        await worker.d1.prepare(FORGET).run();
      }
    }
    return toResult(spread(reads), spread(writes), rounds);
  } finally {
    await worker.stop();
  }
}

async function run(d1: D1Database, sql: string): Promise<Measured> {
  const { meta } = await d1.prepare(sql).run();
  return { time: meta.duration * 1_000, read: meta.rows_read, written: meta.rows_written };
}

function toResult(read: Spread, written: Spread, rounds: number): BenchmarkResult {
  const weight = written.median / read.median;
  const shareOf = (units: number) => (100 * units * read.median) / (WINDOW_SECONDS * 1_000_000);
  const { databaseUnits, runnerDatabaseUnits } = LIMITS;
  return {
    title: `Database work by rows, ${rounds} rounds`,
    rows: [
      { what: "µs for a row that is read", measured: read },
      { what: "µs for a row that is written, also in an index", measured: written },
      { what: `the weight of a written row; ${UNITS.rowWritten} is used`, measured: weight },
      { what: "% of D1's time for the budget of callers", measured: shareOf(databaseUnits.value) },
      {
        what: "% of D1's time for the budget of runners",
        measured: shareOf(runnerDatabaseUnits.value),
      },
    ],
  };
}
