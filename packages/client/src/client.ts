import { ApiError, LongshoreError } from "./errors.ts";
import { REPLACEABLE } from "./generated/operations.ts";
import { includes } from "./includes.ts";
import { readBody } from "./read-response.ts";
import { isIdempotent, newIdempotencyKey, takesIdempotencyKey } from "./repeatable.ts";
import { retryDelayMs, sleep } from "./retry.ts";
import { follow } from "./stream.ts";
import { type Fetch, type Limits, type PreparedRequest, Transport } from "./transport.ts";
import type {
  Arguments,
  CallOptions,
  Item,
  ListPath,
  Operation,
  OptionsOf,
  Path,
  ReadArguments,
  Result,
  StreamEvents,
  StreamOptions,
  UpdateBody,
  UpdateMethod,
  UpdatePath,
  WriteArguments,
  WriteOptions,
} from "./types.ts";
import { type Parameters, readBaseUrl, renderPath } from "./url.ts";

const TIMEOUT_MS = 30_000;
const TOTAL_TIMEOUT_MS = 120_000;
const RETRIES = 5;
/** Three times as long as the service is silent. */
const IDLE_TIMEOUT_MS = 45_000;
const UPDATE_TRIES = 20;

export interface ClientOptions extends Partial<Limits> {
  /** Of the service, such as `https://longshore.example.com`. */
  url: string;
  /** An API key, or the token of a runner. Absent: only for operations without a key. */
  apiKey?: string | undefined;
  /** Absent: the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** The options of a request that the types of the operations do not describe. */
export interface RequestOptions extends WriteOptions {
  path?: Parameters | undefined;
  query?: Parameters | undefined;
  headers?: Record<string, string> | undefined;
  /** A text and bytes are sent as text/plain, everything else as JSON. */
  body?: unknown;
}

/** @throws TypeError if the URL or the key cannot be used. */
export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

/** Every call throws a `LongshoreError`, or the reason of its signal. */
export class Client {
  readonly #url: string;
  readonly #apiKey: string | undefined;
  readonly #limits: Limits;
  readonly #transport: Transport;

