/** `npm run restore`: inserts the rows of a backup into an empty database. */
import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeLines } from "../packages/server/src/backup/lines-file.ts";
import type { RestoreReport } from "../packages/server/src/backup/restore.ts";
import { CommandError, isProgram, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase, openLocalDatabase } from "./lib/database.ts";
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
  const { linesOf } = await import("../packages/server/src/backup/file.ts");
  const { restore } = await import("../packages/server/src/backup/restore.ts");
  const folder = mkdtempSync(join(tmpdir(), "longshore-"));
  const { d1, close } = await open(values);
  try {
    const readable = await toBaseline(file, folder);
    const lines = () => linesOf(createReadStream(readable, "utf8"));
    print(await restore(d1, lines, { organizationId }));
    return 0;
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
}

/** Returns the file, or, of a backup from before the baseline, one of the baseline's tables in the folder. */
async function toBaseline(file: string, folder: string): Promise<string> {
  const { linesOf, readHeader, verifyFile } = await import("../packages/server/src/backup/file.ts");
  const { readAdoption } = await import("./adopt-baseline/migrations.ts");
  const lines = () => linesOf(createReadStream(file, "utf8"));
  const { value: first = "" } = await lines().next();
  const { release, migration, created_at } = readHeader(first);
  const adoption = readAdoption();
  if (migration !== adoption.earlier.at(-2)?.name) return file;
  const { convertBackup, isRowBeforeBaseline, withoutClock } = await import(
    "./adopt-baseline/convert-backup.ts"
  );
  await verifyFile(lines(), isRowBeforeBaseline);
  // The same file has the same digest again, so that an interrupted restore continues.
  const clock = { now: () => Date.parse(created_at) };
  const { d1, close } = await openLocalDatabase(folder);
  try {
    const converted = join(folder, "backup.ndjson");
    const options = { organizationId: undefined, release, clock };
    const lasting = withoutClock(adoption, clock.now());
    await writeLines(converted, convertBackup(d1, lines(), lasting, options));
    return converted;
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
