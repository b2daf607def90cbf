const SAVE_INTERVAL_MS = 200;

/**
 * Writes the state of an object at most every 200 ms: a write on every request would halve what an
 * object can take.
 * @param entries The state when it is written, by storage key.
 * @returns What to call after each change.
 */
export function saveSoon(ctx: DurableObjectState, entries: () => Record<string, unknown>) {
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
