import { write } from "node:fs";
import { promisify } from "node:util";
import { delay } from "./api.ts";
import { toInertBytes } from "./inert-text.ts";

const STDOUT = 1;
const LINE_ENDS = ["\n", "\r"];
/** What is shown without the end of its line. */
const LONGEST_LINE = 65_536;
export const MAXIMUM_WAITING_BYTES = 1024 * 1024;
/** Other processes may have made the descriptor non-blocking, so that it is not always ready. */
const RETRY_MS = 20;
const writeTo = promisify(write);

/**
 * Shows output on the runner's own standard output. Writes in the background, because a reader that is
 * slow would block `process.stdout`, and with it the heartbeats; skips what a slow reader leaves waiting. Without a
 * terminal, it may be the log of a CI job, so it writes whole lines, which command nothing.
 */
export class TerminalOutput {
  readonly #isTerminal = process.stdout.isTTY;
  /** The line that has no end yet. */
  #begun: Buffer = Buffer.alloc(0);
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #skippedBytes = 0;
  #hasStalled = false;
  #writing: Promise<void> | undefined;

  write(bytes: Buffer): void {
    if (this.#isTerminal) {
      this.#show(bytes);
      return;
    }
    const all = Buffer.concat([this.#begun, bytes]);
    const end = Math.max(...LINE_ENDS.map((each) => all.lastIndexOf(each))) + 1;
    this.#begun = all.subarray(end);
    if (end > 0) this.#show(toInertBytes(all.subarray(0, end)));
    if (this.#begun.length > LONGEST_LINE) this.#endLine();
  }

  /** What follows it must not make it a command. */
  #endLine(): void {
    if (this.#begun.length === 0) return;
    this.#show(Buffer.concat([toInertBytes(this.#begun), Buffer.from("\n")]));
    this.#begun = Buffer.alloc(0);
  }

  #show(bytes: Buffer): void {
    if (this.#waitingBytes + bytes.length > MAXIMUM_WAITING_BYTES) {
      this.#skippedBytes += bytes.length;
      return;
    }
    this.#enqueue(bytes);
    this.#writing ??= this.#writeAll();
  }

  /** Waits until everything is written, or for so long. Not again while the reader has stalled. */
  async flushed(maximumMs: number): Promise<void> {
    this.#endLine();
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
