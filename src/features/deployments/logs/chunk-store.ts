import type { LogDeclaration } from "../deployments/index.ts";
import type { LogChunk } from "./model.ts";
import type { Run } from "./run.ts";

/** The log of one attempt, without its bytes. */
export interface StoredLog {
  deploymentId: string;
  attemptId: string;
  /** Null while the attempt runs. */
  endedAt: number | null;
  /** As it was at the end, for readers whose database replica does not have the end yet. */
  run: Run | null;
  /** Null: the runner has declared nothing. */
  declaration: LogDeclaration | null;
  /** Whether the log has all bytes that it keeps, and the closing line. */
  isFull: boolean;
  /** How many bytes precede the closing line. Absent: all, up to the limit. */
  sentSize?: number;
  /** Before which all bytes are reserved of the organization's day. Absent: the stored bytes. */
  reservedSize?: number;
  /** Whether the runner is to cancel. */
  isCanceling: boolean;
  sealedAt: number | null;
  /** Whether bytes are missing. Only of a log that has ended. */
  isTruncated: boolean;
}

export interface StoredBytes {
  /** In order. The first and the last may be parts of stored chunks. */
  chunks: LogChunk[];
  /** Where the next read continues. */
  nextOffset: number;
}

/** Rows that one read returns. */
const ROWS_PER_READ = 1_000;
/** Rows that one read considers: a stack may have none of many. */
const ROWS_PER_SCAN = 10_000;
const BYTES_PER_READ = 1024 * 1024;

/** The row that has the byte at the offset ?1. */
const ROW_OF_OFFSET = "coalesce((select max(start) from chunks where start <= ?1), 0)";

type Row = Record<string, SqlStorageValue>;

/** The tables of a log in its Durable Object. All calls are synchronous. */
export class ChunkStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Undefined if there is no log. Writes nothing. */
  load(): StoredLog | undefined {
    const [table] = this.#sql.exec("select 1 from sqlite_master where name = 'log'").toArray();
    if (!table) return undefined;
    const [row] = this.#sql.exec<Row>("select content from log").toArray();
    return row && (JSON.parse(String(row["content"])) as StoredLog);
  }

  save(log: StoredLog): void {
    this.#sql.exec(
      "create table if not exists log (id integer primary key, content text not null)",
    );
    this.#sql.exec(
      `create table if not exists chunks (start integer primary key, stack_id text not null,
        time integer not null, bytes blob not null)`,
    );
    this.#sql.exec("insert or replace into log values (1, ?)", JSON.stringify(log));
  }

  /** The number of stored bytes. The log must exist. */
  size(): number {
    const [row] = this.#sql
      .exec<Row>("select start + length(bytes) as size from chunks order by start desc limit 1")
      .toArray();
    return Number(row?.["size"] ?? 0);
  }

  append({ offset, stackId, time, bytes }: LogChunk): void {
    this.#sql.exec("insert into chunks values (?, ?, ?, ?)", offset, stackId, time, bytes);
  }

  /**
   * The bytes from `after` on, or only those of a stack. At most `maximumBytes`, and so many rows. May
   * have no bytes although there are more.
   */
  read(after: number, maximumBytes: number, stackId?: string): StoredBytes {
    const chunks: LogChunk[] = [];
    let left = maximumBytes;
    let rows = 0;
    const scanEnd = stackId === undefined ? this.size() : this.#scanEnd(after);
    for (const row of this.#rowsFrom(after, scanEnd, stackId)) {
      const chunk = partOf(toChunk(row), after, left);
      if (chunk.bytes.length > 0) chunks.push(chunk);
      left -= chunk.bytes.length;
      rows += 1;
      if (left === 0) break;
    }
    const last = chunks.at(-1);
    const hasMore = left === 0 || rows === ROWS_PER_READ;
    return {
      chunks,
      nextOffset: hasMore && last ? last.offset + last.bytes.length : scanEnd,
    };
  }

  /** All bytes before `end`. */
  *chunksBefore(end: number): Generator<LogChunk> {
    for (let after = 0; after < end; ) {
      const { chunks, nextOffset } = this.read(after, Math.min(BYTES_PER_READ, end - after));
      yield* chunks;
      after = nextOffset;
    }
  }

  /** After the last row that a read from `after` on considers. */
  #scanEnd(after: number): number {
    const [row] = this.#sql
      .exec<Row>(
        `select max(after) as end from (select start + length(bytes) as after from chunks
          where start >= ${ROW_OF_OFFSET} order by start limit ?2)`,
        after,
        ROWS_PER_SCAN,
      )
      .toArray();
    return Number(row?.["end"] ?? this.size());
  }

  #rowsFrom(after: number, scanEnd: number, stackId: string | undefined) {
    return this.#sql.exec<Row>(
      `select * from chunks
        where start >= ${ROW_OF_OFFSET} and start < ?2 and (?3 is null or stack_id = ?3)
        order by start limit ?4`,
      after,
      scanEnd,
      stackId ?? null,
      ROWS_PER_READ,
    );
  }
}

/** The part of a chunk from `after` on, at most `maximumBytes`. A copy, because a view would be sent whole. */
function partOf(chunk: LogChunk, after: number, maximumBytes: number): LogChunk {
  const start = Math.min(Math.max(0, after - chunk.offset), chunk.bytes.length);
  const isWhole = start === 0 && chunk.bytes.length <= maximumBytes;
  if (isWhole) return chunk;
  const bytes = chunk.bytes.slice(start, start + maximumBytes);
  return { ...chunk, offset: chunk.offset + start, bytes };
}

function toChunk(row: Row): LogChunk {
  return {
    offset: Number(row["start"]),
    stackId: String(row["stack_id"]),
    time: Number(row["time"]),
    bytes: new Uint8Array(row["bytes"] as ArrayBuffer),
  };
}
