import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** wrangler listens on `localhost`, which may resolve to either. */
const LOOPBACK = ["127.0.0.1", "::1"];

/** Below the ports that systems choose for connections, so that no other process takes it meanwhile. */
const FIRST = 20_000;
const LAST = 29_999;

/** A port of the loopback interface on which nothing listens. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(FIRST, LAST + 1);
  return (await whyUnavailable(port)) ? findFreePort() : port;
}

/** Why wrangler cannot listen on the port; undefined if it can. */
export async function whyUnavailable(port: number): Promise<string | undefined> {
  for (const host of LOOPBACK) {
    const code = await tryToListen(port, host);
    if (code === "EADDRINUSE") return "another process listens on it";
    if (code === "EACCES") return "this user may not listen on it";
  }
  return undefined;
}

/** Returns the error code, or undefined on success. */
function tryToListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
