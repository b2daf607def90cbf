import { setTimeout as sleep } from "node:timers/promises";
import { ProgramError } from "../../program/src/index.ts";

const SHORTEST_MS = 250;
const LONGEST_MS = 3_000;
const GROWTH = 1.5;

/** The runner has asked to stop. */
export class StoppedError extends ProgramError {
  constructor() {
    super("Stopped before anything was changed.");
  }
}

/** The pauses between two looks at CloudFormation: longer while nothing changes. */
export class Pauses {
  readonly #stop: AbortSignal;
  #ms = SHORTEST_MS;

  constructor(stop: AbortSignal) {
    this.#stop = stop;
  }

  shorten(): void {
    this.#ms = SHORTEST_MS;
  }

  /** Throws a `StoppedError` as soon as the runner asks to stop. */
  async wait(): Promise<void> {
    const ms = this.#ms;
    this.#ms = Math.min(ms * GROWTH, LONGEST_MS);
    try {
      await sleep(ms, undefined, { signal: this.#stop });
    } catch {
      throw new StoppedError();
    }
  }
}
