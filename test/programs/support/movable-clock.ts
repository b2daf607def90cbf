/**
 * Preloaded into a program, lets its parent move `performance.now()` ahead by sending milliseconds.
 * Timers of over 30 s never fire, so that no test passes only because it waited for one, and no
 * request times out, because a slow machine may take longer than its time limit.
 */
const LONGEST_TIMER_MS = 30_000;
const NEVER_MS = 2 ** 31 - 1;

const now = performance.now.bind(performance);
let aheadMs = 0;

performance.now = () => now() + aheadMs;
globalThis.setTimeout = new Proxy(setTimeout, {
  apply: (set, self, [callback, ms, ...rest]) =>
    Reflect.apply(set, self, [callback, ms > LONGEST_TIMER_MS ? NEVER_MS : ms, ...rest]),
});
AbortSignal.timeout = () => new AbortController().signal;
process.on("message", (ms) => {
  aheadMs += Number(ms);
  process.send?.("moved");
});
// The program exits without waiting for messages.
process.channel?.unref();

export {};
