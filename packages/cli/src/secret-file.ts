import { writeTextFile } from "./config-file.ts";
import type { Output, RecordOptions } from "./output.ts";

const FILE_MODE = 0o600;

export interface SecretOptions extends RecordOptions {
  /** A file for the secret. Absent: it is printed. */
  output?: string;
  id(row: { id: string }): string;
}

/** Prints a record with a secret that is shown only once, or writes the secret to a file. */
export async function printSecret<Row extends { id: string }>(
  output: Output,
  record: Row,
  field: keyof Row & string,
  options: Omit<SecretOptions, "id">,
): Promise<void> {
  const id = (row: { id: string }) => row.id;
  if (options.output === undefined) {
    output.record(record, { ...options, id });
    if (!options.json && !options.quiet) output.note(`The ${field} is shown only now.`);
    return;
  }
  await writeTextFile(options.output, `${record[field]}\n`, FILE_MODE);
  const { [field]: _, ...rest } = record;
  output.record({ ...rest, id: record.id }, { ...options, id });
  output.note(`The ${field} is in ${options.output}, which only you can read.`);
}
