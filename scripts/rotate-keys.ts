/**
 * `npm run rotate-keys`: seals every sealed value again with the first key of the keyring, also those
 * that it has sealed without a form marker. The Worker must know the new key before, and the old keys
 * until this command has finished. It is safe to interrupt and repeat.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Cipher } from "../src/lib/cipher.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import { openDatabase } from "./lib/database.ts";
import { addEncryptionKey, readDevVars } from "./lib/dev-vars.ts";
import { ROOT } from "./lib/wrangler.ts";

const USAGE = "Usage: npm run rotate-keys [-- --new-key | --remote]";
const DEV_VARS = join(ROOT, ".dev.vars");

await runCommand(async () => {
  const { remote, "new-key": newKey } = readOptions(process.argv.slice(2));
  if (newKey) return addKey();
  const cipher = await readKeyring(remote ? process.env : readDevVars(DEV_VARS));
  // Loading the tables takes most of a second.
  const { rotateKeys } = await import("./lib/rotation.ts");
  const { d1, close } = await openDatabase({ remote });
  try {
    const { log: print, error: printError } = console;
    return await rotateKeys(d1, cipher, { remote, sleep, print, printError });
  } finally {
    await close();
  }
});

function readOptions(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        remote: { type: "boolean", default: false },
        "new-key": { type: "boolean", default: false },
      },
    });
    if (!(values.remote && values["new-key"])) return values;
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
  throw new CommandError(
    "--new-key works only locally. Put a new key first in the deployment's ENCRYPTION_KEYS with " +
      `\`npx wrangler secret put ENCRYPTION_KEYS\`.\n${USAGE}`,
    2,
  );
}

/** Rotates no values, because the Worker must load the new key first. */
function addKey(): number {
  const id = addEncryptionKey(DEV_VARS);
  console.log(
    `The key ${id} is now the first in .dev.vars. Restart the Worker so that it ` +
      "loads the key, and then run: npm run rotate-keys",
  );
  return 0;
}

async function readKeyring(source: NodeJS.Dict<string>): Promise<Cipher> {
  const keyring = source["ENCRYPTION_KEYS"];
  if (!keyring) throw new CommandError("Set ENCRYPTION_KEYS to the keyring of the deployment.");
  try {
    return await Cipher.of(keyring);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}
