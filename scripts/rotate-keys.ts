/**
 * `npm run rotate-keys`: seals all that is sealed anew under the first key of the keyring. The Worker has
 * to know the new key before; it needs the old ones until this has ended. It may be interrupted and
 * run again at any time: what is under the first key already is passed over.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { drizzle } from "drizzle-orm/d1";
import { rotateBatch } from "../src/features/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../src/features/key-rotation/sealed-columns.ts";
import { Cipher } from "../src/lib/cipher.ts";
import { openDatabase } from "./lib/database.ts";
import { Failure, runScript } from "./lib/command.ts";
import { newEncryptionKey } from "./lib/secrets.ts";
import { ROOT } from "./lib/wrangler.ts";

const USAGE = "Usage: npm run rotate-keys [-- --new-key | --remote]";
const DEV_VARS = join(ROOT, ".dev.vars");
const BATCH = 50;

await runScript(async () => {
  const { remote, "new-key": newKey } = readOptions(process.argv.slice(2));
  if (newKey) return addKey();
  const cipher = await readKeyring(remote ? process.env : parseEnv(readDevVars()));
  const { d1, close } = await openDatabase({ remote });
  try {
    return await rotateAll(d1, cipher);
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
    throw new Failure(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
  throw new Failure(
    "--new-key is for local use. Put a new key first in the deployment's ENCRYPTION_KEYS with " +
      `\`npx wrangler secret put ENCRYPTION_KEYS\`.\n${USAGE}`,
    2,
  );
}

function readDevVars(): string {
  try {
    return readFileSync(DEV_VARS, "utf8");
  } catch {
    throw new Failure("There is no .dev.vars; npm start makes one.");
  }
}

/** Puts a fresh key first in the local keyring, and leaves the values for when the Worker has it. */
function addKey(): number {
  const entry = newEncryptionKey();
  const text = readDevVars().replace(/^(ENCRYPTION_KEYS=["']?)/m, `$1${entry},`);
  if (!text.includes(entry)) throw new Failure("There is no ENCRYPTION_KEYS in .dev.vars.");
  writeFileSync(DEV_VARS, text);
  console.log(
    `The key ${entry.split(":")[0]} stands first in .dev.vars now. Start the Worker again, so that ` +
      "it knows the key, then: npm run rotate-keys",
  );
  return 0;
}

async function readKeyring(source: NodeJS.Dict<string>): Promise<Cipher> {
  const keyring = source["ENCRYPTION_KEYS"];
  if (!keyring) throw new Failure("Set ENCRYPTION_KEYS to the keyring that the deployment has.");
  try {
    return await Cipher.of(keyring);
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error));
  }
}

async function rotateAll(d1: D1Database, cipher: Cipher): Promise<number> {
  const db = drizzle(d1);
  const unreadable: string[] = [];
  let resealed = 0;
  for (const column of SEALED_COLUMNS) {
    let after: string | undefined = "";
    while (after !== undefined) {
      const batch = await rotateBatch(db, cipher, column, { after, size: BATCH });
      resealed += batch.resealed;
      unreadable.push(...batch.unreadable.map((id) => `${column.table}.${column.column} of ${id}`));
      after = batch.next;
    }
    console.log(`${resealed} values are newly under the key ${cipher.currentKeyId}.`);
  }
  if (unreadable.length === 0) {
    console.log("All values are under it: the other keys may go from ENCRYPTION_KEYS.");
    return 0;
  }
  console.error(`No key of the keyring opens these: ${unreadable.join(", ")}.`);
  return 1;
}
