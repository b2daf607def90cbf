import { env } from "cloudflare:workers";

/** What the client of D1 reads of a response. */
type D1Response = Pick<Response, "text"> & { headers: Pick<Headers, "get"> };
type FetchD1 = (url: string, init: { body: string }) => Promise<D1Response>;
type D1 = new (fetcher: { fetch: FetchD1 }) => D1Database;

const replaced = new WeakSet<D1Database>();

/**
 * Sends queries to an object that executes them as Miniflare's for D1 databases. A binding sends them to a
 * Worker that forwards them to the object as HTTP, which takes three times as long.
 */
export function callDatabasesDirectly(): void {
  for (const binding of ["DB", "RESTORED"] as const) {
    const original = env[binding];
    if (replaced.has(original)) continue;
    const fetch: FetchD1 = async (url, { body }) => {
      // Each request has a stub of its own, because a stub belongs to the request that made it.
      const object = env.D1_OBJECTS.getByName(binding);
      const isRaw = url.endsWith("=ROWS_AND_COLUMNS");
      const { text, bookmark = null } = await object.query(body, isRaw);
      return { text: async () => text, headers: { get: () => bookmark } };
    };
    const direct = new (original.constructor as D1)({ fetch });
    replaced.add(direct);
    env[binding] = direct;
  }
}