  constructor({ url, apiKey, fetch, ...limits }: ClientOptions) {
    if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError("An API key has visible ASCII characters only.");
    }
    this.#url = readBaseUrl(url);
    this.#apiKey = apiKey;
    this.#limits = withLimits(limits, {
      timeoutMs: TIMEOUT_MS,
      totalTimeoutMs: TOTAL_TIMEOUT_MS,
      retries: RETRIES,
    });
    this.#transport = new Transport(fetch);
  }

  async get<P extends Path<"get">>(path: P, ...[options]: ReadArguments<P>) {
    return (await this.#call("GET", path, options)) as Result<P, "get">;
  }

  async post<P extends Path<"post">>(path: P, ...[options]: WriteArguments<P, "post">) {
    return (await this.#call("POST", path, options)) as Result<P, "post">;
  }

  async put<P extends Path<"put">>(path: P, ...[options]: WriteArguments<P, "put">) {
    return (await this.#call("PUT", path, options)) as Result<P, "put">;
  }

  async patch<P extends Path<"patch">>(path: P, ...[options]: WriteArguments<P, "patch">) {
    return (await this.#call("PATCH", path, options)) as Result<P, "patch">;
  }

  async delete<P extends Path<"delete">>(path: P, ...[options]: WriteArguments<P, "delete">) {
    return (await this.#call("DELETE", path, options)) as Result<P, "delete">;
  }

  /**
   * Sends any request, and returns its response with the body unread: for other forms than JSON, and for
   * headers. The body is not covered by timeouts and repeats.
   */
  request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    return this.#transport.open(this.#prepare(method, path, options));
  }

  /** Yields the records of all pages. */
  async *list<P extends ListPath>(
    path: P,
    ...[options]: ReadArguments<P>
  ): AsyncGenerator<Item<P>, void> {
    const given: RequestOptions = options ?? {};
    let query = given.query;
    for (;;) {
      const page = await this.#call("GET", path, { ...given, query });
      const { data, next_page: after } = page as { data: Item<P>[]; next_page?: unknown };
      if (!Array.isArray(data)) {
        throw new LongshoreError(`The response to GET ${path} is not a list. Is the URL right?`);
      }
      yield* data;
      if (after === undefined) return;
      query = { ...query, after };
    }
  }

  /** Yields the events of a stream until its end, over as many connections as needed. */
  async *stream<P extends keyof StreamEvents>(
    path: P,
    ...[options]: Arguments<OptionsOf<Operation<P, "get">> & CallOptions & StreamOptions>
  ): AsyncGenerator<StreamEvents[P], void> {
    const { idleTimeoutMs = IDLE_TIMEOUT_MS, ...given } = (options ?? {}) as RequestOptions &
      StreamOptions;
    const request = this.#prepare("GET", path, {
      ...given,
      headers: { accept: "text/event-stream", ...given.headers },
    });
    yield* follow(this.#transport, request, idleTimeoutMs) as AsyncGenerator<StreamEvents[P]>;
  }

  /**
   * Reads a record, and writes the body that `change` makes of it: with PUT, or with PATCH if there is no
   * PUT. Does so again if the record has changed in between. Writes nothing if `change` returns undefined.
   * Returns the record.
   */
  async update<P extends UpdatePath>(
    path: P,
    options: Omit<OptionsOf<Operation<P, "get">>, "body" | "query"> & CallOptions,
    change: (record: Result<P, "get">) => UpdateBody<P> | undefined,
  ): Promise<Result<P, "get"> | Result<P, UpdateMethod<P>>> {
    const method = REPLACEABLE.has(path) ? "PUT" : "PATCH";
    const given: RequestOptions = options;
    let lost: unknown;
    for (let tries = 0; ; tries++) {
      const request = this.#prepare("GET", path, given);
      const { body: read, ifMatch } = await this.#transport.send(request, readVersion);
      const record = read as Result<P, "get">;
      if (lost !== undefined && includes(record, lost)) return record;
      const body = change(record);
      if (body === undefined) return record;
      try {
        const written = await this.#call(method, path, { ...given, body, ifMatch });
        return written as Result<P, UpdateMethod<P>>;
      } catch (error) {
        if (!isOutdated(error) || tries >= UPDATE_TRIES) throw error;
        // The record may have changed by this call itself.
        lost = error.followsLostResponse ? body : undefined;
        await sleep(retryDelayMs(error, 0), given.signal);
      }
    }
  }

  #call(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    return this.#transport.call(this.#prepare(method, path, options));
  }

  #prepare(method: string, path: string, options: RequestOptions): PreparedRequest {
    const { body, signal, ifMatch, idempotencyKey } = options;
    const isKeyed = idempotencyKey !== undefined || takesIdempotencyKey(method, path);
    const isText = typeof body === "string" || body instanceof Uint8Array;
    return {
      ...withLimits(options, this.#limits),
      method,
      url: this.#url + renderPath(path, options.path, options.query),
      headers: {
        ...(this.#apiKey !== undefined && { "x-api-key": this.#apiKey }),
        ...(body !== undefined && { "content-type": isText ? "text/plain" : "application/json" }),
        ...(isKeyed && { "idempotency-key": idempotencyKey ?? newIdempotencyKey() }),
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
        ...lowerCased(options.headers),
      },
      body: body === undefined || isText ? body : JSON.stringify(body),
      isRepeatable: options.isRepeatable ?? (isKeyed || isIdempotent(method)),
      signal,
    };
  }
}

function withLimits(given: { [K in keyof Limits]?: number | undefined }, fallback: Limits): Limits {
  return {
    timeoutMs: given.timeoutMs ?? fallback.timeoutMs,
    totalTimeoutMs: given.totalTimeoutMs ?? fallback.totalTimeoutMs,
    retries: given.retries ?? fallback.retries,
  };
}

/** So that a header of the caller replaces the client's. */
function lowerCased(headers: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(entries);
}

async function readVersion(response: Response) {
  return { body: await readBody(response), ifMatch: response.headers.get("etag") ?? undefined };
}

/** Another version than that of `If-Match` is the current one. */
function isOutdated(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.code !== "conflict") return false;
  return error.cause !== undefined && "etag" in error.cause;
}
