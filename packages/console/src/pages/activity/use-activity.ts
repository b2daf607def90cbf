import { useCallback, useEffect, useState } from "preact/hooks";
import { client } from "../../api.ts";
import { type Polling, poll } from "../../query.ts";
import { endSession, isSignedOut } from "../../session.ts";
import type { AuditRecord, ChangelogEntry, Feed } from "./merge.ts";

type Query = Readonly<Record<string, string | readonly string[]>>;

interface FeedRequest {
  path: Readonly<Record<string, string>>;
  query: Query;
}

export interface FeedRequests {
  /** Undefined: the session may not read it. */
  audit: FeedRequest | undefined;
  changelogs: readonly FeedRequest[];
}

interface Loaded<T> extends Feed<T> {
  next: string | undefined;
}

export interface Feeds {
  audit: Loaded<AuditRecord>;
  changelogs: readonly Loaded<ChangelogEntry>[];
}

const NOTHING = { items: [], hasMore: false, next: undefined };
const AUDIT = "/v1/orgs/{org_id}/audit-log";
const CHANGELOG = "/v1/projects/{project_id}/changelog";
const LIMIT = 100;
/** Pages that a filter leaves empty are followed by others, at most so many at once. */
const MOST_PAGES = 10;

/** The lists of an activity page, each as far as it is loaded. */
export function useActivity(requests: FeedRequests, polling: Polling) {
  const key = JSON.stringify(requests);
  const [state, setState] = useState<{ key: string; feeds?: Feeds; error?: unknown }>({ key });
  const read = useCallback(
    async (signal: AbortSignal) => {
      try {
        const first = await readFirst(requests);
        if (signal.aborted) return;
        setState((old) => {
          const known = old.key === key ? old.feeds : undefined;
          return { key, feeds: known ? addNewer(known, first) : first };
        });
      } catch (error) {
        if (signal.aborted) return;
        if (isSignedOut(error)) endSession();
        setState((old) => (old.key === key ? { ...old, error } : { key, error }));
        throw error;
      }
    },
    [key],
  );
  useEffect(() => poll(read, polling), [read, polling]);
  const { feeds, error } = state.key === key ? state : {};
  const loadMore = async (nextOf: (feeds: Feeds) => number | undefined) => {
    let added = feeds;
    for (let pages = 0; added && pages < MOST_PAGES; pages += 1) {
      const next = nextOf(added);
      if (next === undefined) break;
      added = await addOlder(added, next, requests);
    }
    const older = added;
    setState((old) => (older && old.key === key ? { key, feeds: older } : old));
  };
  return { feeds, error, loadMore };
}

async function readFirst({ audit, changelogs }: FeedRequests): Promise<Feeds> {
  const [records, ...entries] = await Promise.all([
    audit ? readPage<AuditRecord>(AUDIT, audit) : NOTHING,
    ...changelogs.map((each) => readPage<ChangelogEntry>(CHANGELOG, each)),
  ]);
  return { audit: records, changelogs: entries };
}

async function readPage<T>(
  pattern: typeof AUDIT | typeof CHANGELOG,
  { path, query }: FeedRequest,
  after?: string,
): Promise<Loaded<T>> {
  const response = await client.request("GET", pattern, {
    path,
    query: { ...query, limit: LIMIT, ...(after && { after }) },
  });
  const page = (await response.json()) as {
    data: readonly T[];
    has_more: boolean;
    next_page?: string;
  };
  return { items: page.data, hasMore: page.has_more, next: page.next_page };
}

async function addOlder(feeds: Feeds, at: number, requests: FeedRequests): Promise<Feeds> {
  const { audit, changelogs } = feeds;
  if (at === 0) {
    if (!requests.audit) return feeds;
    const page = await readPage<AuditRecord>(AUDIT, requests.audit, audit.next);
    return { audit: { ...page, items: [...audit.items, ...page.items] }, changelogs };
  }
  const [feed, request] = [changelogs[at - 1], requests.changelogs[at - 1]];
  if (!feed || !request) return feeds;
  const page = await readPage<ChangelogEntry>(CHANGELOG, request, feed.next);
  const longer = { ...page, items: [...feed.items, ...page.items] };
  return { audit, changelogs: changelogs.with(at - 1, longer) };
}

function addNewer(known: Feeds, first: Feeds): Feeds {
  return {
    audit: joinFeed(known.audit, first.audit),
    changelogs: first.changelogs.map((feed, at) => joinFeed(known.changelogs[at], feed)),
  };
}

/** If more than a page is new, there would be a gap: the list begins anew. */
function joinFeed<T extends { id: string }>(known: Loaded<T> | undefined, first: Loaded<T>) {
  const ids = new Set(first.items.map(({ id }) => id));
  const older = known?.items.findLastIndex(({ id }) => ids.has(id)) ?? -1;
  if (!known || older < 0) return first;
  return { ...known, items: [...first.items, ...known.items.slice(older + 1)] };
}
