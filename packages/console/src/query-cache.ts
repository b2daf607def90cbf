/** What the session has read, so that a page that is opened again is there at once. Never a secret. */
const cache = new Map<string, Cached>();

const MOST_CACHED = 200;

interface Cached {
  etag: string | undefined;
  data: unknown;
}

export function cached(key: string): Cached | undefined {
  return cache.get(key);
}

/** Keeps the newest results. */
export function keep(key: string, result: Cached): void {
  cache.delete(key);
  cache.set(key, result);
  for (const oldest of cache.keys()) {
    if (cache.size <= MOST_CACHED) break;
    cache.delete(oldest);
  }
}

export function clearQueries(): void {
  cache.clear();
}

/** What has been read of an operation's path, newest first. */
export function cachedResults(pattern: string): unknown[] {
  const found = [...cache].filter(([key]) => key.startsWith(`${pattern} `));
  return found.map(([, { data }]) => data).toReversed();
}
