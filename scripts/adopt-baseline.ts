/** `npm run adopt-baseline`: brings a database from before the baseline to the tables of this checkout. */
import { CommandError, isProgram, readCommandLine, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";

const USAGE = "Usage: npm run adopt-baseline -- [--remote]";
const OPTIONS = { remote: { type: "boolean", default: false } } as const;

if (isProgram(import.meta)) await runCommand(() => adoptBaseline(process.argv.slice(2)));

export async function adoptBaseline(args: string[], open = openDatabase): Promise<number> {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE, args);
  if (positionals.length > 0) throw new CommandError(USAGE, 2);
  const { adopt } = await import("./adopt-baseline/adopt.ts");
  const { readAdoption } = await import("./adopt-baseline/migrations.ts");
  const { d1, close } = await open(values);
  try {
    const isAdopted = await adopt(d1, readAdoption());
    const next = values.remote ? "npm run deploy" : "npm start";
    console.log(
      isAdopted
        ? `The database has the tables of the baseline. Run ${next}, which applies later migrations.`
        : "The database has the baseline already.",
    );
    return 0;
  } finally {
    await close();
  }
}
