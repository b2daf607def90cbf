/**
 * `npm run revoke-all`: deletes all API keys and runner tokens of an organization. Repeats it when no
 * isolate has the deleted ones in its cache any more, for those that were created with them until then.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../src/lib/clock.ts";
import { CommandError, readCommandLine, readId, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";

const USAGE = "Usage: npm run revoke-all -- --org ID [--remote]";
const OPTIONS = {
  org: { type: "string" },
  remote: { type: "boolean", default: false },
} as const;

/** Isolates cache a credential for 30 s, and a request that uses it may take some more. */
const CACHED_MS = 60_000;

await runCommand(async () => {
  const { values, positionals } = readCommandLine(OPTIONS, USAGE);
  if (values.org === undefined || positionals.length > 0) throw new CommandError(USAGE, 2);
  const organizationId = readId(values.org);
  const { revokeAll } = await import("./lib/recovery.ts");
  const { d1, close } = await openDatabase(values);
  try {
    console.log(`${await revokeAll(d1, systemClock, organizationId)} credentials were deleted.`);
    console.log(`Repeating it in ${CACHED_MS / 1000} s, when no isolate has them in its cache …`);
    await sleep(CACHED_MS);
    const later = await revokeAll(d1, systemClock, organizationId);
    console.log(`${later} credentials that were created meanwhile were deleted.`);
    console.log(`Create a key for an owner: npm run recover -- --org ${organizationId}`);
    return 0;
  } finally {
    await close();
  }
});
