import { ApiError, ConnectionError, LongshoreError, TimeoutError } from "./errors.ts";
import { readBody, readError } from "./read-response.ts";
import { isTooEarly, isTransient, mayHaveWorked, retryDelayMs, sleep } from "./retry.ts";

const BOOKMARK = "x-d1-bookmark";
/** The caller has sent `If-None-Match`. */
const NOT_MODIFIED = 304;

/** The part of the global `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Limits {
  /** Of one try. */
  timeoutMs: number;
  /** Of all tries and the pauses between them. */
  totalTimeoutMs: number;
  /** The most repeats. */
  retries: number;
}

export interface PreparedRequest extends Limits {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  /** Whether a repeat changes nothing if the service has done the work. */
  isRepeatable: boolean;
  signal: AbortSignal | undefined;
}

/** Sends requests, repeats those that are safe to repeat, and carries the bookmark of the database. */
export class Transport {
  readonly #fetch: Fetch | undefined;
  #bookmark = "";

  constructor(fetch: Fetch | undefined) {
    this.#fetch = fetch;
  }

  /** Returns the body. */
  async call(request: PreparedRequest): Promise<unknown> {
    try {
      return await this.send(request, readBody);
    } catch (error) {
      const isGone = error instanceof ApiError && error.code === "not_found";
      // The try whose response is lost has deleted the record.
      if (request.method === "DELETE" && isGone && error.followsLostResponse) return undefined;
      throw error;
    }
  }

  /** Returns the response as soon as its headers have arrived. Its body is not repeated. */
  open(request: PreparedRequest): Promise<Response> {
    return this.send(request, async (response) => response);
  }

  /** Repeats the reading of the body too. */
  async send<T>(request: PreparedRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const failures: unknown[] = [];
    const endsAt = Date.now() + request.totalTimeoutMs;
    for (;;) {
      request.signal?.throwIfAborted();
      try {
        const timeoutMs = Math.min(request.timeoutMs, endsAt - Date.now());
        return await this.#try({ ...request, timeoutMs }, read);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (error instanceof ApiError) error.followsLostResponse = failures.some(mayHaveWorked);
        const delayMs = retryDelayMs(error, failures.length);
        const isSafe = request.isRepeatable || isTooEarly(error);
        const isInTime = Date.now() + delayMs < endsAt;
        if (!isSafe || !isTransient(error) || !isInTime) throw error;
        if (failures.push(error) > request.retries) throw error;
        await sleep(delayMs, request.signal);
      }
    }
  }

  async #try<T>(request: PreparedRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, url, headers, body, signal, timeoutMs } = request;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    const init: RequestInit = {
      method,
      headers: this.#bookmark ? { ...headers, [BOOKMARK]: this.#bookmark } : headers,
      // A redirect would send the key to another address.
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
      ...(body !== undefined && { body: body as NonNullable<RequestInit["body"]> }),
    };
    try {
      const response = await (this.#fetch ?? fetch)(url, init);
      this.#keepBookmark(response.headers.get(BOOKMARK));
      if (!response.ok && response.status !== NOT_MODIFIED) throw await readError(response);
      return await read(response);
    } catch (error) {
      if (error instanceof LongshoreError) throw error;
      if (timeout.signal.aborted) {
        throw new TimeoutError(`${method} ${url}: no response within ${timeoutMs} ms`);
      }
      throw new ConnectionError(`${method} ${url}: ${describe(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The newest one: bookmarks are in the order of time. Source: D1, Time Travel. */
  #keepBookmark(bookmark: string | null): void {
    if (bookmark !== null && bookmark > this.#bookmark) this.#bookmark = bookmark;
  }
}

/** Node hides the reason in `cause`. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  return cause instanceof Error && cause.message ? cause.message : message;
}
