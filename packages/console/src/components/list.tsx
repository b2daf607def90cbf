import type { ComponentChildren } from "preact";
import { useAction } from "../action.ts";
import type { List } from "../query.ts";
import { Button } from "./button.tsx";
import { Command } from "./copy.tsx";
import { ErrorNote } from "./error-note.tsx";

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
        <ul class="list" aria-label={label}>
          {shown.map((item) => (
            <li key={keyOf(item)}>{render(item)}</li>
          ))}
        </ul>
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
