const encoder = new TextEncoder();

/** The length in UTF-8. */
export function bytesOf(...texts: readonly (string | null | undefined)[]): number {
  return texts.reduce((sum, text) => sum + encoder.encode(text ?? "").byteLength, 0);
}
