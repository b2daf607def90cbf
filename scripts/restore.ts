/** `npm run restore`: inserts the rows of a backup into an empty database. */
import { createReadStream, existsSync } from "node:fs";
import type { RestoreReport } from "./backup/restore.ts";
import { CommandError, isProgram, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";
import { prepareDatabase } from "./lib/local-state.ts";

const USAGE = "Usage: npm run restore -- FILE [--org ID] [--remote]";
const OPTIONS = {
  org: { type: "string" },
  remote: { type: "boolean", default: false },
} as const;

if (isProgram(import.meta)) await runCommand(() => restoreFile(process.argv.slice(2)));

export async function restoreFile(args: string[], open = openMigrated): Promise<number> {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE, args);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new CommandError(USAGE, 2);
  if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`);
  const organizationId = values.org === undefined ? undefined : readId(values.org);
  const { linesOf } = await import("./backup/file.ts");
  const { restore } = await import("./backup/restore.ts");
  const { d1, close } = await open(values);
  try {
    const lines = () => linesOf(createReadStream(file, "utf8"));
    print(await restore(d1, lines, { organizationId }));
    return 0;
  } finally {
    await close();
  }
}

async function openMigrated(options: { remote: boolean }) {
  if (!options.remote) await prepareDatabase({ needsKeyState: false });
  return openDatabase(options);
}

function print({ inserted, skipped, skippedRows }: RestoreReport): void {
  for (const [table, count] of Object.entries(inserted)) console.log(`${table}  ${count}`);
  if (skipped === 0) return;
  console.log(
    `${skipped} rows were left out: they were written or deleted during the backup, and lack the ` +
      `record that they belong to, or their name is taken:\n${skippedRows.join("\n")}`,
  );
}
