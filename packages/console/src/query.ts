import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Item, ListPath, Path, Result } from "../../client/src/index.ts";
import { ApiError, client } from "./api.ts";
import { cached, keep } from "./query-cache.ts";
import { endSession, isSignedOut } from "./session.ts";

/** A visible page sends at most about 80 requests in a minute, of the 600 of its session. */
const POLL_MS = 10_000;
const LIVE_POLL_MS = 3_000;

type Parameters = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface QueryOptions {
  path?: Readonly<Record<string, string>>;
  query?: Parameters;
}

/** Off: read once. Live: while something is in progress. */
export type Polling = "off" | "on" | "live";

export interface Query<T> {
  data: T | undefined;
  error: unknown;
  /** Reads it again, also if nothing has changed. */
  reload: () => Promise<void>;
}

/**
 * Reads a resource or a list. Polls with `If-None-Match`, only while the page is visible. `pattern`
 * undefined: reads nothing.
 */
export function useQuery<P extends Path<"get">>(
  pattern: P | undefined,
  options: QueryOptions = {},
  polling: Polling = "off",
): Query<Result<P, "get">> {
  const key = pattern === undefined ? "" : keyOf(pattern, options);
  const [state, setState] = useState<{ key: string; error?: unknown; version: number }>({
    key,
    version: 0,
  });
  const latest = useRef({ key, options });
  latest.current = { key, options };
  const read = useCallback(
    async (signal?: AbortSignal) => {
      if (pattern === undefined) return;
      try {
        const begun = prefetched.get(key);
        prefetched.delete(key);
        const hasChanged = await (begun ?? readInto(key, pattern, latest.current.options, signal));
        if (latest.current.key !== key) return;
        setState((old) =>
          hasChanged || old.key !== key || old.error !== undefined
            ? { key, version: old.version + 1 }
            : old,
        );
      } catch (error) {
        if (signal?.aborted || latest.current.key !== key) return;
        if (isSignedOut(error)) endSession();
        setState((old) => ({ key, error, version: old.version + 1 }));
        throw error;
      }
    },
    [key, pattern],
  );
  useEffect(() => poll(read, polling), [read, polling]);
  const reload = useCallback(() => read().catch(() => undefined), [read]);
  const data = cached(key)?.data as Result<P, "get"> | undefined;
  return { data, error: state.key === key ? state.error : undefined, reload };
}

/** @returns whether it is another version than the one that is cached. */
async function readInto(
  key: string,
  pattern: string,
  options: QueryOptions,
  signal?: AbortSignal,
): Promise<boolean> {
  const etag = cached(key)?.etag;
  const response = await client.request("GET", pattern, {
    ...options,
    ...(etag && { headers: { "if-none-match": etag } }),
    signal,
  });
  if (response.status === 304) return false;
  const data: unknown = await response.json();
  keep(key, { etag: response.headers.get("etag") ?? undefined, data });
  return true;
}

/** Begins to read what the first page shows, beside the session. */
export function prefetch(pattern: Path<"get">): void {
  const key = keyOf(pattern, {});
  const read = readInto(key, pattern, {});
  prefetched.set(key, read);
  // Without a session, for example: it is read again after the sign-in.
  read.catch(() => prefetched.delete(key));
}

/** What `prefetch` has begun and no component has read yet. */
const prefetched = new Map<string, Promise<boolean>>();

function keyOf(pattern: string, options: QueryOptions): string {
  return `${pattern} ${JSON.stringify(options)}`;
}

/** Reads at once, then at intervals while the page is visible. Errors double the pause, up to a minute. */
export function poll(read: (signal: AbortSignal) => Promise<void>, polling: Polling): () => void {
  const controller = new AbortController();
  const interval = polling === "live" ? LIVE_POLL_MS : POLL_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  const next = async () => {
    clearTimeout(timer);
    let pause = interval;
    try {
      await read(controller.signal);
      failures = 0;
    } catch (error) {
      failures += 1;
      const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      pause = Math.max(asked, Math.min(60_000, interval * 2 ** failures));
    }
    if (controller.signal.aborted || polling === "off" || document.hidden) return;
    timer = setTimeout(next, pause);
  };
  const resume = () => {
    if (document.hidden) clearTimeout(timer);
    else if (polling !== "off") void next();
  };
  document.addEventListener("visibilitychange", resume);
  void next();
  return () => {
    controller.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", resume);
  };
}

export interface List<T> {
  items: readonly T[] | undefined;
  error: unknown;
  hasMore: boolean;
  loadMore: () => Promise<void>;
  reload: () => Promise<void>;
}

interface PageOf<T> {
  data: readonly T[];
  has_more: boolean;
  next_page?: string;
}

/** A list, of which the first page is polled. `loadMore` adds the next page. */
export function useList<P extends ListPath>(
  pattern: P | undefined,
  options: QueryOptions = {},
  polling: Polling = "off",
): List<Item<P>> {
  const first = useQuery<P>(pattern, options, polling);
  const key = `${pattern} ${JSON.stringify(options)}`;
  const [more, setMore] = useState<{ key: string; pages: PageOf<Item<P>>[] }>({ key, pages: [] });
  const page = first.data as PageOf<Item<P>> | undefined;
  const later = more.key === key ? more.pages : [];
  const last = later.at(-1) ?? page;
  return {
    items: page && mergePages([page, ...later]),
    error: first.error,
    hasMore: last?.has_more === true,
    loadMore: async () => {
      if (!pattern || last?.next_page === undefined) return;
      const query = { ...options.query, after: last.next_page };
      const response = await client.request("GET", pattern, { ...options, query });
      const added = (await response.json()) as PageOf<Item<P>>;
      setMore({ key, pages: [...later, added] });
    },
    reload: async () => {
      setMore({ key, pages: [] });
      await first.reload();
    },
  };
}

/** An item may move to another page between two reads. */
function mergePages<T>(pages: readonly PageOf<T>[]): T[] {
  const items = new Map<string, T>();
  for (const item of pages.flatMap(({ data }) => data)) {
    const key = keyOfItem(item);
    if (!items.has(key)) items.set(key, item);
  }
  return [...items.values()];
}

/** What tells an item from the others of its list. */
export function keyOfItem(item: unknown): string {
  const { id, membership_id, deployment_id, name } = item as Record<string, string | undefined>;
  return id ?? membership_id ?? deployment_id ?? name ?? "";
}

/** Reads once, such as what a form offers as choices. */
export function useReadOnce<T>(read: () => Promise<T>): { data?: T; error?: unknown } {
  const [state, setState] = useState<{ data?: T; error?: unknown }>({});
  useEffect(() => {
    read().then(
      (data) => setState({ data }),
      (error) => setState({ error }),
    );
  }, []);
  return state;
}

/** Reads every page of a list. */
export async function readAll<P extends ListPath>(
  pattern: P,
  options: QueryOptions = {},
): Promise<Item<P>[]> {
  const items: Item<P>[] = [];
  for await (const item of client.list(pattern, options as never)) items.push(item);
  return items;
}

/** A resource as it was read once, for a write that must not undo another. */
export interface Version<T> {
  value: T;
  etag: string | undefined;
}

export async function readVersion<P extends Path<"get">>(
  pattern: P,
  path: Readonly<Record<string, string>>,
): Promise<Version<Result<P, "get">>> {
  const response = await client.request("GET", pattern, { path });
  const value = (await response.json()) as Result<P, "get">;
  return { value, etag: response.headers.get("etag") ?? undefined };
}
