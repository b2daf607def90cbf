import { setTimeout as sleep } from "node:timers/promises";
import { DURATION } from "../../../runner/src/executors/duration.ts";
import { ProgramError } from "./run-program.ts";

const SECONDS = { s: 1, m: 60, h: 3_600 } as const;
type Unit = keyof typeof SECONDS;

/** The seconds of a setting such as `90s`, `10m` or `1h`. */
export function parseDuration(name: string, text: string): number {
  const [, number, unit] = DURATION.pattern.exec(text) ?? [];
  if (number === undefined) {
    throw new ProgramError(`The setting ${name} must be ${DURATION.description}.`);
  }
  return Number(number) * SECONDS[unit as Unit];
}

/** Ends early when the runner asks to stop. */
export async function wait(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined);
}
