import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { formatClock, formatDate, formatDuration, formatExact, formatRelative } from "../format.ts";

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 10_000);

/** The present time, each second while `isLive`. */
export function useSeconds(isLive: boolean): number {
  const [present, setPresent] = useState(Date.now);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => !document.hidden && setPresent(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isLive]);
  return present;
}

/** Words and a time. Without the time, nothing. */
export function TimeAfter({ words, at }: { words: string; at: string | undefined }) {
  return at === undefined ? null : (
    <>
      {words} <Time at={at} />
    </>
  );
}

/** A relative time, with the exact one on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time class="nowrap" dateTime={at} title={formatExact(at)}>
      {formatRelative(at, Math.max(now.value, Date.now()))}
    </time>
  );
}

/** The time of day, below a heading with the date. The exact time is there on hover. */
export function Clock({ at }: { at: string }) {
  return (
    <time class="nowrap soft small" dateTime={at} title={formatExact(at)}>
      {formatClock(at)}
    </time>
  );
}

/** The heading of a day. */
export function DateHeading({ at }: { at: number }) {
  return <h3>{formatDate(at, Math.max(now.value, Date.now()))}</h3>;
}

/** How long a deployment ran, in a column. Undefined: it has not ended, or has never started. */
export function Took({ seconds }: { seconds: number | undefined }) {
  return (
    <span class="soft small">
      {seconds !== undefined && (
        <>
          <span class="visually-hidden">took </span>
          {formatDuration(seconds * 1000)}
        </>
      )}
    </span>
  );
}
