import { write } from "node:fs";
import { promisify } from "node:util";
import { delay } from "./api.ts";

const STDOUT = 1;
export const MAXIMUM_WAITING_BYTES = 1024 * 1024;
/** Other processes may have made the descriptor non-blocking, so that it is not always ready. */
const RETRY_MS = 20;
const writeTo = promisify(write);

/**
 * Shows output on the runner's own standard output. Writes in the background, because a reader that is
 * slow would block `process.stdout`, and with it the heartbeats; skips what a slow reader leaves waiting.
 */
export class TerminalOutput {
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #skippedBytes = 0;
  #hasStalled = false;
  #writing: Promise<void> | undefined;

  write(bytes: Buffer): void {
    if (this.#waitingBytes + bytes.length > MAXIMUM_WAITING_BYTES) {
      this.#skippedBytes += bytes.length;
      return;
    }
    this.#enqueue(bytes);
    this.#writing ??= this.#writeAll();
  }

  /** Waits until everything is written, or for so long. Not again while the reader has stalled. */
  async flushed(maximumMs: number): Promise<void> {
    if (this.#hasStalled || !this.#writing) return;
    const isOver = new AbortController();
    await Promise.race([this.#writing, delay(maximumMs, isOver.signal)]);
    isOver.abort();
    this.#hasStalled = this.#writing !== undefined;
  }

  #enqueue(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await writeWhole(next);
      this.#waitingBytes -= next.length;
      if (this.#skippedBytes > 0 && this.#waiting.length === 0) this.#reportSkipped();
    }
    this.#writing = undefined;
    this.#hasStalled = false;
  }

  #reportSkipped(): void {
    this.#enqueue(Buffer.from(`\n[${this.#skippedBytes} bytes of output are not shown here.]\n`));
    this.#skippedBytes = 0;
  }
}

/** Gives up if the reader is gone. */
async function writeWhole(bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    try {
      const { bytesWritten } = await writeTo(STDOUT, bytes, offset);
      offset += bytesWritten;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
