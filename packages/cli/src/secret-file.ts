import { open, unlink } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError } from "./errors.ts";
import type { RecordOptions } from "./output.ts";
import type { CliContext } from "./session.ts";

const FILE_MODE = 0o600;

export interface SecretOptions extends RecordOptions {
  /** A new file for the secret. Absent: it is printed. */
  output?: string;
}

/**
 * Creates a record with a secret that is shown only once, and prints it, or writes the secret to a file.
 * The file is created first, so that no secret is created that cannot be stored.
 */
export async function createSecret<Row extends { id: string }>(
  { folder, output }: CliContext,
  options: SecretOptions,
  field: keyof Row & string,
  create: () => Promise<Row>,
): Promise<void> {
  const id = (row: { id: string }) => row.id;
  if (options.quiet && options.output === undefined) {
    throw new CliError(`--quiet would lose the ${field}. Add --output FILE.`);
  }
  if (options.output === undefined) {
    output.record(await create(), { ...options, id });
    if (!options.json && !options.quiet) output.note(`The ${field} is shown only now.`);
    return;
  }
  const record = await createWithFile(folder, options.output, field, create);
  const { [field]: _, ...rest } = record;
  output.record({ ...rest, id: record.id }, { ...options, id });
  output.note(`The ${field} is in ${options.output}, which only you can read.`);
}

async function createWithFile<Row extends { id: string }>(
  folder: string,
  name: string,
  field: keyof Row & string,
  create: () => Promise<Row>,
): Promise<Row> {
  const path = resolve(folder, name);
  const file = await open(path, "wx", FILE_MODE).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "EEXIST" ? "it exists; name another file" : error.message;
    throw new CliError(`Cannot write ${name}: ${reason}. Nothing was created.`);
  });
  try {
    const record = await create().catch(async (error: unknown) => {
      await unlink(path);
      throw error;
    });
    await file.writeFile(`${record[field]}\n`).catch(async (error: Error) => {
      await unlink(path);
      const lost = `The ${field} of ${record.id} is lost: revoke it, and create another.`;
      throw new CliError(`Cannot write ${name}: ${error.message}. ${lost}`);
    });
    return record;
  } finally {
    await file.close();
  }
}
