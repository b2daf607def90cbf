import type { Runtime } from "./runtime/runtime.ts";

const MINUTE_MS = 60_000;

/** Runs the Worker's schedule every minute, as the platform does. Returns what stops it. */
export function startSchedule({ runSchedule }: Runtime): () => void {
  const stopped = new AbortController();
  const timer = setInterval(() => {
    // The next run repeats the work of a failed one, and the Worker logs why it failed.
    runSchedule(stopped.signal).catch(() => undefined);
  }, MINUTE_MS);
  return () => {
    clearInterval(timer);
    stopped.abort();
  };
}
