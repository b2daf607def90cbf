import { isDeepStrictEqual } from "node:util";
import type { Container } from "./containers.ts";
import { describeState } from "./statuses.ts";

const POLL_EVERY_MS = 2_000;
/** A run that was killed with its tools leaves containers that nothing starts. */
const UNSTARTED_MS = 6_000;

interface SettleOptions {
  read(): Promise<Container[]>;
  wait(ms: number): Promise<void>;
  stop: AbortSignal;
  timeoutMs: number;
}

/**
 * The runner of an earlier deployment may be gone while the `docker compose up` that it started still works. Waits
 * until the engine is starting and removing no container, and none is created that is not started at once.
 */
export async function waitUntilSettled(options: SettleOptions): Promise<void> {
  const { read, wait, stop, timeoutMs } = options;
  let unsettled = findUnsettled(await read());
  if (unsettled.length === 0) return;
  console.log(`Waits until what an earlier run started has settled: ${describe(unsettled)}.`);
  let unchangedMs = 0;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_EVERY_MS) {
    await wait(POLL_EVERY_MS);
    if (stop.aborted) return;
    const next = findUnsettled(await read());
    unchangedMs = isDeepStrictEqual(next, unsettled) ? unchangedMs + POLL_EVERY_MS : 0;
    unsettled = next;
    const isAbandoned = unchangedMs >= UNSTARTED_MS && !unsettled.some(isWorking);
    if (unsettled.length === 0 || isAbandoned) return;
  }
  console.log(`It has not settled within the timeout, and is replaced: ${describe(unsettled)}.`);
}

function findUnsettled(containers: readonly Container[]): Container[] {
  return containers.filter((each) => each.state === "created" || isWorking(each));
}

/** The engine changes it. One that ends again and again would never settle. */
function isWorking({ state, health, restarts }: Container): boolean {
  return state === "removing" || (state === "running" && health === "starting" && restarts === 0);
}

function describe(containers: readonly Container[]): string {
  return containers.map((each) => `${each.name}: ${describeState(each)}`).join("; ");
}
