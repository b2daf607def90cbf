import { closeSync, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

export const MAXIMUM_REPORT_BYTES = 10 * 1024 * 1024;
export const MAXIMUM_LINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 65_536;
const LF = "\n".charCodeAt(0);

/** A line of the report with its number, or why it is not read. */
export type ReportFileLine =
  | { number: number; bytes: Buffer }
  | { number: number | undefined; problem: string };

/**
 * The file to which the command appends its report. It stays open from its creation, so that nothing else is
 * read, whatever the command puts in its place: a link, a pipe, a folder.
 */
export class ReportFile {
  readonly #path: string;
  readonly #descriptor: number;
  /** Where the next bytes are read. */
  #offset = 0;
  /** All that was read, also before the command has truncated the file. */
  #size = 0;
  #number = 1;
  /** The parts of the line that has no end yet. */
  #parts: Buffer[] = [];
  #partsBytes = 0;
  #isOpen = true;
  #isFull = false;

  constructor(path: string) {
    this.#path = path;
    // `x`: it does not follow a link that exists.
    this.#descriptor = openSync(path, "wx+", 0o600);
  }

  /** The lines since the last call. Other work runs between two chunks. */
  async *lines(): AsyncGenerator<ReportFileLine> {
    if (fstatSync(this.#descriptor).size < this.#offset) this.#restart();
    const chunk = Buffer.alloc(CHUNK_BYTES);
    while (this.#isOpen && !this.#isFull) {
      const length = readSync(this.#descriptor, chunk, 0, CHUNK_BYTES, this.#offset);
      if (length === 0) return;
      this.#offset += length;
      this.#size += length;
      yield* this.#split(Buffer.from(chunk.subarray(0, length)));
      if (this.#size >= MAXIMUM_REPORT_BYTES) yield this.#stop();
      await setImmediate();
    }
  }

  /** At the end, also the line that has no end. */
  async *rest(): AsyncGenerator<ReportFileLine> {
    yield* this.lines();
    if (this.#partsBytes > 0 && !this.#isFull) yield this.#endLine(Buffer.alloc(0));
    if (this.#isReplaced()) {
      const problem = "The file was replaced, and the new one is not read. Append to the file.";
      yield { number: undefined, problem };
    }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #restart(): void {
    this.#offset = 0;
    this.#number = 1;
    this.#parts = [];
    this.#partsBytes = 0;
  }

  #stop(): ReportFileLine {
    this.#isFull = true;
    const problem = `The report has more than ${MAXIMUM_REPORT_BYTES} bytes. The rest is not read.`;
    return { number: undefined, problem };
  }

  *#split(bytes: Buffer): Generator<ReportFileLine> {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      yield this.#endLine(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
  }

  /** Not the bytes of a line that is too long. */
  #keep(bytes: Buffer): void {
    this.#partsBytes += bytes.length;
    if (this.#partsBytes <= MAXIMUM_LINE_BYTES) this.#parts.push(bytes);
    else this.#parts = [];
  }

  #endLine(bytes: Buffer): ReportFileLine {
    this.#keep(bytes);
    const number = this.#number;
    const isLong = this.#partsBytes > MAXIMUM_LINE_BYTES;
    const line = Buffer.concat(this.#parts);
    this.#number += 1;
    this.#parts = [];
    this.#partsBytes = 0;
    return isLong
      ? { number, problem: `The line has more than ${MAXIMUM_LINE_BYTES} bytes.` }
      : { number, bytes: line };
  }

  /** Whether something else is at its path. */
  #isReplaced(): boolean {
    const found = lstatSync(this.#path, { throwIfNoEntry: false });
    if (!found) return false;
    const { dev, ino } = fstatSync(this.#descriptor);
    return found.dev !== dev || found.ino !== ino;
  }
}
