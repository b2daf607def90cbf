const SAVE_INTERVAL_MS = 200;

/**
 * Returns a function to call after each change. It saves at most every 200 ms: a write for every
 * request would halve the throughput of an object.
 * @param entries Returns the state by storage key.
 */
export function throttledSave(ctx: DurableObjectState, entries: () => Record<string, unknown>) {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      ctx.waitUntil(ctx.storage.put(entries()));
    }, SAVE_INTERVAL_MS);
  };
}
