import type { ServiceContext } from "../context.ts";
import { batch, type Results, type Statement, type Statements } from "../db/batch.ts";
import { refuseTaken, type Taken } from "../db/constraint-errors.ts";
import { type AuditedAct, recordActs } from "../features/audit/index.ts";
import { type Action, type Change, isNoOp, recordChanges } from "../features/changelog/index.ts";
import {
  type RecordOptions,
  recordResult,
  recordRow,
  type Select,
} from "../features/idempotency/index.ts";
import { type Growth, limitGrowth } from "../features/usage/index.ts";

/** The statements of a write. They run in this order. */
interface Parts<First extends Statements, Guarded extends Statement | Statements> {
  /** What it adds. Beyond a limit, nothing is written. */
  growth?: Growth;
  /** Whether the guarded statement changes a row or not. */
  first?: First;
  /**
   * Decides with its conditions, in SQL, whether anything is written: what follows is written only if it
   * changes a row. Of a group, the last statement decides.
   */
  guarded: Guarded;
  /** Of the entry for a repeat with the `Idempotency-Key`, which shows what `returns` or `value` says. */
  stored?: RecordOptions;
  /** For the audit log alone: those of `changes` follow from them. */
  acts?: readonly AuditedAct[];
  /** The error for each unique index that the write may violate, by its columns. */
  taken?: Taken;
}

/** An update may change nothing. The write then leaves the row alone: it could undo a concurrent change. */
type Changes<Unchanged> =
  | { changes?: readonly Change<Exclude<Action, "updated">>[]; unchanged?: never }
  | { changes: readonly Change[]; unchanged: Unchanged };

/** What decides if the guarded statement has changed nothing. */
interface Refusal<Written> {
  /** Throws if the caller cannot read the record any more, or it has a version that is not expected. */
  reread?: () => Promise<unknown>;
  /** The reason that is left. */
  otherwise: (written: Written) => Error;
  /** Runs after the commit, if the guarded statement has changed a row. */
  committed?: (written: Written) => Promise<unknown>;
}

type RowsStatement<Row> = Statement & { _: { result: Row[] } };

/**
 * Writes for a caller, in the one order that every write has: the check of its limits, the statement that
 * decides (with `If-Match`), the entry for repeats, the audit log, the changelog and the outbox. All of
 * them are one transaction. Returns `value`, or else the row of the guarded statement, or `unchanged`.
 * @throws Conflict for a limit or a unique index; what `reread` and `otherwise` say if nothing was changed.
 */
export async function write<Value, Guarded extends Statement | Statements>(
  ctx: ServiceContext,
  write: Parts<Statements, Guarded> &
    Changes<never> & {
      value: Value;
      otherwise?: never;
      reread?: never;
      committed?: never;
      returns?: never;
    },
): Promise<Value>;
export async function write<Value, First extends Statements>(
  ctx: ServiceContext,
  write: Parts<First, RowsStatement<unknown>> &
    Changes<never> &
    Refusal<Results<First>> & { value: Value; returns?: never },
): Promise<Value>;
export async function write<Row, First extends Statements, Unchanged = never>(
  ctx: ServiceContext,
  write: Parts<First, RowsStatement<Row>> &
    Changes<Unchanged> &
    Refusal<Results<First>> & {
      /** Selects the row as the batch leaves it, for repeats. */
      returns?: Select;
      value?: never;
    },
): Promise<Row | Unchanged>;
export async function write(
  ctx: ServiceContext,
  {
    growth,
    first,
    guarded,
    returns,
    value,
    stored,
    acts,
    changes,
    unchanged,
    taken,
    reread,
    otherwise,
    committed,
  }: Parts<Statements, Statement | Statements> &
    Changes<unknown> &
    Partial<Refusal<Results<Statements>>> & { returns?: Select; value?: unknown },
): Promise<unknown> {
  if (changes?.length && changes.every(isNoOp)) return unchanged;
  const { organizationId } = ctx.actor;
  const limits = growth && limitGrowth(ctx, growth);
  const writing = batch(ctx.db, {
    limits: limits?.statement,
    first,
    guarded,
    entry: returns ? recordRow(ctx, returns, stored) : recordResult(ctx, value, stored),
    audit: acts && recordActs(ctx, organizationId, acts),
    changelog: changes && recordChanges(ctx, organizationId, changes),
  });
  const written = await refuseTaken(limits?.enforce(writing) ?? writing, taken);
  if (!otherwise) return value;
  const [row] = written.guarded as unknown[];
  const results = written.first as Results<Statements>;
  if (row) {
    await committed?.(results);
    return value ?? row;
  }
  await reread?.();
  throw otherwise(results);
}
