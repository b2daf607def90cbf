import { sha256Hex } from "../../../../src/lib/digest.ts";
import { CommandError } from "../command-error.ts";
import { BACKUP_TABLES } from "./tables.ts";

const FORMAT = 1;
const BLOCK_CHARACTERS = 65_536;
const DAMAGED = "The file is damaged or incomplete, so nothing was restored. Use another backup";

export type Value = string | number | null;
export type Row = Record<string, Value>;

/** The first line. */
export interface Header {
  longshore_backup: typeof FORMAT;
  release: string;
  created_at: string;
  /** The newest migration of the database. */
  migration: string;
  /** Null for a backup of everything. */
  organization_id: string | null;
}

/** One line for each row. */
export interface RowLine {
  table: string;
  row: Row;
}

/** The last line. */
export interface Trailer {
  /** The number of rows of each table. */
  rows: Record<string, number>;
  /** Of all lines before. */
  digest: string;
}

export function newHeader(fields: Omit<Header, "longshore_backup">): Header {
  return { longshore_backup: FORMAT, ...fields };
}

/** Adds the trailer to the lines of a backup. */
export async function* withTrailer(
  header: Header,
  rows: AsyncIterable<RowLine>,
): AsyncGenerator<string> {
  const tally = new Tally();
  const first = JSON.stringify(header);
  await tally.add(first);
  yield first;
  for await (const row of rows) {
    const line = JSON.stringify(row);
    tally.count(row.table);
    await tally.add(line);
    yield line;
  }
  yield JSON.stringify(await tally.finish());
}

/**
 * Reads a whole file, and returns its header and trailer.
 * @param isKnownRow Whether a row has the columns of the tables that the file is of.
 * @throws CommandError if it is not a complete backup of these tables.
 */
export async function verifyFile(
  lines: AsyncIterable<string>,
  isKnownRow = isRowOfTables,
): Promise<{ header: Header; trailer: Trailer }> {
  const tally = new Tally();
  let header: Header | undefined;
  let last: string | undefined;
  let number = 0;
  for await (const line of lines) {
    if (last !== undefined) {
      header ??= readHeader(last);
      if (number > 1) tally.count(readRow(last, number, isKnownRow).table);
      await tally.add(last);
    }
    last = line;
    number += 1;
  }
  if (!header || last === undefined) throw new CommandError(`${DAMAGED}: it has no rows.`);
  const trailer = parseLine(last, number) as Partial<Trailer>;
  const found = await tally.finish();
  if (trailer.digest === undefined) throw new CommandError(`${DAMAGED}: its end is missing.`);
  if (JSON.stringify(trailer) !== JSON.stringify(found)) {
    throw new CommandError(`${DAMAGED}: its lines do not match its digest.`);
  }
  return { header, trailer: found };
}

/** The row lines of a file that `verifyFile` has accepted. */
export async function* readRows(lines: AsyncIterable<string>): AsyncGenerator<RowLine> {
  let isHeader = true;
  for await (const line of lines) {
    const parsed = JSON.parse(line) as RowLine | Trailer;
    if (!isHeader && "table" in parsed) yield parsed;
    isHeader = false;
  }
}

export function readHeader(line: string): Header {
  const header = parseLine(line, 1) as Partial<Header>;
  if (header.longshore_backup === FORMAT) return header as Header;
  throw new CommandError(
    header.longshore_backup === undefined
      ? "The file is not a backup of Longshore."
      : `The file has the format ${header.longshore_backup}, and this release reads ${FORMAT}. ` +
          `Restore it with the release ${header.release}.`,
  );
}

function isRowOfTables({ table, row }: RowLine): boolean {
  return Object.keys(row).join() === BACKUP_TABLES.get(table)?.columns.join();
}

function readRow(line: string, number: number, isKnown: (line: RowLine) => boolean): RowLine {
  const { table, row } = parseLine(line, number) as Partial<RowLine>;
  if (table !== undefined && row && isKnown({ table, row })) return { table, row };
  throw new CommandError(`${DAMAGED}: line ${number} is not a row of this release's tables.`);
}

function parseLine(line: string, number: number): unknown {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // The error below names the line.
  }
  throw new CommandError(`${DAMAGED}: line ${number} is not a JSON object.`);
}

/** Splits at `\n` only: `readline` also splits at U+2028, which JSON does not escape. */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** Counts rows, and digests lines in blocks, because Web Crypto cannot digest a stream. */
class Tally {
  #digest = "";
  #block = "";
  readonly #rows: Record<string, number> = {};

  count(table: string): void {
    this.#rows[table] = (this.#rows[table] ?? 0) + 1;
  }

  async add(line: string): Promise<void> {
    this.#block += `${line}\n`;
    if (this.#block.length >= BLOCK_CHARACTERS) await this.#digestBlock();
  }

  async finish(): Promise<Trailer> {
    await this.#digestBlock();
    return { rows: this.#rows, digest: this.#digest };
  }

  async #digestBlock(): Promise<void> {
    this.#digest = await sha256Hex(this.#digest + this.#block);
    this.#block = "";
  }
}
