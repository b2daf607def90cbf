import type { Results, RowsStatement, Statements } from "../db/batch.ts";
import type { Change } from "../features/housekeeping/changelog/index.ts";
import type { Select } from "../features/housekeeping/idempotency/index.ts";
import {
  type Changes,
  type Entry,
  type Parts,
  type WriteContext,
  writeBatch,
} from "./write-batch.ts";

/** Reads one row, as the batch leaves it. */
type RowSelect<Row> = RowsStatement<Row> & Select;

interface Options<Secrets> {
  /** One-time secrets. The write returns them beside the row. */
  secrets?: Secrets;
  /** Of the entry for repeats, which shows what the write returns. */
  stored?: Pick<Entry, "json" | "changedKeys">;
}

/** What decides if the guarded statement has changed nothing. */
interface Refusal<First extends Statements, Changed> {
  /** Throws if the caller cannot read the resource any more, or it has a version that is not expected. */
  reread?: () => Promise<unknown>;
  /** The reason that is left. */
  otherwise: (first: Results<First>) => Error;
  /** Runs after the commit, if the guarded statement has changed a row. */
  committed?: (first: Results<First>, changed: readonly Changed[]) => Promise<unknown>;
}

type Returned<Row, Secrets> = [Secrets] extends [undefined] ? Row : { row: Row } & Secrets;

/**
 * Writes for a caller, in the one order that every write has: the check of its limits, the statement that
 * decides (with `If-Match`), what depends on it, the entry for repeats, the audit log, the changelog and the
 * outbox. All of them are one transaction. Returns `value`, or else the row of `reads`, or of the guarded
 * statement, or `unchanged`.
 * @throws Conflict for a limit or a unique index; what `reread` and `otherwise` say if nothing was changed.
 */
export async function write<Value, Secrets extends object | undefined = undefined>(
  ctx: WriteContext,
  write: Parts &
    Changes<never> &
    Options<Secrets> & {
      value: Value;
      otherwise?: never;
      reread?: never;
      committed?: never;
      returns?: never;
      reads?: never;
    },
): Promise<Returned<Value, Secrets>>;
export async function write<
  Value,
  Changed,
  First extends Statements,
  Secrets extends object | undefined = undefined,
>(
  ctx: WriteContext,
  write: Parts<RowsStatement<Changed>, First> &
    Changes<never> &
    Options<Secrets> &
    Refusal<First, Changed> & { value: Value; returns?: never; reads?: never },
): Promise<Returned<Value, Secrets>>;
export async function write<
  Row,
  Changed,
  First extends Statements,
  Unchanged = never,
  Secrets extends object | undefined = undefined,
>(
  ctx: WriteContext,
  write: Parts<RowsStatement<Changed>, First> &
    Changes<Unchanged> &
    Options<Secrets> &
    Refusal<First, Changed> & {
      /** Reads what the write returns, which the guarded statement cannot. */
      reads: RowSelect<Row>;
      returns?: never;
      value?: never;
    },
): Promise<Returned<Row, Secrets> | Unchanged>;
export async function write<
  Row,
  First extends Statements,
  Unchanged = never,
  Secrets extends object | undefined = undefined,
>(
  ctx: WriteContext,
  write: Parts<RowsStatement<Row>, First> &
    Changes<Unchanged> &
    Options<Secrets> &
    Refusal<First, Row> & {
      /** Selects the row as the batch leaves it, for repeats. */
      returns?: Select;
      reads?: never;
      value?: never;
    },
): Promise<Returned<Row, Secrets> | Unchanged>;
export async function write(
  ctx: WriteContext,
  {
    returns,
    reads,
    value,
    secrets,
    stored,
    unchanged,
    reread,
    otherwise,
    committed,
    ...parts
  }: Parts &
    Changes<unknown> &
    Options<object> &
    Partial<Refusal<Statements, unknown>> & {
      returns?: Select;
      reads?: RowSelect<unknown>;
      value?: unknown;
    },
): Promise<unknown> {
  const select = reads ?? returns;
  const results = await writeBatch(ctx, {
    ...(parts as Parts & { changes: readonly Change[] }),
    unchanged: undefined,
    entry: { ...stored, secrets, ...(select ? { row: select } : { value }) },
    reads: { shown: reads },
  });
  if (!results) return unchanged;
  const changed = results.guarded as readonly unknown[];
  if (otherwise && changed.length === 0) {
    await reread?.();
    throw otherwise(results.first);
  }
  await committed?.(results.first, changed);
  const row = value ?? (results.reads.shown ?? changed)[0];
  return secrets ? { row, ...secrets } : row;
}
