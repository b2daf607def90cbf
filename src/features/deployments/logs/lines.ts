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
  let parts: LogChunk[] = [];
  for (const chunk of chunks) {
    const last = parts.at(-1);
    if (last && !continues(last, chunk)) {
      yield* splitLine(join(parts), maximumBytes);
      parts = [];
    }
    const end = chunk.bytes.lastIndexOf(LINE_FEED) + 1;
    for (const line of wholeLines(chunk, end)) {
      yield* splitLine(join([...parts, line]), maximumBytes);
      parts = [];
    }
    if (end < chunk.bytes.length) parts.push(slice(chunk, end, chunk.bytes.length));
  }
  if (parts.length === 0) return;
  const rest = join(parts);
  const length = isComplete ? rest.bytes.length : completeLength(rest.bytes);
  if (length > 0) yield* splitLine(slice(rest, 0, length), maximumBytes);
}

function continues(previous: LogChunk, next: LogChunk): boolean {
  return (
    previous.stackId === next.stackId && previous.offset + previous.bytes.length === next.offset
  );
}

/** Once for each line, so that the work is linear in the bytes. */
function join(parts: readonly LogChunk[]): LogChunk {
  const [first, ...others] = parts;
  if (!first) throw new Error("A line has at least one part");
  if (others.length === 0) return first;
  const length = parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const bytes = new Uint8Array(length);
  for (const part of parts) bytes.set(part.bytes, part.offset - first.offset);
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
