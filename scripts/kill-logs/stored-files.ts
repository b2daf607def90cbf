import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../../packages/server/src/command-error.ts";

const CLASS = "AttemptLog";

/**
 * The texts among these that are in the files of the logs' Durable Objects, as raw bytes.
 * @throws CommandError if the files do not have `marker`, because then nothing was searched.
 */
export function findInStorage(
  folder: string,
  texts: readonly string[],
  marker: string,
): { found: string[]; bytes: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes(CLASS))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const has = (text: string) => files.some((file) => file.includes(text));
  if (!has(marker)) throw new CommandError(`No file of a ${CLASS} in ${folder} has "${marker}".`);
  return {
    found: texts.filter(has),
    bytes: files.reduce((sum, file) => sum + file.length, 0),
  };
}
