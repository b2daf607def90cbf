import { createHash, createHmac } from "node:crypto";
import { join } from "node:path";

const NAMESPACE = "miniflare-D1DatabaseObject";
/** The first half of an ID is from the name, the second authenticates it. */
const HALF_BYTES = 16;

/**
 * The SQLite file of a database below the folder of Miniflare's state. It is named after the Durable Object that has it,
 * whose ID follows from the database's ID.
 */
export function databasePath(state: string, databaseId: string): string {
  const key = createHash("sha256").update(NAMESPACE).digest();
  const name = createHmac("sha256", key).update(databaseId).digest().subarray(0, HALF_BYTES);
  const proof = createHmac("sha256", key).update(name).digest().subarray(0, HALF_BYTES);
  const id = Buffer.concat([name, proof]).toString("hex");
  return join(state, "d1", NAMESPACE, `${id}.sqlite`);
}
