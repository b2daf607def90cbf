import type { SystemContext } from "../../../context.ts";
import { durationMs } from "../../../lib/clock.ts";
import type { Fetch } from "../../../lib/fetch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { HostContext, Hosts } from "./hosts.ts";
import { type DeliveryAttempt, type Failure, failure, outcomeOf, type Result } from "./outcome.ts";
import { redactTarget } from "./redact-target.ts";
import { buildRequest, type DeliveryRequest } from "./request.ts";
import { readRetryAfter } from "./retry-schedule.ts";

const TIMEOUT_MS = LIMITS.deliveryTimeoutMs.value;
const READ_BYTES = LIMITS.responseReadBytes.value;
const EXCERPT_BYTES = LIMITS.responseExcerptBytes.value;

export interface SendingContext extends SystemContext, HostContext {
  fetch: Fetch;
  hosts: Hosts;
}

/** Not sent, because its host gets as many requests as it may. */
export interface HeldDelivery {
  waitMs: number;
}

/** An endpoint cannot make it throw. */
export async function send(
  ctx: SendingContext,
  claimed: ClaimedDelivery,
): Promise<DeliveryAttempt | HeldDelivery> {
  const request = await buildRequest(ctx, claimed);
  const isInvalid = "error" in request;
  const waitMs = isInvalid ? 0 : await ctx.hosts.waitMs(ctx, request.url, claimed.organizationId);
  if (waitMs > 0) return { waitMs };
  const startedAt = ctx.clock.now();
  const result = isInvalid
    ? { outcome: failure(request.error) }
    : await sendWithTimeout(ctx, request);
  return { ...result, startedAt, durationMs: durationMs(startedAt, ctx.clock.now()) };
}

async function sendWithTimeout(ctx: SendingContext, request: DeliveryRequest): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  try {
    const result = await sendRequest(ctx, request, controller.signal);
    if (result.outcome.success) ctx.hosts.succeed(ctx, request.url);
    return result;
  } finally {
    clearTimeout(timer);
  }
}

async function sendRequest(
  ctx: SendingContext,
  { url, headers, body }: DeliveryRequest,
  signal: AbortSignal,
): Promise<Result> {
  const timedOut = { ...failure(`timed out after ${TIMEOUT_MS / 1_000} s`), isThrottled: true };
  const init = { method: "POST", headers, body, redirect: "manual", signal } as const;
  const response = await ctx.fetch(url, init).catch(requestFailure);
  if ("success" in response) return { outcome: signal.aborted ? timedOut : response };
  const { status: statusCode } = response;
  const notBefore = readRetryAfter(response.headers.get("retry-after"), ctx.clock.now());
  const excerpt = await readExcerpt(response, signal);
  if ("text" in excerpt) {
    const shown = redactTarget(excerpt.text, url).slice(0, excerpt.length).toWellFormed();
    return { statusCode, notBefore, outcome: outcomeOf(statusCode), response: shown };
  }
  const outcome = signal.aborted
    ? timedOut
    : responseFailure(response.headers, excerpt.error, excerpt.bytesRead);
  return { statusCode, notBefore, outcome };
}

/** The text is longer than the excerpt, which is cut after the redaction: `length` is what it keeps. */
type Excerpt = { text: string; length: number } | { error: unknown; bytesRead: number };

async function readExcerpt(response: Response, signal: AbortSignal): Promise<Excerpt> {
  const bytes = new Uint8Array(READ_BYTES);
  let bytesRead = 0;
  const reader = response.body?.getReader();
  if (!reader) return { text: "", length: 0 };
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    while (bytesRead < READ_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes.set(value.subarray(0, READ_BYTES - bytesRead), bytesRead);
      bytesRead += value.length;
    }
    if (signal.aborted) return { error: signal.reason, bytesRead };
    const text = toText(bytes.subarray(0, bytesRead));
    return { text, length: toText(bytes.subarray(0, Math.min(bytesRead, EXCERPT_BYTES))).length };
  } catch (error) {
    return { error, bytesRead };
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** `stream` leaves out a last character that is cut off. */
function toText(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  const text = decoder.decode(bytes, { stream: true });
  // SQLite would end the text at a NUL.
  return text.replaceAll("\0", "\ufffd");
}

/**
 * The messages of errors that `fetch` and response bodies throw in workerd 1.20261023.1, as
 * test/programs/client/transport-errors.test.ts verifies. A refused connection, a reset before the headers and
 * malformed headers are all `CONNECTION_LOST`; a DNS or TLS failure is an "internal error".
 */
const CONNECTION_LOST = /^Network connection lost\.$/;
const NOT_DECODED = /^(?:Gzip|Brotli) decompression failed\.$/;

function requestFailure(error: unknown): Failure {
  const isLost = CONNECTION_LOST.test(messageOf(error));
  return failure(isLost ? "no connection, or lost before a valid response" : "the request failed");
}

function responseFailure(headers: Headers, error: unknown, bytesRead: number): Failure {
  const message = messageOf(error);
  if (NOT_DECODED.test(message)) return failure("the response could not be decompressed");
  if (!CONNECTION_LOST.test(message)) return failure("the response could not be read");
  // The length of a compressed body counts bytes before decompression; `bytesRead`, those after it.
  const declared = headers.has("content-encoding") ? null : headers.get("content-length");
  const isShort = declared !== null && bytesRead < Number(declared);
  return failure(
    isShort ? "the response ended before its declared length" : "the response broke off",
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
