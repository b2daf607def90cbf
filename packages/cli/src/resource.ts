import type { Command } from "commander";
import { ApiError } from "../../client/src/index.ts";
import { addConsentOption, addRecordOptions } from "./command-options.ts";
import { CliError } from "./errors.ts";
import { findRecord, isId, type NamedKind, type NamedRecord } from "./names.ts";
import type { RecordOptions } from "./output.ts";
import { requireConsent } from "./prompts.ts";
import { type CliContext, openSession, type Session } from "./session.ts";
import type { Column } from "./table.ts";

/** A kind of record with the commands `ls`, `show` and `rm`. */
export interface Resource<Row extends NamedRecord> {
  kind: NamedKind;
  columns: readonly Column<Row>[];
  /** The order of `ls`, for records that have one. Otherwise the newest is first. */
  inOrder?: (rows: readonly Row[]) => Row[];
  /** Adds the options that name the owner of the records. */
  addOwnerOptions(command: Command): Command;
  /** The parameters of the owner in the paths. */
  ownerPath(
    context: CliContext,
    session: Session,
    options: object,
  ): Promise<Record<string, string>>;
}

type Options = RecordOptions & { profile?: string; yes?: boolean; limit?: number };

const DEFAULT_LIMIT = 100;
/** All records of a kind with an order are read, because the first may be the oldest. */
const MAXIMUM_ORDERED = 10_000;
const PAGE = 100;

/** Adds `ls`, which prints at most `--limit` records. */
export function addList<Row extends NamedRecord>(
  group: Command,
  context: CliContext,
  resource: Resource<Row>,
): void {
  const order = resource.inOrder ? "in their order" : "newest first";
  const command = group.command("ls").description(`list the ${resource.kind.noun}s, ${order}`);
  addLimitOption(addRecordOptions(resource.addOwnerOptions(command))).action(
    async (_, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const session = await openSession(context, options);
      const path = await resource.ownerPath(context, session, options);
      await printList(
        context,
        session,
        { path, options, listPath: resource.kind.listPath },
        resource,
      );
    },
  );
}

interface ListedKind<Row> {
  columns: readonly Column<Row>[];
  kind: Pick<NamedKind, "noun" | "idField">;
  inOrder?: (rows: readonly Row[]) => Row[];
}

export async function printList<Row extends { readonly [field: string]: unknown }>(
  context: CliContext,
  session: Session,
  list: {
    listPath: string;
    path: Record<string, string>;
    query?: Record<string, string>;
    options: Options;
  },
  { columns, kind, inOrder }: ListedKind<Row>,
): Promise<void> {
  const { limit = DEFAULT_LIMIT } = list.options;
  const found = await session.list<Row>(
    list.listPath,
    inOrder
      ? { ...list, query: { ...list.query, limit: PAGE }, limit: MAXIMUM_ORDERED }
      : { ...list, limit },
  );
  const rows = inOrder ? inOrder(found.rows).slice(0, limit) : found.rows;
  const hasMore = found.hasMore || rows.length < found.rows.length;
  context.output.records(rows, columns, {
    ...list.options,
    id: (row) => String(row[kind.idField]),
  });
  if (rows.length === 0 && !list.options.json) context.output.note(`There are no ${kind.noun}s.`);
  if (hasMore) context.output.note(`There are more than ${limit}: add --limit.`);
}

export function addLimitOption(command: Command): Command {
  return command.option("--limit <number>", "the most records", parseLimit, DEFAULT_LIMIT);
}

/** Adds `show`, which prints one record. */
export function addShow<Row extends NamedRecord>(
  group: Command,
  context: CliContext,
  resource: Resource<Row>,
): void {
  const command = group
    .command("show")
    .description(`print one ${resource.kind.noun}`)
    .argument("<name>", "name or ID")
    .option("--json", "print JSON, for programs");
  resource.addOwnerOptions(command).action(async (name: string, _, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    const session = await openSession(context, options);
    const { record } = await find(context, session, resource, options, name);
    printRecord(context, resource, record, options);
  });
}

/** Adds `rm`, which asks before it deletes one record. */
export function addRemove<Row extends NamedRecord>(
  group: Command,
  context: CliContext,
  resource: Resource<Row>,
  consequence: string,
): void {
  const { kind } = resource;
  const command = group
    .command("rm")
    .description(`delete one ${kind.noun}`)
    .argument("<name>", "name or ID");
  addConsentOption(resource.addOwnerOptions(command)).action(
    async (name: string, _, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const session = await openSession(context, options);
      const { record, path } = await find(context, session, resource, options, name);
      await requireConsent(
        context,
        `Delete the ${kind.noun} ${record.name}${consequence}?`,
        options,
      );
      await session.remove(kind.itemPath, path);
      context.output.note(`Deleted the ${kind.noun} ${record.name}.`);
    },
  );
}

export function printRecord<Row extends NamedRecord>(
  { output }: CliContext,
  { kind }: Pick<Resource<Row>, "kind">,
  record: Row,
  options: RecordOptions,
): void {
  output.record(record, { ...options, id: (row) => String(row[kind.idField]) });
}

/** The record with this name or ID, and the parameters of its path. An ID alone needs no owner. */
export async function find<Row extends NamedRecord>(
  context: CliContext,
  session: Session,
  { kind, ownerPath }: Resource<Row>,
  options: object,
  text: string,
): Promise<{ record: Row; path: Record<string, string> }> {
  const namesOwner = "project" in options || "environment" in options;
  const isAlone = kind.itemPath.match(/\{/g)?.length === 1 && !namesOwner;
  if (isAlone && isId(text)) {
    const path = { [kind.parameter]: text };
    const record = await session.read<Row>(kind.itemPath, { path }).catch(ignoreMissing);
    if (record) return { record, path };
  }
  const owner = await ownerPath(context, session, options);
  const record = await findRecord<Row>(session, kind, owner, text);
  return { record, path: { ...owner, [kind.parameter]: String(record[kind.idField]) } };
}

/** Undefined for a record that is not there. */
export function ignoreMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "not_found") return undefined;
  throw error;
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new CliError(`--limit must be a whole number from 1; "${text}" is not one.`);
}
