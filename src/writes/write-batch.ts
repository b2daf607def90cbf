import type { Actor } from "../actor.ts";
import type { PublicContext, ServiceContext } from "../context.ts";
import { after, batch, type Results, type Statement, type Statements } from "../db/batch.ts";
import { refuseTaken, type Taken } from "../db/constraint-errors.ts";
import {
  type AuditedAct,
  type OtherActor,
  writeAudit,
} from "../features/housekeeping/audit/index.ts";
import {
  type Action,
  type Change,
  isNoOp,
  type WrittenFields,
  writeChanges,
} from "../features/housekeeping/changelog/index.ts";
import {
  type EntryOptions,
  type Shown,
  saveResponse,
  sealSecrets,
} from "../features/housekeeping/idempotency/index.ts";
import { type Growth, limitGrowth } from "../features/housekeeping/usage/index.ts";

/** Of whoever writes: a request, the callback of a service, or a person who signs in. */
export interface WriteContext extends PublicContext, Pick<ServiceContext, "idempotentRequest"> {
  /** Without a key: what proves who it is, in the organization that it acts in. */
  actor: Actor | (OtherActor & { organizationId: string });
}

/** What every write consists of. Its statements run in this order. */
export interface Parts<
  Guarded extends Statement = Statement,
  First extends Statements = Statements,
  Also extends Statements = Statements,
> {
  /** Deletes what has ended, and no longer counts for the limits. */
  lapsed?: Statements;
  /** What it adds. Beyond a limit, nothing is written. */
  growth?: Growth;
  /** Reads, and writes with conditions of their own. */
  first?: First;
  /**
   * Decides with its conditions, in SQL, whether anything is written: what follows is written only if it
   * changes a row.
   */
  guarded: Guarded;
  /** Statements `after` the guarded one. Each changes a row whenever that does. */
  also?: Also;
  /** For the audit log alone: those of `changes` follow from them. */
  acts?: readonly AuditedAct[];
  /** The audit entry of several `changes`, in place of one for each. */
  together?: AuditedAct;
  /** Whose audit log and changelog. By default that of the actor. */
  organizationId?: string;
  /** The error for each unique index that the write may violate, by its columns. */
  taken?: Taken;
}

/** An update may change nothing. The write then leaves the row alone: it could undo a concurrent change. */
export type Changes<Unchanged> =
  | { changes?: readonly Change<Exclude<Action, "updated">>[]; unchanged?: never }
  | { changes: readonly Change[]; unchanged: Unchanged };

/** The entry for a repeat with the `Idempotency-Key`. */
export type Entry = Shown &
  Omit<EntryOptions, "condition"> & {
    /** Shown only by this response and its repeats, which have `{ row, ...secrets }`. */
    secrets?: object | undefined;
    /**
     * When there is an entry, if not after a change by the guarded statement. The entry is then the last
     * to be written, so that it shows what `effects` have done.
     */
    condition?: EntryOptions["condition"] | undefined;
  };

interface BatchOptions<Effects extends Statements, Reads extends Statements> {
  entry?: Entry;
  /** The changed fields, for changes that only the batch can read. */
  written?: WrittenFields;
  /** What the write causes, with conditions of their own. */
  effects?: Effects;
  /** What the verb needs as the batch leaves it. */
  reads?: Reads;
}

type Written<
  Guarded extends Statement,
  First extends Statements,
  Also extends Statements,
  Effects extends Statements,
  Reads extends Statements,
> = Results<{ guarded: Guarded; first: First; also: Also; effects: Effects; reads: Reads }>;

/**
 * Writes for a caller like `write`, for verbs that need all results, or that have effects. Returns them,
 * or `unchanged`.
 * @throws Conflict for a limit or a unique index.
 */
export async function writeBatch<
  Guarded extends Statement,
  First extends Statements,
  Also extends Statements,
  Effects extends Statements,
  Reads extends Statements,
  Unchanged = never,
>(
  ctx: WriteContext,
  {
    growth,
    guarded,
    entry,
    acts,
    changes,
    unchanged,
    written,
    together,
    organizationId = ctx.actor.organizationId,
    taken,
    ...parts
  }: Parts<Guarded, First, Also> & BatchOptions<Effects, Reads> & Changes<Unchanged>,
): Promise<Written<Guarded, First, Also, Effects, Reads> | Unchanged> {
  if (changes?.length && changes.every(isNoOp)) return unchanged as Unchanged;
  const limits = growth && limitGrowth(ctx, growth);
  const sealed = entry?.secrets && (await sealSecrets(ctx, entry.secrets));
  const save = (condition: EntryOptions["condition"]) =>
    entry && saveResponse(ctx, entry, { ...entry, condition }, sealed);
  const writing = batch(ctx.db, {
    lapsed: parts.lapsed,
    limits: limits?.statement,
    first: parts.first,
    guarded,
    also: parts.also,
    entry: entry?.condition ? undefined : after(guarded, save),
    audit: acts && after(guarded, (changed) => writeAudit(ctx, organizationId, acts, changed)),
    changelog:
      changes && writeChanges(ctx, organizationId, changes, guarded, { written, together }),
    effects: parts.effects,
    lateEntry: entry?.condition && save(entry.condition),
    reads: parts.reads,
  });
  return (await refuseTaken(limits?.enforce(writing) ?? writing, taken)) as Written<
    Guarded,
    First,
    Also,
    Effects,
    Reads
  >;
}
