import type { ComponentChildren } from "preact";
import { useAction } from "../action.ts";
import type { List } from "../query.ts";
import { Button } from "./button.tsx";
import { Command } from "./copy.tsx";
import { ErrorNote } from "./error-note.tsx";
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

interface EmptyProps {
  title: string;
  /** What the person can do next, with a command of the command line. False: the service would refuse it. */
  next?: { text: string; command: string } | false;
}

/** What a list without records shows. */
export function Empty({ title, next }: EmptyProps) {
  return (
    <div class="empty">
      <p>
        {title} {next ? next.text : ""}
      </p>
      {next && <Command text={next.command} />}
    </div>
  );
}

const CHUNK_RECORDS = 25;
const ROW_PX = 70;

function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += CHUNK_RECORDS) {
    chunks.push(items.slice(at, at + CHUNK_RECORDS));
  }
  return chunks;
}

interface RecordListProps<T> {
  list: List<T>;
  /** Names the list for a screen reader. */
  label: string;
  keyOf: (item: T) => string;
  render: (item: T) => ComponentChildren;
  empty: ComponentChildren;
  filter?: ((item: T) => boolean) | undefined;
}

/** A list of records with its four states: loading, failed, empty, and records with more to load. */
export function RecordList<T>({ list, label, keyOf, render, empty, filter }: RecordListProps<T>) {
  const more = useAction();
  const shown = filter ? list.items?.filter(filter) : list.items;
  if (shown === undefined) {
    return list.error === undefined ? <Skeleton /> : <ErrorNote error={list.error} />;
  }
  return (
    <div class="stack">
      <ErrorNote error={list.error} />
      {shown.length === 0 && !list.hasMore && empty}
      {shown.length > 0 && (
        <div>
          {chunksOf(shown).map((chunk, at) => (
            // Most lists have one part, which is always there.
            <Near key={at} isKept={at === 0} estimatedHeight={chunk.length * ROW_PX}>
              {() => (
                <ul class="list" aria-label={label}>
                  {chunk.map((item) => (
                    <li key={keyOf(item)}>{render(item)}</li>
                  ))}
                </ul>
              )}
            </Near>
          ))}
        </div>
      )}
      <ErrorNote error={more.error} />
      {list.hasMore && (
        <div>
          <Button isBusy={more.isRunning} onClick={() => more.run(list.loadMore)}>
            Load more
          </Button>
        </div>
      )}
    </div>
  );
}
