import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SpooledChunk {
  stackId: string;
  bytes: Buffer;
}

interface Segment {
  stackId: string;
  start: number;
  end: number;
}

/** What the command of an attempt has printed, in a file that only this user can read. */
export class Spool {
  readonly #folder: string;
  readonly #file: number;
  readonly #limit: number;
  readonly #segments: Segment[] = [];
  #size = 0;

  /** @param limit Bytes beyond it are not stored. */
  constructor(limit: number) {
    // mkdtemp creates the folder with mode 0700.
    this.#folder = mkdtempSync(join(tmpdir(), "longshore-log-"));
    this.#file = openSync(join(this.#folder, "output"), "w+", 0o600);
    this.#limit = limit;
    process.once("exit", this.remove);
  }

  get size(): number {
    return this.#size;
  }

  append(stackId: string, bytes: Buffer): void {
    const kept = bytes.subarray(0, this.#limit - this.#size);
    if (kept.length === 0) return;
    for (let at = 0; at < kept.length; ) {
      at += writeSync(this.#file, kept, at, kept.length - at, this.#size + at);
    }
    const start = this.#size;
    this.#size += kept.length;
    const last = this.#segments.at(-1);
    if (last?.stackId === stackId) last.end = this.#size;
    else this.#segments.push({ stackId, start, end: this.#size });
  }

  /** Bytes of one stack. Undefined if there are none at the offset. */
  read(offset: number, maximumBytes: number): SpooledChunk | undefined {
    const segment = this.#segments.find(({ start, end }) => start <= offset && offset < end);
    if (!segment) return undefined;
    const bytes = Buffer.alloc(Math.min(maximumBytes, segment.end - offset));
    for (let at = 0; at < bytes.length; ) {
      at += readSync(this.#file, bytes, at, bytes.length - at, offset + at);
    }
    return { stackId: segment.stackId, bytes };
  }

  readonly remove = (): void => {
    process.off("exit", this.remove);
    closeSync(this.#file);
    rmSync(this.#folder, { recursive: true, force: true });
  };
}
