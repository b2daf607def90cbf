import { setTimeout as sleep } from "node:timers/promises";
import type { ApiResponse, Directive } from "./api-types.ts";
import type { Credential } from "./credential.ts";
import { ApiError, NoResponseError, RunnerError } from "./errors.ts";

const RESPONSE_TIMEOUT_MS = 10_000;
const FIRST_RETRY_DELAY_MS = 500;
const MAXIMUM_RETRY_DELAY_MS = 5_000;
const MAXIMUM_RETRY_AFTER_MS = 60_000;
/** Longer than an attempt stays active without a heartbeat, so later retries are useless. */
const RETRY_FOR_MS = 600_000;

interface RequestOptions {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as text, instead of a body. */
  bytes?: Buffer;
  leaseToken?: string;
  retryForMs?: number;
  /** Stops delays and retries, but not a request in progress. */
  signal?: AbortSignal;
}

interface SentResponse extends ApiResponse {
  /** With which the request was sent. */
  token: string;
}

/**
 * A client of the runner API. Every request is idempotent, so it is retried until a response arrives:
 * the runner cannot tell a lost request from a lost response.
 */
export class ApiClient {
  readonly #url: string;
  readonly #credential: Credential;

  constructor(url: string, credential: Credential) {
    this.#url = url;
    this.#credential = credential;
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const { retryForMs = RETRY_FOR_MS, signal } = options;
    const request = `${method} ${path}`;
    const deadline = performance.now() + retryForMs;
    let isRenewed = false;
    for (let tries = 0; ; tries += 1) {
      const response = await this.#sendOnce(method, path, options).catch(describeError);
      const hasResponse = typeof response !== "string";
      if (hasResponse && response.status < 300) return response;
      if (hasResponse && !isRenewed && this.#isRenewable(response)) {
        isRenewed = true;
        continue;
      }
      if (hasResponse && !isTransient(response.status)) throw new ApiError(request, response);
      const reason = hasResponse ? String(response.status) : response;
      const delayMs = (hasResponse ? response.retryAfterMs : undefined) ?? backoff(tries);
      if (signal?.aborted || performance.now() + delayMs > deadline) {
        throw new NoResponseError(`${request}: no response in time (${reason}).`);
      }
      if (tries === 0) console.error(`${request}: ${reason}. It is repeated.`);
      await delay(delayMs, signal);
    }
  }

  #isRenewable({ status, token }: SentResponse): boolean {
    return status === 401 && this.#credential.renew(token);
  }

  async #sendOnce(
    method: string,
    path: string,
    { body, bytes, leaseToken }: RequestOptions,
  ): Promise<SentResponse> {
    const token = await this.#credential.token();
    const type = bytes ? "text/plain" : body === undefined ? undefined : "application/json";
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        "x-api-key": token,
        ...(leaseToken && { "lease-token": leaseToken }),
        ...(type && { "content-type": type }),
      },
      ...(type && { body: bytes ?? JSON.stringify(body) }),
      // A followed redirect would send the token to another host.
      redirect: "manual",
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    const text = await response.text();
    return {
      token,
      status: response.status,
      directive: parseDirective(response.headers.get("deployment-desired")),
      retryAfterMs: parseRetryAfter(response.headers.get("retry-after")),
      body: parseBody(text, response.ok),
    };
  }
}

/** Waits until the time has passed or the signal aborts. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => undefined);
}

/** A timeout, a rate limit or a server error, except 501. */
function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

function backoff(tries: number): number {
  const full = Math.min(FIRST_RETRY_DELAY_MS * 2 ** tries, MAXIMUM_RETRY_DELAY_MS);
  // Jitter, so that many runners do not retry at the same time.
  return full / 2 + Math.random() * (full / 2);
}

function parseDirective(text: string | null): Directive {
  return text === "cancel" || text === "stop" ? text : "continue";
}

function parseRetryAfter(text: string | null): number | undefined {
  if (!text || !/^\d+$/.test(text)) return undefined;
  return Math.min(Number(text) * 1000, MAXIMUM_RETRY_AFTER_MS);
}

/** An incomplete 2xx response counts as lost. An error response may be a proxy's HTML page. */
function parseBody(text: string, isOk: boolean): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    if (isOk) throw new Error("a response that is not JSON");
    return undefined;
  }
}

/** @throws The error itself if a retry would not change it. */
function describeError(error: unknown): string {
  if (error instanceof RunnerError) throw error;
  if (!(error instanceof Error)) return String(error);
  const { code } = (error.cause ?? {}) as { code?: string };
  return code ?? error.message;
}
