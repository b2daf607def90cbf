import type { LogChunk } from "./model.ts";

export interface LogLine {
  /** Of the first byte. */
  offset: number;
  /** After the last byte. */
  nextOffset: number;
  /** When the first byte arrived. */
  time: number;
  stackId: string;
  /** With its line break. Bytes that are not UTF-8 are U+FFFD. */
  text: string;
}

const LINE_FEED = 10;
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/**
 * Splits chunks, in order, into lines of at most `maximumBytes`. A line ends with its line break, with
 * the last byte of its stack, or with the last byte of the chunks.
 * @param isComplete False: more bytes may follow, so that an incomplete character at the end is left out.
 */
export function* splitLines(
  chunks: Iterable<LogChunk>,
  { maximumBytes, isComplete }: { maximumBytes: number; isComplete: boolean },
): Generator<LogLine> {
  let rest: LogChunk | undefined;
  for (const chunk of chunks) {
    if (rest && !continues(rest, chunk)) {
      yield* splitLine(rest, maximumBytes);
      rest = undefined;
    }
    const joined: LogChunk = rest ? join(rest, chunk) : chunk;
    const end = joined.bytes.lastIndexOf(LINE_FEED) + 1;
    for (const line of wholeLines(joined, end)) yield* splitLine(line, maximumBytes);
    rest = end < joined.bytes.length ? slice(joined, end, joined.bytes.length) : undefined;
  }
  if (!rest) return;
  const length = isComplete ? rest.bytes.length : completeLength(rest.bytes);
  if (length > 0) yield* splitLine(slice(rest, 0, length), maximumBytes);
}

function continues(previous: LogChunk, next: LogChunk): boolean {
  return (
    previous.stackId === next.stackId && previous.offset + previous.bytes.length === next.offset
  );
}

function join(first: LogChunk, second: LogChunk): LogChunk {
  const bytes = new Uint8Array(first.bytes.length + second.bytes.length);
  bytes.set(first.bytes);
  bytes.set(second.bytes, first.bytes.length);
  return { ...first, bytes };
}

function slice(chunk: LogChunk, start: number, end: number): LogChunk {
  return { ...chunk, offset: chunk.offset + start, bytes: chunk.bytes.subarray(start, end) };
}

function* wholeLines(chunk: LogChunk, end: number): Generator<LogChunk> {
  for (let start = 0; start < end; ) {
    const next = chunk.bytes.indexOf(LINE_FEED, start) + 1;
    yield slice(chunk, start, next);
    start = next;
  }
}

function* splitLine(line: LogChunk, maximumBytes: number): Generator<LogLine> {
  for (let start = 0; start < line.bytes.length; ) {
    const piece = line.bytes.subarray(start, start + maximumBytes);
    const isLast = start + piece.length === line.bytes.length;
    const length = isLast ? piece.length : completeLength(piece) || piece.length;
    yield toLine(slice(line, start, start + length));
    start += length;
  }
}

function toLine({ offset, stackId, time, bytes }: LogChunk): LogLine {
  return { offset, nextOffset: offset + bytes.length, time, stackId, text: decoder.decode(bytes) };
}

/** Without the bytes at the end that are the beginning of a character in UTF-8 (RFC 3629, 3). */
function completeLength(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] ?? 0;
    const isContinuation = (byte & 0b1100_0000) === 0b1000_0000;
    if (!isContinuation) return sequenceLength(byte) > back ? length - back : length;
  }
  return length;
}

function sequenceLength(leadingByte: number): number {
  if (leadingByte >= 0xf0 && leadingByte <= 0xf4) return 4;
  if (leadingByte >= 0xe0) return leadingByte < 0xf0 ? 3 : 1;
  return leadingByte >= 0xc2 ? 2 : 1;
}
