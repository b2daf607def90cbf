/** `npm run backup`: writes the rows of the database, or of one organization, to a file. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { writeLines } from "../packages/server/src/backup/lines-file.ts";
import { systemClock } from "../src/lib/clock.ts";
import { CommandError, isProgram, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";
import { readRelease } from "./lib/release.ts";

const USAGE = "Usage: npm run backup -- FILE [--org ID] [--remote]";
const OPTIONS = {
  org: { type: "string" },
  remote: { type: "boolean", default: false },
} as const;

if (isProgram(import.meta)) await runCommand(() => backUp(process.argv.slice(2)));

export async function backUp(args: string[], open = openDatabase): Promise<number> {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE, args);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new CommandError(USAGE, 2);
  if (!existsSync(dirname(file))) throw new CommandError(`There is no folder ${dirname(file)}.`);
  const organizationId = values.org === undefined ? undefined : readId(values.org);
  const { backup } = await import("../packages/server/src/backup/backup.ts");
  const { d1, close } = await open(values);
  try {
    const options = { organizationId, release: readRelease(), clock: systemClock };
    const lines = await writeLines(file, backup(d1, options));
    console.log(
      `${file} has ${lines - 2} rows. Keep it private, and keep ENCRYPTION_KEYS with it.`,
    );
    return 0;
  } finally {
    await close();
  }
}
