import type { ComponentChildren } from "preact";
import { useAction } from "../action.ts";
import { keyOfItem, type List } from "../query.ts";
import { Button } from "./button.tsx";
import { Command } from "./copy.tsx";
import { ErrorNote, ReadErrorNote } from "./error-note.tsx";
import { Near } from "./near.tsx";

export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div aria-busy="true">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} class="skeleton" />
      ))}
    </div>
  );
}

/** In place of what is being read, or cannot be read. */
export function Pending({ error, lines }: { error: unknown; lines?: number }) {
  return error === undefined ? (
    <Skeleton {...(lines && { lines })} />
  ) : (
    <ReadErrorNote error={error} />
  );
}

export interface EmptyProps {
  title: string;
  /** Of the command line, that does the next step. False: the service would refuse it. */
  command?: string | false | undefined;
  /** The button that does it. */
  button?: ComponentChildren;
}

/** What a list without items shows: the next step. */
export function Empty({ title, command, button }: EmptyProps) {
  return (
    <div class="empty">
      <p>{title}</p>
      {button}
      {command && (
        <>
          <p class="soft">{button ? "Or with the command line:" : "With the command line:"}</p>
          <Command text={command} />
        </>
      )}
    </div>
  );
}

const CHUNK_ITEMS = 25;
const ROW_PX = 70;

function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += CHUNK_ITEMS) {
    chunks.push(items.slice(at, at + CHUNK_ITEMS));
  }
  return chunks;
}

interface ListContentProps<T> {
  list: List<T>;
  /** Names the list for a screen reader. */
  label: string;
  row: (item: T) => ComponentChildren;
  empty: ComponentChildren;
  filter: ((item: T) => boolean) | undefined;
}

/** The four states of a list: loading, failed, empty, and items with more to load. */
export function ListContent<T>({ list, label, row, empty, filter }: ListContentProps<T>) {
  const shown = filter ? list.items?.filter(filter) : list.items;
  if (shown === undefined) return <Pending error={list.error} />;
  return (
    <div class="stack">
      <ReadErrorNote error={list.error} />
      {shown.length === 0 && !list.hasMore && empty}
      {shown.length > 0 && (
        <div>
          {chunksOf(shown).map((chunk, at) => (
            // Most lists have one part, which is always there.
            <Near key={at} isKept={at === 0} estimatedHeight={chunk.length * ROW_PX}>
              {() => (
                <ul class="list" aria-label={label}>
                  {chunk.map((item) => (
                    <li key={keyOfItem(item)}>{row(item)}</li>
                  ))}
                </ul>
              )}
            </Near>
          ))}
        </div>
      )}
      <LoadMore list={list} />
    </div>
  );
}

/** Nothing, at the end of the list. */
export function LoadMore({ list }: { list: Pick<List<unknown>, "hasMore" | "loadMore"> }) {
  const more = useAction();
  return (
    <>
      <ErrorNote error={more.error} />
      {list.hasMore && (
        <div>
          <Button isBusy={more.isRunning} onClick={() => more.run(list.loadMore)}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
