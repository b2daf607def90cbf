import { env } from "cloudflare:workers";

type FetchD1 = (url: string, init?: RequestInit) => Promise<Response>;
type D1 = new (fetcher: { fetch: FetchD1 }) => D1Database;

const replaced = new WeakSet<D1Database>();

/**
 * Sends queries to Miniflare's own object for each database. A binding sends them to a Worker that only
 * forwards them, which takes a third of the time of a query.
 */
export function callDatabasesDirectly(): void {
  for (const binding of ["DB", "RESTORED"] as const) {
    const name = env.D1_NAMES[binding];
    const original = env[binding];
    if (replaced.has(original)) continue;
    const fetch: FetchD1 = (url, init) => {
      // Each request has a stub of its own, because a stub belongs to the request that made it.
      const object = env.D1_OBJECTS.get(env.D1_OBJECTS.idFromName(name));
      return object.fetch(url, { ...init, cf: { miniflare: { name } } });
    };
    const direct = new (original.constructor as D1)({ fetch });
    replaced.add(direct);
    env[binding] = direct;
  }
}
