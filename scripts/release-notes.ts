/** `node scripts/release-notes.ts TAG`: prints the notes of a release, which are its section of the changelog. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readReleaseNotes } from "./lib/changelog.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import { ROOT } from "./lib/wrangler.ts";

await runCommand(async () => {
  const [tag = ""] = process.argv.slice(2);
  const [, version] = /^v(\d.*)$/.exec(tag) ?? [];
  if (version === undefined) throw new CommandError("Usage: node scripts/release-notes.ts TAG", 2);
  console.log(readReleaseNotes(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), version));
  return 0;
});
