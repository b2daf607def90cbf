import { ApiError } from "../../client/src/index.ts";
import { CliError } from "./errors.ts";
import type { Session } from "./session.ts";

/** A kind of record that has a name, and where its records are. */
export interface NamedKind {
  /** For people, such as "runner pool". */
  noun: string;
  /** The command that lists the records. */
  listCommand: string;
  listPath: string;
  itemPath: string;
  /** The parameter of `itemPath`, and the field, that has the ID. */
  parameter: string;
  idField: "id" | "membership_id";
  /** Whether the list has no filter by name. */
  isUnfiltered?: true;
}

export interface NamedRecord {
  name: string;
  [field: string]: unknown;
}

const ID = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
/** Enough to find a name, also in a list without a filter by name. */
const MAXIMUM_RECORDS = 10_000;

/**
 * The record with this ID or, if there is none, with this name.
 *
 * @param path The parameters of the paths other than the record's own.
 * @throws CliError if there is none, or if the name is that of two.
 */
export async function findRecord<T extends NamedRecord>(
  session: Session,
  kind: NamedKind,
  path: Record<string, string>,
  text: string,
): Promise<T> {
  const found = await findOptionalRecord<T>(session, kind, path, text);
  if (found) return found;
  throw new CliError(`There is no ${kind.noun} "${text}". Run: longshore ${kind.listCommand}`);
}

/** Undefined if there is none. */
export async function findOptionalRecord<T extends NamedRecord>(
  session: Session,
  kind: NamedKind,
  path: Record<string, string>,
  text: string,
): Promise<T | undefined> {
  if (isId(text)) {
    const record = await readById<T>(session, kind, path, text);
    // Some paths of records do not have their owner, which may be another.
    if (record && Object.entries(path).every(([name, id]) => (record[name] ?? id) === id)) {
      return record;
    }
  }
  const [found, other] = await listByName<T>(session, kind, path, text);
  if (!found || !other) return found;
  const ids = `${found[kind.idField]} and ${other[kind.idField]}`;
  throw new CliError(`"${text}" is the name of two ${kind.noun}s. Use an ID: ${ids}`);
}

/** Whether the text has the form of an ID. A name may have it too. */
export function isId(text: string): boolean {
  return ID.test(text);
}

async function readById<T>(
  session: Session,
  { itemPath, parameter }: NamedKind,
  path: Record<string, string>,
  id: string,
): Promise<T | undefined> {
  try {
    return await session.read<T>(itemPath, { path: { ...path, [parameter]: id } });
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Compares the names in NFC, as the filter does. */
async function listByName<T extends NamedRecord>(
  session: Session,
  { listPath, isUnfiltered }: NamedKind,
  path: Record<string, string>,
  name: string,
): Promise<T[]> {
  const { rows } = await session.list<T>(listPath, {
    path,
    query: isUnfiltered ? {} : { name },
    limit: MAXIMUM_RECORDS,
  });
  return rows.filter((row) => row.name.normalize() === name.normalize());
}
