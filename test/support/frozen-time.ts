import { onTestFinished, vi } from "vitest";
import { multiplyTimeouts } from "../../src/lib/call-object.ts";

/** Far beyond what a busy machine needs. */
const TIMEOUT_FACTOR = 200;

/** On a busy machine, calls to the limiters would time out, and a quarter of a limit be admitted. */
export function extendTimeouts(): void {
  multiplyTimeouts(TIMEOUT_FACTOR);
}

/**
 * Stops the clock and the timers of the Worker and its objects until the test finishes, so that no
 * call times out on a slow machine. `vi.advanceTimersByTime` fires timers, in the object that calls it.
 */
export function freezeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  multiplyTimeouts(1);
  onTestFinished(() => {
    vi.useRealTimers();
    extendTimeouts();
  });
}

/** Waits until this many timers are set. */
export async function untilTimersAreSet(count: number): Promise<void> {
  while (vi.getTimerCount() < count) await scheduler.wait(0);
}
