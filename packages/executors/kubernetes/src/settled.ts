import type { Members } from "./apply-set.ts";
import { nameOf } from "./objects.ts";
import { readState } from "./states.ts";

const POLL_EVERY_MS = 2_000;
/** A rollout that cannot go on, because of an image that does not exist, must not hold the deployment that mends it. */
export const UNCHANGED_MS = 20_000;

interface SettleOptions {
  read(): Promise<Members>;
  wait(ms: number): Promise<void>;
  stop: AbortSignal;
  timeoutMs: number;
}

/** Waits until what an earlier run has applied is ready, has failed, or makes no progress. */
export async function waitUntilSettled(options: SettleOptions): Promise<void> {
  const { read, wait, stop, timeoutMs } = options;
  const first = await read();
  let unsettled = describeUnsettled(first);
  if (unsettled === "") return;
  const who =
    first.deployment === undefined ? "an earlier run" : `the deployment ${first.deployment}`;
  console.log(`Waits until what ${who} has applied has settled: ${unsettled}.`);
  let unchangedMs = 0;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_EVERY_MS) {
    await wait(POLL_EVERY_MS);
    if (stop.aborted) return;
    const next = describeUnsettled(await read());
    if (next === "") return;
    unchangedMs = next === unsettled ? unchangedMs + POLL_EVERY_MS : 0;
    unsettled = next;
    if (unchangedMs >= UNCHANGED_MS) break;
  }
  console.log(`It makes no progress, and is replaced: ${unsettled}.`);
}

function describeUnsettled({ objects }: Members): string {
  return objects
    .map((each) => ({ name: nameOf(each), ...readState(each) }))
    .filter(({ end }) => end === "IN_PROGRESS")
    .map(({ name, text }) => `${name} ${text}`)
    .join("; ");
}
