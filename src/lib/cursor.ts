export type Direction = "asc" | "desc";

export interface Position {
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  id: string;
}

const TIME_WIDTH = 10;
const PAYLOAD = /^([ad])([0-9a-z]{10})([1-9A-HJ-NP-Za-km-z]{22})$/;

/**
 * An opaque cursor: base64 of direction, time and ID, which are 33 alphanumeric bytes. It is safe
 * in URLs: a multiple of three bytes has no padding, and such bytes never encode as `+` or `/`.
 */
export function encodeCursor(direction: Direction, position: Position): string {
  const time = position.createdAt.toString(36).padStart(TIME_WIDTH, "0");
  return btoa(`${direction.charAt(0)}${time}${position.id}`);
}

/**
 * Parses a cursor in base64 or base64url, with or without padding. Undefined if the text is not a
 * cursor, or if it is a cursor for the other direction.
 */
export function decodeCursor(direction: Direction, text: string): Position | undefined {
  const match = PAYLOAD.exec(decodeBase64(text) ?? "");
  const [, letter, time, id] = match ?? [];
  if (!time || !id || letter !== direction.charAt(0)) return undefined;
  return { createdAt: Number.parseInt(time, 36), id };
}

function decodeBase64(text: string): string | undefined {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}
