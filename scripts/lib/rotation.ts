import { drizzle } from "drizzle-orm/d1";
import {
  REPLACED_ISOLATES_END_MS,
  type Rotation,
  rotateAll,
} from "../../src/features/housekeeping/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import type { Cipher } from "../../src/lib/cipher.ts";

export interface RotationOptions {
  /** Whether the database belongs to a deployment, whose isolates end some time after their release. */
  remote: boolean;
  sleep(ms: number): Promise<unknown>;
  print(line: string): void;
  printError(line: string): void;
}

/** Returns the status of the command. It is 0 only if the current key alone opens every value. */
export async function rotateKeys(
  d1: D1Database,
  cipher: Cipher,
  { remote, sleep, print, printError }: RotationOptions,
): Promise<0 | 1> {
  const key = cipher.currentKeyId;
  const rotation = await rotateAll(drizzle(d1), cipher, SEALED_COLUMNS, async ({ resealed }) => {
    print(`${count(resealed)} encrypted again with the key ${key}.`);
    // The restart that gives a local Worker the key ends the only one that had the old keyring.
    if (!remote) return;
    print(
      `Waiting ${REPLACED_ISOLATES_END_MS / 1_000} seconds: until then, Workers of the previous ` +
        "deployment may still write values the old way. The second pass finds those.",
    );
    await sleep(REPLACED_ISOLATES_END_MS);
  });
  print(`The second pass: ${count(rotation.resealed)} encrypted again.`);
  if (rotation.outdated > 0) {
    for (const line of describeOutdated(rotation, key)) printError(line);
    return 1;
  }
  print(
    `All ${rotation.all} values use the key ${key}, and none lacks the form marker v2. ` +
      "You can remove the other keys from ENCRYPTION_KEYS.",
  );
  return 0;
}

function describeOutdated({ all, outdated, unreadable }: Rotation, key: string): string[] {
  const summary =
    `${outdated} of ${all} values do not use the key ${key}, or lack the form marker v2. ` +
    "Keep the other keys in ENCRYPTION_KEYS.";
  if (unreadable.length === 0) return [summary, "Run this command again."];
  return [
    summary,
    "These cannot be decrypted. Add the keys that they were encrypted with to ENCRYPTION_KEYS. If " +
      `you have no such key, they were altered or moved: write them again. ${unreadable.join(", ")}`,
  ];
}

function count(values: number): string {
  return values === 1 ? "1 value was" : `${values} values were`;
}
