import { existsSync, writeFileSync } from "node:fs";
import { CommandError } from "../command-error.ts";
import type { DataFolder } from "./data-folder.ts";

/**
 * An empty database must not take the part of one that was lost.
 * @throws CommandError if the folder had a database once.
 */
export function requireKnownDatabase({ path, stampFile }: DataFolder, database: string): void {
  if (existsSync(database) || !existsSync(stampFile)) return;
  throw new CommandError(
    `The database of ${path} is gone: ${database} does not exist. Put it back, or restore a backup into another folder: ` +
      "longshore-server restore FILE --data NEW_FOLDER. " +
      `To start with an empty database, delete ${stampFile}.`,
  );
}

/** Once the database exists. */
export function writeStamp({ stampFile }: DataFolder, release: string): void {
  writeFileSync(stampFile, `${JSON.stringify({ release })}\n`);
}
