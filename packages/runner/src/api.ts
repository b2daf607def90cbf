import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  ConnectionError,
  createClient,
  ApiError as Refusal,
} from "../../client/src/index.ts";
import type { ApiResponse, Directive } from "./api-types.ts";
import type { Credential } from "./credential.ts";
import { ApiError, NoResponseError, RunnerError } from "./errors.ts";
import { createFetch } from "./proxies.ts";

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
  readonly #client: Client;
  readonly #credential: Credential;

  constructor(url: string, credential: Credential) {
    this.#client = createClient({ url, retries: 0, fetch: createFetch() });
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
    const headers = { "x-api-key": token, ...(leaseToken && { "lease-token": leaseToken }) };
    try {
      const response = await this.#client.request(method, path, {
        headers,
        body: bytes ?? body,
        signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
      });
      return { token, ...describeHead(response), body: parseBody(await response.text()) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, cause } = error;
      return { token, ...describeHead(error), body: { code, message, cause } };
    }
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

function describeHead({ status, headers }: { status: number; headers: Headers }) {
  return {
    status,
    directive: parseDirective(headers.get("deployment-desired")),
    retryAfterMs: parseRetryAfter(headers.get("retry-after")),
  };
}

function parseRetryAfter(text: string | null): number | undefined {
  if (!text || !/^\d+$/.test(text)) return undefined;
  return Math.min(Number(text) * 1000, MAXIMUM_RETRY_AFTER_MS);
}

/** An incomplete response counts as lost. */
function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("a response that is not JSON");
  }
}

/** @throws The error itself if a retry would not change it. */
function describeError(error: unknown): string {
  if (error instanceof RunnerError) throw error;
  if (error instanceof ConnectionError && error.cause) return describeError(error.cause);
  if (!(error instanceof Error)) return String(error);
  const { code } = (error.cause ?? {}) as { code?: string };
  return code ?? error.message;
}
