/** `npm run restore`: inserts the rows of a backup into an empty database. */
import { createReadStream, existsSync } from "node:fs";
import { linesOf } from "./backup/file.ts";
import { type RestoreReport, restore } from "./backup/restore.ts";
import { CommandError, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";
import { prepareDatabase } from "./lib/local-state.ts";

const USAGE = "Usage: npm run restore -- FILE [--org ID] [--remote]";
const OPTIONS = {
  org: { type: "string" },
  remote: { type: "boolean", default: false },
} as const;

await runCommand(async () => {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new CommandError(USAGE, 2);
  if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`);
  const organizationId = values.org === undefined ? undefined : readId(values.org);
  if (!values.remote) await prepareDatabase({ needsKeyState: false });
  const { d1, close } = await openDatabase(values);
  try {
    const lines = () => linesOf(createReadStream(file, "utf8"));
    print(await restore(d1, lines, { organizationId }));
    return 0;
  } finally {
    await close();
  }
});

function print({ inserted, skipped, skippedRows }: RestoreReport): void {
  for (const [table, count] of Object.entries(inserted)) console.log(`${table}  ${count}`);
  if (skipped === 0) return;
  console.log(
    `${skipped} rows were left out: they were written or deleted during the backup, and lack the ` +
      `record that they belong to, or their name is taken:\n${skippedRows.join("\n")}`,
  );
}
