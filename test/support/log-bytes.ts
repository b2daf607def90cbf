import fc from "fast-check";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** As readers show bytes. */
export const decode = (bytes: Uint8Array): string => decoder.decode(bytes);

export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Texts with characters of one to four bytes, line breaks, empty lines, and bytes that are not UTF-8. */
export const outputBytes = (maximumParts: number): fc.Arbitrary<Uint8Array> =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom("\n", "\r\n", "\n\n", "\r", "\ufeff", "\u001b[31m", "\0").map(toBytes),
        fc.string({ unit: "grapheme", maxLength: 8 }).map(toBytes),
        fc.constantFrom("é", "€", "𝄞", "👩‍🚀").map(toBytes),
        fc.uint8Array({ minLength: 1, maxLength: 4 }),
        fc
          .constantFrom([0xe2, 0x82], [0xf0, 0x9f], [0xc3], [0xe0, 0x80], [0xf5])
          .map((bytes) => Uint8Array.from(bytes)),
      ),
      { minLength: 1, maxLength: maximumParts },
    )
    .map(concatenate)
    .filter(({ length }) => length > 0);

function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Cuts bytes at these positions, each a part of their length between 0 and 1. */
export function cut(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const at = positions.map((position) => Math.floor(position * bytes.length));
  const ends = [0, ...at.toSorted((a, b) => a - b), bytes.length];
  return ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
}
