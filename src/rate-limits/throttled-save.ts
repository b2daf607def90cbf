const SAVE_INTERVAL_MS = 200;

/**
 * Saves the state of an object at most every 200 ms: a write for every request would halve the
 * throughput of an object.
 * @param entries Returns the state at the time of the write, by storage key.
 * @returns A function that schedules a save. Call it after each change.
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
