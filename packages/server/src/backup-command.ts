import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { systemClock } from "../../../src/lib/clock.ts";
import { backup } from "./backup/backup.ts";
import { writeLines } from "./backup/lines-file.ts";
import { CommandError } from "./command-error.ts";
import { describeFolder } from "./data/data-folder.ts";
import { databasePath } from "./database/database-path.ts";
import { openData } from "./open-data.ts";
import { databaseIdOf, type WorkerPackage } from "./runtime/worker-package.ts";

/** Writes everything to a file, while the server runs or not. */
export async function backUpData(
  { file, data }: { file: string; data: string },
  { settings, release }: WorkerPackage,
  print: (text: string) => void,
): Promise<number> {
  if (!existsSync(dirname(file))) throw new CommandError(`There is no folder ${dirname(file)}.`);
  const { state, secretsFile } = describeFolder(data);
  if (!existsSync(databasePath(state, databaseIdOf(settings)))) {
    throw new CommandError(`${data} has no database. Name the server's folder with --data.`);
  }
  const { d1, close } = await openData(data, settings);
  try {
    const options = { organizationId: undefined, release, clock: systemClock };
    const lines = await writeLines(file, backup(d1, options));
    print(`${file} has ${lines - 2} rows. Keep it private, and keep ${secretsFile} with it.`);
    return 0;
  } finally {
    await close();
  }
}
