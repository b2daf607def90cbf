import {
  BROKEN_OFF,
  type Failure,
  NO_VALID_RESPONSE,
  NOT_DECOMPRESSED,
  NOT_READ,
  REQUEST_FAILED,
  TOO_SHORT,
} from "./outcome.ts";

/**
 * The messages of errors that `fetch` and the body of its response end with in workerd 1.20261023.1,
 * as test/node/transport-errors.test.ts finds them. It has no other messages to tell cases apart:
 * - a refused connection, a reset before the head, and a malformed head are all `CONNECTION_LOST`;
 * - a name that does not resolve and a failed TLS handshake are "internal error; reference = …".
 */
const CONNECTION_LOST = /^Network connection lost\.$/;
const NOT_DECODED = /^(?:Gzip|Brotli) decompression failed\.$/;

/** What it means that `fetch` has thrown this. */
export function requestFailure(error: unknown): Failure {
  return CONNECTION_LOST.test(messageOf(error)) ? NO_VALID_RESPONSE : REQUEST_FAILED;
}

/** What it means that the body of a response has ended with this error, after so many bytes. */
export function responseFailure(headers: Headers, error: unknown, bytesRead: number): Failure {
  const message = messageOf(error);
  if (NOT_DECODED.test(message)) return NOT_DECOMPRESSED;
  if (!CONNECTION_LOST.test(message)) return NOT_READ;
  // The bytes read of a compressed body are not those that its length counts.
  const declared = headers.has("content-encoding") ? null : headers.get("content-length");
  return declared !== null && bytesRead < Number(declared) ? TOO_SHORT : BROKEN_OFF;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
