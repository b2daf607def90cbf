/** `extendTimeouts` of test/support does not reach the bundle, which has its own copy of the module. */
const FACTOR = 200;
/** The shortest first timeout of a call to an object. Shorter timers are no timeouts. */
const SHORTEST_MS = 250;

const { setTimeout: original } = globalThis;

const extended = (callback: () => void, delayMs = 0) =>
  original(callback, delayMs < SHORTEST_MS ? delayMs : delayMs * FACTOR);

// The files of a runtime share its global scope: without the mark, each would multiply again.
if (!("isExtended" in original)) {
  globalThis.setTimeout = Object.assign(extended, {
    isExtended: true,
  }) as unknown as typeof setTimeout;
}
