import { randomInt } from "node:crypto";
import { whyUnavailable } from "../../../scripts/lib/port.ts";

/** Below the ports that systems choose for connections, so that no other process takes it meanwhile. */
const FIRST = 20_000;
const LAST = 29_999;

/** A port of the loopback interface on which nothing listens. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(FIRST, LAST + 1);
  return (await whyUnavailable(port)) ? findFreePort() : port;
}
