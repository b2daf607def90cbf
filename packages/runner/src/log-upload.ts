import { delay } from "./api.ts";
import { RunnerError } from "./errors.ts";
import type { Spool, SpooledChunk } from "./spool.ts";

export interface LogLimits {
  everyMs: number;
  chunkBytes: number;
}

/** Sends bytes at an offset. Returns the offset at which the server continues. */
export type SendChunk = (
  offset: number,
  chunk: SpooledChunk,
  signal: AbortSignal,
) => Promise<number>;

/** A server that asks for earlier bytes more often does not keep them. */
const MAXIMUM_STEPS_BACK = 100;

/**
 * Uploads a spool in the background, one request at a time. A failure ends the upload and nothing else:
 * a log never decides the outcome of a deployment.
 */
export class LogUpload {
  readonly #spool: Spool;
  readonly #send: SendChunk;
  readonly #limits: LogLimits;
  readonly #stopped = new AbortController();
  #isComplete = false;
  /** The newest request. */
  #sentAt = Number.NEGATIVE_INFINITY;
  #stepsBack = 0;
  #wake: () => void = () => undefined;
  /** Resolves at the end of the upload. */
  readonly done: Promise<void>;

  constructor(spool: Spool, send: SendChunk, limits: LogLimits) {
    this.#spool = spool;
    this.#send = send;
    this.#limits = limits;
    this.done = this.#run();
  }

  /** Does nothing after the end of the upload. */
  append(stackId: string, bytes: Buffer): void {
    if (this.#stopped.signal.aborted) return;
    try {
      this.#spool.append(stackId, bytes);
    } catch (error) {
      const { code = "an unknown error" } = error as NodeJS.ErrnoException;
      this.#report(`It cannot be stored: ${code}.`);
      this.stop();
    }
    this.#wake();
  }

  /** The spool has all bytes. Stops the upload after `maximumMs` at the latest. */
  complete(maximumMs: number): void {
    this.#isComplete = true;
    this.#wake();
    const timer = setTimeout(() => this.stop(), maximumMs);
    void this.done.then(() => clearTimeout(timer));
  }

  stop(): void {
    this.#stopped.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    try {
      await this.#uploadAll(this.#stopped.signal);
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#report(describe(error));
    } finally {
      this.#stopped.abort();
      this.#spool.remove();
    }
  }

  async #uploadAll(signal: AbortSignal): Promise<void> {
    let offset = 0;
    while (!signal.aborted) {
      const waiting = this.#spool.size - offset;
      if (waiting === 0 && this.#isComplete) return;
      if (waiting === 0) await this.#change();
      else offset = await this.#uploadNext(offset, signal);
    }
  }

  async #uploadNext(offset: number, signal: AbortSignal): Promise<number> {
    await this.#collect(offset, signal);
    const chunk = this.#spool.read(offset, this.#limits.chunkBytes);
    if (!chunk || signal.aborted) return offset;
    this.#sentAt = performance.now();
    const next = await this.#send(offset, chunk, signal);
    const isBack = next < offset;
    if (isBack) this.#stepsBack += 1;
    const isKnown = Number.isInteger(next) && next >= 0 && next <= this.#spool.size;
    if (isKnown && next !== offset && this.#stepsBack <= MAXIMUM_STEPS_BACK) return next;
    throw new RunnerError(`The server continues at byte ${next} instead of ${offset}.`);
  }

  /** Waits until a request is full, or the time between two requests has passed. */
  async #collect(offset: number, signal: AbortSignal): Promise<void> {
    const { everyMs, chunkBytes } = this.#limits;
    const isOver = new AbortController();
    const waitMs = Math.max(0, this.#sentAt + everyMs - performance.now());
    const timeout = delay(waitMs, AbortSignal.any([signal, isOver.signal])).then(() =>
      isOver.abort(),
    );
    const isFull = () => this.#isComplete || this.#spool.size - offset >= chunkBytes;
    while (!isOver.signal.aborted && !isFull()) await Promise.race([timeout, this.#change()]);
    isOver.abort();
    await timeout;
  }

  #report(reason: string): void {
    console.error(`The log is no longer sent. ${reason} The deployment continues.`);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
