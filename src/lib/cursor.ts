export type Direction = "asc" | "desc";

/** Where a page ended: the sort key of its last row. */
export interface Position {
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  id: string;
}

const TIME_WIDTH = 10;
const PAYLOAD = /^([ad])([0-9a-z]{10})([1-9A-HJ-NP-Za-km-z]{22})$/;

/**
 * An opaque cursor: base64 of direction, time and ID, 33 alphanumeric bytes. A multiple of three
 * needs no padding, and no sextet of such bytes encodes as `+` or `/`, so the text fits a URL.
 */
export function encodeCursor(direction: Direction, position: Position): string {
  const time = position.createdAt.toString(36).padStart(TIME_WIDTH, "0");
  return btoa(`${direction.charAt(0)}${time}${position.id}`);
}

/**
 * Reads a cursor in base64 or base64url, padded or not. Undefined for a text that is no cursor,
 * or one that was made for the other direction.
 */
export function decodeCursor(direction: Direction, text: string): Position | undefined {
  const match = PAYLOAD.exec(decodeBase64(text) ?? "");
  const [, made, time, id] = match ?? [];
  if (!made || !time || !id || made !== direction.charAt(0)) return undefined;
  return { createdAt: Number.parseInt(time, 36), id };
}

function decodeBase64(text: string): string | undefined {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}
