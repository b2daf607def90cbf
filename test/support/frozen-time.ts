import { onTestFinished, vi } from "vitest";

/**
 * Stops the clock and the timers of the Worker and its objects until the test finishes, so that no
 * call times out on a slow machine. `vi.advanceTimersByTime` fires timers, in the object that calls it.
 */
export function freezeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Waits until this many timers are set. */
export async function untilTimersAreSet(count: number): Promise<void> {
  while (vi.getTimerCount() < count) await scheduler.wait(0);
}
