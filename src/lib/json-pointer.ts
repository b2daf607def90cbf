import { isObject, type JsonObject } from "./json-value.ts";

const MAXIMUM_QUOTED_CHARACTERS = 100;
/** An array index (RFC 6901, section 4): no sign, no leading zero. */
const INDEX = /^(0|[1-9]\d*)$/;

export class PointerError extends Error {
  constructor(pointer: string, reason: string) {
    super(`${quote(pointer)} ${reason}`);
  }
}

export function hasValidEscapes(pointer: string): boolean {
  return !/~(?![01])/.test(pointer);
}

/** The reference tokens of a JSON Pointer (RFC 6901), unescaped. Throws `PointerError`. */
export function parsePointer(pointer: string): string[] {
  if (pointer !== "" && !pointer.startsWith("/")) {
    throw new PointerError(pointer, "is not a JSON Pointer. Send one, such as /replicas.");
  }
  if (!hasValidEscapes(pointer)) {
    throw new PointerError(pointer, "has a ~ without 0 or 1. Send ~0 for ~, and ~1 for /.");
  }
  const tokens = pointer.split("/").slice(1);
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function escapeToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Own members only. Undefined if there is none. */
export function getChild(value: unknown, token: string): unknown {
  if (Array.isArray(value)) {
    return INDEX.test(token) && Object.hasOwn(value, token) ? value[Number(token)] : undefined;
  }
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/** Like `getChild`, but throws `PointerError` if there is none. */
export function requireChild(value: unknown, token: string, pointer: string): unknown {
  const child = getChild(value, token);
  if (child !== undefined) return child;
  const container = requireContainer(value, pointer);
  if (Array.isArray(container)) requireIndex(token, container.length - 1, pointer);
  throw new PointerError(pointer, `does not exist: there is no member ${quote(token)}.`);
}

/** Throws `PointerError` if the value is a scalar. */
export function requireContainer(value: unknown, pointer: string): unknown[] | JsonObject {
  if (Array.isArray(value) || isObject(value)) return value;
  throw new PointerError(pointer, "leads through a value that is neither object nor array.");
}

/** Throws `PointerError` unless the token is an array index from 0 to `maximum`. */
export function requireIndex(token: string, maximum: number, pointer: string): number {
  if (token === "-") {
    throw new PointerError(pointer, "names no element: only the path of an add may end in -.");
  }
  if (!INDEX.test(token)) {
    throw new PointerError(pointer, `names an element by ${quote(token)}. Send its index.`);
  }
  if (Number(token) <= maximum) return Number(token);
  throw new PointerError(pointer, `is past the end of the array: there is no ${quote(token)}.`);
}

function quote(text: string): string {
  const isLong = text.length > MAXIMUM_QUOTED_CHARACTERS;
  return JSON.stringify(isLong ? `${text.slice(0, MAXIMUM_QUOTED_CHARACTERS)}…` : text);
}
