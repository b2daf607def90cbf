import { createServer } from "node:net";

/** wrangler listens on what `localhost` means, which may be either. */
const LOOPBACK = ["127.0.0.1", "::1"];

/** Why nothing can listen on the port, or undefined if something can. */
export async function findObstacle(port: number): Promise<string | undefined> {
  for (const host of LOOPBACK) {
    const code = await tryToListen(port, host);
    if (code === "EADDRINUSE") return "something else listens on it";
    if (code === "EACCES") return "this user may not listen on it";
  }
  return undefined;
}

/** The code of the error, if there is one. */
function tryToListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
