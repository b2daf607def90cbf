import { createReadStream, existsSync } from "node:fs";
import { linesOf } from "./backup/file.ts";
import { restore } from "./backup/restore.ts";
import { CommandError } from "./command-error.ts";
import { openDataFolder } from "./data/data-folder.ts";
import { lockFolder } from "./data/folder-lock.ts";
import { writeStamp } from "./data/stamp.ts";
import { databasePath } from "./database/database-path.ts";
import { readMigrations } from "./database/migrations.ts";
import { prepareDatabase } from "./database/prepare-database.ts";
import { openStoredDatabase } from "./open-data.ts";
import { databaseIdOf, type WorkerPackage } from "./runtime/worker-package.ts";

/** Inserts the rows of a backup into the database of an empty folder. A repetition continues an interrupted one. */
export async function restoreData(
  { file, data }: { file: string; data: string },
  worker: WorkerPackage,
  print: (text: string) => void,
): Promise<number> {
  if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`);
  const folder = openDataFolder(data);
  const lock = lockFolder(folder.lockFile, { pid: process.pid, use: "for a restore" });
  try {
    const database = databasePath(folder.state, databaseIdOf(worker.settings));
    const migrations = readMigrations(worker.migrations);
    prepareDatabase({ database, copies: folder.copies, migrations });
    writeStamp(folder, worker.release);
    const { d1, close } = await openStoredDatabase(folder, worker.settings);
    try {
      const lines = () => linesOf(createReadStream(file, "utf8"));
      const { inserted, skipped, skippedRows } = await restore(d1, lines);
      const rows = Object.values(inserted).reduce((sum, each) => sum + each, 0);
      print(
        `Restored ${rows} rows. Put the secrets.env that belongs to the backup into ${folder.path}, and start.`,
      );
      if (skipped > 0)
        print(`Left out ${skipped} rows whose parent is missing:\n${skippedRows.join("\n")}`);
      return 0;
    } finally {
      await close();
    }
  } finally {
    lock.release();
  }
}
