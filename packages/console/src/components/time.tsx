import { signal } from "@preact/signals";
import { formatExact, formatRelative } from "../format.ts";

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 10_000);

/** A relative time, with the exact one on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time class="nowrap" dateTime={at} title={formatExact(at)}>
      {formatRelative(at, Math.max(now.value, Date.now()))}
    </time>
  );
}
