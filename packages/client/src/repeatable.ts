import { WITHOUT_IDEMPOTENCY_KEY } from "./generated/operations.ts";

const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const KEYED = new Set(["POST", "PATCH"]);
const KEY_BYTES = 16;

const withoutKey = [...WITHOUT_IDEMPOTENCY_KEY].map(
  (operation) => new RegExp(`^${operation.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
);

export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method);
}

/** @param path With or without its parameters. */
export function takesIdempotencyKey(method: string, path: string): boolean {
  if (!KEYED.has(method)) return false;
  const operation = `${method} ${path.replace(/\?.*$/s, "")}`;
  return !withoutKey.some((pattern) => pattern.test(operation));
}

/** `crypto.randomUUID` does not exist in pages from http:. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
