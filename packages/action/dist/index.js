// src/lib/safe-url.ts
function isSafeUrl(text) {
  const url = /\s/.test(text) ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password;
}

// packages/cli/src/deployments/commit-text.ts
import { stripVTControlCharacters } from "node:util";

// src/lib/json-value.ts
var encoder = new TextEncoder();
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// packages/cli/src/deployments/commit-text.ts
var TEXT_LIMITS = { message: 2e4, field: 500, reason: 1e3 };
var PERSONS = ["author", "committer"];
function cleanSource(source) {
  const { git } = source;
  if (!isObject(git) || !isObject(git["commit"])) return { value: source, remarks: [] };
  const remarks = [];
  const commit = { ...git["commit"] };
  const { message } = commit;
  if (typeof message === "string") {
    const cleaned = cleanParagraphs(message, TEXT_LIMITS.message);
    commit["message"] = cleaned.value;
    remarks.push(...cleaned.remarks.map((each) => `The commit message ${each}`));
  }
  for (const name of PERSONS) {
    const person = commit[name];
    if (!isObject(person)) continue;
    const cleaned = cleanPerson(person);
    commit[name] = cleaned.value;
    remarks.push(...cleaned.remarks.map((each) => `The commit ${name}'s ${each}`));
  }
  return { value: { ...source, git: { ...git, commit } }, remarks };
}
function cleanPerson(person) {
  const remarks = [];
  const entries = Object.entries(person).flatMap(([name, value]) => {
    if (typeof value !== "string") return [[name, value]];
    const cleaned = cleanLine(value, TEXT_LIMITS.field);
    const isEmpty = cleaned.value.trim() === "";
    const changes = isEmpty ? ["is empty. It was left out."] : cleaned.remarks;
    remarks.push(...changes.map((each) => `${name} ${each}`));
    return isEmpty ? [] : [[name, cleaned.value]];
  });
  return { value: Object.fromEntries(entries), remarks };
}
function cleanReason(reason) {
  const { value, remarks } = cleanLine(reason, TEXT_LIMITS.reason);
  return { value, remarks: remarks.map((each) => `The reason ${each}`) };
}
function cleanLine(text, maximum) {
  const line = withoutSequences(text).replaceAll(new RegExp("\\p{Cc}+", "gu"), " ");
  return clean(text, line, maximum);
}
function cleanParagraphs(text, maximum) {
  const lines = withoutSequences(text).replaceAll("", "\n");
  return clean(text, lines.replaceAll(new RegExp("(?![\\t\\n\\r])\\p{Cc}", "gu"), ""), maximum);
}
function withoutSequences(text) {
  return stripVTControlCharacters(text).toWellFormed();
}
function clean(given, cleaned, maximum) {
  const isLong = cleaned.length > maximum;
  const remarks = [
    ...cleaned === given ? [] : ["has control characters. They were removed or replaced."],
    ...isLong ? [`is longer than ${maximum} characters. The rest was cut.`] : []
  ];
  const value = isLong ? `${cleaned.slice(0, maximum - 1).replace(/[\ud800-\udbff]$/, "")}…` : cleaned;
  return { value, remarks };
}

// packages/cli/src/deployments/follow.ts
import { setTimeout as sleep3 } from "node:timers/promises";

// packages/client/src/errors.ts
var LongshoreError = class extends Error {
  name = "LongshoreError";
};
var ApiError = class extends LongshoreError {
  name = "ApiError";
  code;
  cause;
  /** 0 for a redirect in a browser, which hides its status. */
  status;
  /** `X-Request-Id`, for the operator of the service. */
  requestId;
  /** How long the service asks to wait. */
  retryAfterMs;
  /** Of the response. */
  headers;
  /** Whether an earlier try of the call had no usable response, and may have done the work. */
  followsLostResponse = false;
  constructor(message, details) {
    super(message);
    this.code = details.code;
    this.cause = details.cause;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.headers = details.headers;
  }
};
var ConnectionError = class extends LongshoreError {
  name = "ConnectionError";
};
var TimeoutError = class extends LongshoreError {
  name = "TimeoutError";
};

// packages/client/src/generated/operations.ts
var WITHOUT_IDEMPOTENCY_KEY = /* @__PURE__ */ new Set([
  "POST /v1/invitations/accept",
  "POST /v1/sessions",
  "POST /v1/oidc/token",
  "POST /v1/runner/claims",
  "POST /v1/runner/attempts/{attempt_id}/start",
  "POST /v1/runner/attempts/{attempt_id}/heartbeat",
  "POST /v1/runner/attempts/{attempt_id}/complete",
  "POST /v1/runner/attempts/{attempt_id}/release",
  "POST /v1/runner/attempts/{attempt_id}/logs",
  "POST /v1/bootstrap"
]);
var REPLACEABLE = /* @__PURE__ */ new Set([
  "/v1/orgs/{org_id}/members/{member_id}",
  "/v1/orgs/{org_id}/api-key-policy",
  "/v1/projects/{project_id}",
  "/v1/projects/{project_id}/connection",
  "/v1/projects/{project_id}/members/{member_id}",
  "/v1/environments/{environment_id}",
  "/v1/environments/{environment_id}/protection",
  "/v1/components/{component_id}",
  "/v1/stacks/{stack_id}",
  "/v1/variables/{variable_id}"
]);

// packages/client/src/includes.ts
function includes(record, fields) {
  if (!isObject2(record) || !isObject2(fields)) return false;
  return Object.entries(fields).every(([name, value]) => isEqual(record[name], value));
}
function isEqual(one, other) {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at2) => isEqual(item, other[at2]));
  }
  if (!isObject2(one) || !isObject2(other)) return one === other;
  return includes(one, other) && includes(other, one);
}
function isObject2(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// packages/client/src/retry.ts
var FIRST_DELAY_MS = 250;
var LONGEST_DELAY_MS = 8e3;
var JITTER = 0.5;
function isTransient(error) {
  if (error instanceof ApiError) return isTooEarly(error) || mayHaveWorked(error);
  return error instanceof ConnectionError || error instanceof TimeoutError;
}
function mayHaveWorked(error) {
  if (!(error instanceof ApiError)) return true;
  return error.status === 408 || error.status >= 500 && error.status !== 501;
}
function isTooEarly(error) {
  return error instanceof ApiError && error.status === 429;
}
function retryDelayMs(error, tries) {
  const asked = error instanceof ApiError ? error.retryAfterMs : void 0;
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** tries, LONGEST_DELAY_MS);
  const jitter = backoff * JITTER * Math.random();
  return asked === void 0 ? backoff - jitter : asked + jitter;
}
function parseRetryAfter(text) {
  if (text === null) return void 0;
  if (/^[0-9]+$/.test(text)) return Number(text) * 1e3;
  const date = Date.parse(text);
  return Number.isNaN(date) ? void 0 : Math.max(0, date - Date.now());
}
function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

// packages/client/src/read-response.ts
async function readBody(response) {
  const text = await response.text();
  if (text === "") return void 0;
  const type = response.headers.get("content-type") ?? "";
  if (/^(text\/plain|application\/x-ndjson)\b/.test(type)) return text;
  const json = parseJson(text);
  if (json === void 0) throw unexpectedResponse(response);
  return json;
}
async function readError(response) {
  const body = parseJson(await response.text());
  if (!isErrorBody(body)) return unexpectedResponse(response);
  const { code: code2, message, cause } = body;
  return new ApiError(message, { ...detailsOf(response), code: code2, cause });
}
function unexpectedResponse(response) {
  const { status, headers } = response;
  const location = headers.get("location");
  const isRedirect = status === 0 || status >= 300 && status < 400 && location !== null;
  const what = isRedirect ? `a redirect${location ? ` to ${location}` : ""}` : `the status ${status} and ${headers.get("content-type") ?? "no content type"}`;
  const message = `The response is not one of Longshore's API: ${what}. Is the URL right?`;
  return new ApiError(message, { ...detailsOf(response), code: "unexpected_response" });
}
function detailsOf({ status, headers }) {
  return {
    status,
    headers,
    requestId: headers.get("x-request-id") ?? void 0,
    retryAfterMs: parseRetryAfter(headers.get("retry-after"))
  };
}
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return void 0;
  }
}
function isErrorBody(body) {
  if (typeof body !== "object" || body === null) return false;
  return "code" in body && typeof body.code === "string" && "message" in body;
}

// packages/client/src/repeatable.ts
var IDEMPOTENT = /* @__PURE__ */ new Set(["GET", "HEAD", "PUT", "DELETE"]);
var KEYED = /* @__PURE__ */ new Set(["POST", "PATCH"]);
var KEY_BYTES = 16;
var withoutKey = [...WITHOUT_IDEMPOTENCY_KEY].map(
  (operation) => new RegExp(`^${operation.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
);
function isIdempotent(method) {
  return IDEMPOTENT.has(method);
}
function takesIdempotencyKey(method, path) {
  if (!KEYED.has(method)) return false;
  const operation = `${method} ${path.replace(/\?.*$/s, "")}`;
  return !withoutKey.some((pattern) => pattern.test(operation));
}
function newIdempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// packages/client/src/event-parser.ts
var EventParser = class {
  /** How long the server asks to wait before a new connection. */
  retryMs;
  #decoder = new TextDecoder();
  #line = "";
  #skipsLineFeed = false;
  #event = "";
  #data = "";
  #id = "";
  /** Returns the events that the bytes complete. */
  push(bytes) {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#skipsLineFeed && text.startsWith("\n")) text = text.slice(1);
    this.#skipsLineFeed = text.endsWith("\r");
    const [first = "", ...rest] = text.split(/\r\n|\r|\n/);
    this.#line += first;
    const events = [];
    for (const next of rest) {
      const event = this.#readLine(this.#line);
      if (event) events.push(event);
      this.#line = next;
    }
    return events;
  }
  #readLine(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data += `${value}
`;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return void 0;
  }
  #dispatch() {
    const event = this.#event || "message";
    const data = this.#data;
    this.#event = "";
    this.#data = "";
    return data === "" ? void 0 : { event, data: data.slice(0, -1), id: this.#id };
  }
};

// packages/client/src/stream.ts
var RETRY_MS = 1e3;
async function* follow(transport, request, idleTimeoutMs) {
  let lastId = "";
  let retryMs = RETRY_MS;
  let shownStatus = "";
  let failures = 0;
  while (failures <= request.retries) {
    const parser = new EventParser();
    const response = await transport.open(resume(request, lastId));
    failures += 1;
    for await (const { event, data, id } of readEvents(response, parser, idleTimeoutMs)) {
      failures = 0;
      lastId = id || lastId;
      if (event === "status" && data === shownStatus) continue;
      if (event === "status") shownStatus = data;
      yield { event: event === "message" ? "line" : event, id: lastId, data: JSON.parse(data) };
      if (event === "end") return;
    }
    request.signal?.throwIfAborted();
    retryMs = parser.retryMs ?? retryMs;
    await sleep(retryMs + retryDelayMs(void 0, failures), request.signal);
  }
  throw new ConnectionError(`${request.url}: ${failures} streams had no event.`);
}
function resume(request, lastId) {
  if (lastId === "") return request;
  return { ...request, headers: { ...request.headers, "last-event-id": lastId } };
}
async function* readEvents(response, parser, idleTimeoutMs) {
  const type = response.headers.get("content-type") ?? "";
  if (!response.body || !type.startsWith("text/event-stream")) throw unexpectedResponse(response);
  const reader = response.body.getReader();
  try {
    for (; ; ) {
      const bytes = await readChunk(reader, idleTimeoutMs);
      if (!bytes) return;
      yield* parser.push(bytes);
    }
  } finally {
    reader.cancel().catch(() => void 0);
  }
}
async function readChunk(reader, timeoutMs) {
  let timer;
  const silence = new Promise((resolve) => {
    timer = setTimeout(resolve, timeoutMs, void 0);
  });
  try {
    const result = await Promise.race([reader.read(), silence]);
    return result?.value;
  } catch {
    return void 0;
  } finally {
    clearTimeout(timer);
  }
}

// packages/client/src/transport.ts
var BOOKMARK = "x-d1-bookmark";
var NOT_MODIFIED = 304;
var Transport = class {
  #fetch;
  #bookmark = "";
  constructor(fetch2) {
    this.#fetch = fetch2;
  }
  /** Returns the body. */
  async call(request) {
    try {
      return await this.send(request, readBody);
    } catch (error) {
      const isGone = error instanceof ApiError && error.code === "not_found";
      if (request.method === "DELETE" && isGone && error.followsLostResponse) return void 0;
      throw error;
    }
  }
  /** Returns the response as soon as its headers have arrived. Its body is not repeated. */
  open(request) {
    return this.send(request, async (response) => response);
  }
  /** Repeats the reading of the body too. */
  async send(request, read) {
    const failures = [];
    const endsAt = Date.now() + request.totalTimeoutMs;
    for (; ; ) {
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
  async #try(request, read) {
    const { method, url, headers, body, signal, timeoutMs } = request;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    const init = {
      method,
      headers: this.#bookmark ? { ...headers, [BOOKMARK]: this.#bookmark } : headers,
      // A redirect would send the key to another address.
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
      ...body !== void 0 && { body }
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
  #keepBookmark(bookmark) {
    if (bookmark !== null && bookmark > this.#bookmark) this.#bookmark = bookmark;
  }
};
function describe(error) {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  return cause instanceof Error && cause.message ? cause.message : message;
}

// packages/client/src/url.ts
function readBaseUrl(text) {
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(`Give the URL of the API without credentials and query, not ${text}.`);
  }
  return url.href.replace(/\/+$/, "");
}
function renderPath(template, path = {}, query = {}) {
  if (!template.startsWith("/")) throw new TypeError(`The path ${template} must begin with "/".`);
  const rendered = template.replaceAll(/\{(\w+)\}/g, (_, name) => toSegment(name, path[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== void 0) search.append(name, String(each));
    }
  }
  if (search.size === 0) return rendered;
  return `${rendered}${rendered.includes("?") ? "&" : "?"}${search}`;
}
function toSegment(name, value) {
  const text = value === void 0 ? "" : String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`The path needs ${name}, and not "${text}".`);
  return encodeURIComponent(text);
}

// packages/client/src/client.ts
var TIMEOUT_MS = 3e4;
var TOTAL_TIMEOUT_MS = 12e4;
var RETRIES = 5;
var IDLE_TIMEOUT_MS = 45e3;
var UPDATE_TRIES = 20;
function createClient(options) {
  return new Client(options);
}
var Client = class {
  #url;
  #apiKey;
  #limits;
  #transport;
  constructor({ url, apiKey, fetch: fetch2, ...limits }) {
    if (apiKey !== void 0 && !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError("An API key has visible ASCII characters only.");
    }
    this.#url = readBaseUrl(url);
    this.#apiKey = apiKey;
    this.#limits = withLimits(limits, {
      timeoutMs: TIMEOUT_MS,
      totalTimeoutMs: TOTAL_TIMEOUT_MS,
      retries: RETRIES
    });
    this.#transport = new Transport(fetch2);
  }
  async get(path, ...[options]) {
    return await this.#call("GET", path, options);
  }
  async post(path, ...[options]) {
    return await this.#call("POST", path, options);
  }
  async put(path, ...[options]) {
    return await this.#call("PUT", path, options);
  }
  async patch(path, ...[options]) {
    return await this.#call("PATCH", path, options);
  }
  async delete(path, ...[options]) {
    return await this.#call("DELETE", path, options);
  }
  /**
   * Sends any request, and returns its response with the body unread: for other forms than JSON, and for
   * headers. The body is not covered by timeouts and repeats.
   */
  request(method, path, options = {}) {
    return this.#transport.open(this.#prepare(method, path, options));
  }
  /** Yields the records of all pages. */
  async *list(path, ...[options]) {
    const given = options ?? {};
    let query = given.query;
    for (; ; ) {
      const page = await this.#call("GET", path, { ...given, query });
      const { data, next_page: after } = page;
      if (!Array.isArray(data)) {
        throw new LongshoreError(`The response to GET ${path} is not a list. Is the URL right?`);
      }
      yield* data;
      if (after === void 0) return;
      query = { ...query, after };
    }
  }
  /** Yields the events of a stream until its end, over as many connections as needed. */
  async *stream(path, ...[options]) {
    const { idleTimeoutMs = IDLE_TIMEOUT_MS, ...given } = options ?? {};
    const request = this.#prepare("GET", path, {
      ...given,
      headers: { accept: "text/event-stream", ...given.headers }
    });
    yield* follow(this.#transport, request, idleTimeoutMs);
  }
  /**
   * Reads a record, and writes the body that `change` makes of it: with PUT, or with PATCH if there is no
   * PUT. Does so again if the record has changed in between. Writes nothing if `change` returns undefined.
   * Returns the record.
   */
  async update(path, options, change) {
    const method = REPLACEABLE.has(path) ? "PUT" : "PATCH";
    const given = options;
    let lost;
    for (let tries = 0; ; tries++) {
      const request = this.#prepare("GET", path, given);
      const { body: read, ifMatch } = await this.#transport.send(request, readVersion);
      const record = read;
      if (lost !== void 0 && includes(record, lost)) return record;
      const body = change(record);
      if (body === void 0) return record;
      try {
        const written = await this.#call(method, path, { ...given, body, ifMatch });
        return written;
      } catch (error) {
        if (!isOutdated(error) || tries >= UPDATE_TRIES) throw error;
        lost = error.followsLostResponse ? body : void 0;
        await sleep(retryDelayMs(error, 0), given.signal);
      }
    }
  }
  #call(method, path, options = {}) {
    return this.#transport.call(this.#prepare(method, path, options));
  }
  #prepare(method, path, options) {
    const { body, signal, ifMatch, idempotencyKey } = options;
    const isKeyed = idempotencyKey !== void 0 || takesIdempotencyKey(method, path);
    const isText = typeof body === "string" || body instanceof Uint8Array;
    return {
      ...withLimits(options, this.#limits),
      method,
      url: this.#url + renderPath(path, options.path, options.query),
      headers: {
        ...this.#apiKey !== void 0 && { "x-api-key": this.#apiKey },
        ...body !== void 0 && { "content-type": isText ? "text/plain" : "application/json" },
        ...isKeyed && { "idempotency-key": idempotencyKey ?? newIdempotencyKey() },
        ...ifMatch !== void 0 && { "if-match": ifMatch },
        ...lowerCased(options.headers)
      },
      body: body === void 0 || isText ? body : JSON.stringify(body),
      isRepeatable: options.isRepeatable ?? (isKeyed || isIdempotent(method)),
      signal
    };
  }
};
function withLimits(given, fallback) {
  return {
    timeoutMs: given.timeoutMs ?? fallback.timeoutMs,
    totalTimeoutMs: given.totalTimeoutMs ?? fallback.totalTimeoutMs,
    retries: given.retries ?? fallback.retries
  };
}
function lowerCased(headers = {}) {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(entries);
}
async function readVersion(response) {
  return { body: await readBody(response), ifMatch: response.headers.get("etag") ?? void 0 };
}
function isOutdated(error) {
  if (!(error instanceof ApiError) || error.code !== "conflict") return false;
  return error.cause !== void 0 && "etag" in error.cause;
}

// src/lib/hidden-characters.ts
var FLAG = "\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}";
var IN_EMOJI = "(?<=\\p{ExtPict}\\uFE0F?|\\p{EMod})\\u200D(?=\\p{ExtPict})|(?<=\\p{ExtPict})(?:\\uFE0E|\\uFE0F)|(?<=[#*0-9])\\uFE0F(?=\\u20E3)";
var BETWEEN_LETTERS = "(?<=(?!\\p{DI})[\\p{L}\\p{M}])[\\u200C\\u200D](?=(?!\\p{DI})[\\p{L}\\p{M}])";
var HIDDEN = "[\\p{DI}\\u2028\\u2029\\uFFF9-\\uFFFB\\u{13430}-\\u{1343F}]";
var HIDDEN_CHARACTERS = new RegExp(
  `${FLAG}|${IN_EMOJI}|${BETWEEN_LETTERS}|(${HIDDEN})`,
  "gu"
);

// packages/cli/src/plain-text.ts
function toPlainText(text) {
  return escapeHidden(text.replaceAll(CONTROLS, escapeOne), escapeOne);
}
var CONTROLS = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;
function escapeHidden(text, escapes) {
  return text.replaceAll(
    HIDDEN_CHARACTERS,
    (part, hidden) => hidden === void 0 ? part : escapes(hidden)
  );
}
function escapeOne(character) {
  const code2 = character.codePointAt(0) ?? 0;
  const digits = code2.toString(16).padStart(2, "0");
  if (code2 < 256) return `\\x${digits}`;
  return code2 > 65535 ? `\\u{${digits}}` : `\\u${digits}`;
}

// packages/cli/src/errors.ts
var ExitCode = {
  succeeded: 0,
  /** A usage error, or a request that the service refuses. */
  error: 1,
  failed: 2,
  canceled: 3,
  superseded: 4,
  timedOut: 5,
  unreachable: 6,
  /** 128 and the number of SIGINT, as shells have it. */
  interrupted: 130
};
var CliError = class extends Error {
  exitCode;
  constructor(message, exitCode = ExitCode.error) {
    super(message);
    this.exitCode = exitCode;
  }
};
function explain(error, advice = ADVICE) {
  if (error instanceof ApiError) {
    return new CliError(
      describeRefusal(error, advice),
      isOfProxy(error) ? ExitCode.unreachable : ExitCode.error
    );
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return new CliError(describeSilence(error), ExitCode.unreachable);
  }
  return error instanceof LongshoreError ? new CliError(error.message) : error;
}
function isOfProxy({ code: code2, status }) {
  return code2 === "unexpected_response" && status >= 500;
}
var ADVICE = {
  unauthenticated: "Run: longshore login"
};
var NO_PATH = "There is no such path.";
var NO_PATH_ADVICE = "Is the URL right?";
function describeRefusal(error, advice) {
  const { code: code2, status, message, cause, requestId } = error;
  const issues = typeof cause === "object" && "issues" in cause ? cause.issues : [];
  const lines = issues.filter((issue) => issues.length > 1 || !message.includes(issue.message)).map((issue) => `  ${issue.path || "body"}: ${issue.message}`);
  const where = requestId ? `, request ${requestId}` : "";
  const next = message === NO_PATH ? NO_PATH_ADVICE : advice[code2];
  const sentences = [`${message} (${code2}, status ${status}${where})`, next ?? []].flat();
  return [sentences.join(" "), ...lines].map(toPlainText).join("\n");
}
function describeSilence({ message }) {
  const isClock = /certificate (has expired|is not yet valid)/i.test(message);
  const advice = isClock ? "Is the clock of this machine right?" : "Is the URL right, and is the service running?";
  return `There is no response: ${message}. ${advice}`;
}

// packages/cli/src/deployments/duration.ts
var UNIT_MS = { ms: 1, s: 1e3, m: 6e4, h: 36e5 };
var DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
var PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;
var LONGEST_MS = 2 ** 31 - 1;
function parseDuration(text) {
  const ms = /^\d+$/.test(text) ? Number(text) * UNIT_MS.s : sumOf(text);
  if (ms !== void 0 && ms > 0 && ms <= LONGEST_MS) return ms;
  throw new CliError(
    `"${text}" is not a duration. Write it as 90s, 10m or 1h30m, at most 24 days.`
  );
}
function sumOf(text) {
  if (!DURATION.test(text)) return void 0;
  const parts = [...text.matchAll(PART)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit], 0);
}
function formatDuration(ms) {
  if (ms < UNIT_MS.s) return `${ms / UNIT_MS.s}s`;
  const seconds = Math.floor(ms / UNIT_MS.s);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds % 3600 / 60)];
  const parts = [
    [hours, "h"],
    [minutes, "m"],
    [hours === 0 ? seconds % 60 : 0, "s"]
  ];
  return parts.flatMap(([count, unit]) => count > 0 ? `${count}${unit}` : []).join(" ");
}

// packages/cli/src/deployments/log-stream.ts
import { setTimeout as sleep2 } from "node:timers/promises";
var LOGS = "/v1/deployments/{deployment_id}/logs";
var FIRST_PAUSE_MS = 1e3;
var LONGEST_PAUSE_MS = 15e3;
async function readLogStream(client, options) {
  const { deploymentId, stackId, signal } = options;
  const path = { deployment_id: deploymentId };
  let position = 0;
  for (let failures = 0; ; failures++) {
    const query = {
      ...position > 0 && { after: position },
      ...stackId !== void 0 && { stack_id: stackId }
    };
    const stream = client.stream(LOGS, { path, query, signal });
    try {
      for (; ; ) {
        const next = await stream.next().catch(toFailure);
        if (next instanceof Error) {
          if (isPermanent(next)) return false;
          break;
        }
        if (next.done || next.value.event === "end") return true;
        failures = 0;
        position = deliver(next.value, position, options);
      }
    } finally {
      await stream.return();
    }
    signal.throwIfAborted();
    options.onLost();
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    await sleep2(pause * (0.5 + Math.random() / 2), void 0, { signal });
  }
}
function deliver(event, position, { onLine, onStatus }) {
  if (event.event === "status") onStatus(event.data);
  if (event.event !== "line" || event.data.offset < position) return position;
  onLine(event.data);
  return Number(event.id);
}
function toFailure(error) {
  if (error instanceof LongshoreError || error instanceof SyntaxError) return error;
  throw error;
}
function isPermanent(error) {
  if (!(error instanceof ApiError) || error.code === "unexpected_response") return false;
  const isTransient2 = error.status === 408 || error.status === 429 || error.status >= 500;
  return !isTransient2 || error.status === 501;
}

// packages/cli/src/deployments/outcome.ts
var EXIT_CODES = {
  succeeded: ExitCode.succeeded,
  failed: ExitCode.failed,
  canceled: ExitCode.canceled,
  superseded: ExitCode.superseded
};
function hasEnded(status) {
  return Object.hasOwn(EXIT_CODES, status);
}

// packages/cli/src/deployments/follow.ts
var UNREACHABLE_MS = 5 * 6e4;
var DEPLOYMENT = "/v1/deployments/{deployment_id}";
var READ_EVERY_MS = 1e4;
var READ_WITHOUT_LOG_EVERY_MS = 3e3;
var READ_AGAIN_MS = 1e3;
var READ_MS = 6e4;
var LAST_READ_MS = 1e4;
var LOG_PAUSE_MS = 1e4;
async function followDeployment(client, deploymentId, options = {}) {
  const follower = new Follower(client, deploymentId, options);
  try {
    return await follower.run();
  } finally {
    follower.stop();
  }
}
var Follower = class {
  #client;
  #id;
  #options;
  /** Ends the requests and pauses. */
  #stopped = new AbortController();
  #startedAt = Date.now();
  #heardAt = Date.now();
  #lineAt = Date.now();
  #shown = "";
  #status;
  #statusCount = 0;
  #waitingFor = [];
  #hasLog = true;
  #wake = () => void 0;
  constructor(client, id, options) {
    this.#client = client;
    this.#id = id;
    this.#options = options;
  }
  get #signal() {
    const { signal } = this.#options;
    return signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal;
  }
  stop() {
    this.#stopped.abort();
  }
  async run() {
    const log = this.#readLog();
    const brokenLog = log.then(() => new Promise(() => void 0));
    const deployment = await Promise.race([this.#waitForEnd(), brokenLog]);
    if (!await this.#waitForLog(log)) this.#options.onIncompleteLog?.();
    return deployment;
  }
  /** Rejects only with an error of a callback. */
  async #readLog() {
    const signal = this.#signal;
    try {
      const { stackId } = this.#options;
      return await readLogStream(this.#client, {
        deploymentId: this.#id,
        stackId,
        signal,
        onLine: (line) => this.#showLine(line),
        onStatus: (progress) => this.#showLogStatus(progress),
        onLost: () => this.#loseLog()
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      return false;
    } finally {
      this.#loseLog();
    }
  }
  async #waitForEnd() {
    for (; ; ) {
      const isLast = this.#remainingMs() <= 0;
      const pauseMs = await this.#read();
      if (typeof pauseMs !== "number") return pauseMs;
      if (isLast) throw this.#timeout();
      await this.#pause(Math.min(pauseMs, Math.max(0, this.#remainingMs())));
    }
  }
  /** The deployment if it has ended, or how long to wait before the next read. */
  async #read() {
    const { unreachableMs = UNREACHABLE_MS } = this.#options;
    const before = this.#statusCount;
    try {
      const deployment = await this.#client.get(DEPLOYMENT, {
        path: { deployment_id: this.#id },
        signal: this.#signal,
        totalTimeoutMs: Math.max(
          1,
          Math.min(this.#readMs(), this.#heardAt + unreachableMs - Date.now())
        )
      });
      this.#heardAt = Date.now();
      const isOver = hasEnded(deployment.status);
      if (isOver || before === this.#statusCount) {
        this.#waitingFor = reasonsToWait(deployment);
        this.#show(toProgress(deployment));
      }
      return isOver ? deployment : this.#pauseMs();
    } catch (error) {
      if (!(error instanceof LongshoreError) || isPermanent(error)) throw error;
      const asked = error instanceof ApiError ? error.retryAfterMs : void 0;
      if (error instanceof ApiError && error.status === 429) this.#heardAt = Date.now();
      if (Date.now() - this.#heardAt >= unreachableMs) throw unreachable(error, unreachableMs);
      return Math.max(READ_AGAIN_MS, asked ?? 0);
    }
  }
  /** At the end of the wait, there is time for one more read. */
  #readMs() {
    return Math.min(READ_MS, Math.max(0, this.#remainingMs()) + LAST_READ_MS);
  }
  #pauseMs() {
    if (this.#status && hasEnded(this.#status)) return READ_AGAIN_MS;
    return this.#hasLog && this.#status !== "queued" ? READ_EVERY_MS : READ_WITHOUT_LOG_EVERY_MS;
  }
  /** Ends early when the log has news. */
  async #pause(ms) {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const signal = AbortSignal.any([this.#signal, woken.signal]);
    await sleep3(ms, void 0, { signal }).catch(() => void 0);
    this.#options.signal?.throwIfAborted();
  }
  /** Returns whether the log has been read to its end. */
  async #waitForLog(log) {
    this.#lineAt = Date.now();
    for (; ; ) {
      const pauseMs = this.#lineAt + LOG_PAUSE_MS - Date.now();
      if (pauseMs <= 0) return false;
      const timer = sleep3(pauseMs, void 0, { signal: this.#signal }).catch(() => void 0);
      const isComplete = await Promise.race([log, timer]);
      this.#options.signal?.throwIfAborted();
      if (isComplete !== void 0) return isComplete;
    }
  }
  #showLine(line) {
    this.#hasLog = true;
    this.#heardAt = Date.now();
    this.#lineAt = Date.now();
    this.#options.onLine?.(line);
  }
  #showLogStatus(progress) {
    this.#hasLog = true;
    this.#heardAt = Date.now();
    this.#statusCount += 1;
    this.#show(progress);
    if (hasEnded(progress.status)) this.#wake();
  }
  #loseLog() {
    this.#hasLog = false;
    this.#wake();
  }
  #show({ status, stacks }) {
    this.#status = status;
    const waitingFor = status === "queued" ? this.#waitingFor : [];
    const progress = { status, stacks, waitingFor };
    const shown = JSON.stringify(progress);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#options.onStatus?.(progress);
  }
  #remainingMs() {
    return this.#startedAt + (this.#options.timeoutMs ?? Infinity) - Date.now();
  }
  #timeout() {
    const waited = formatDuration(this.#options.timeoutMs ?? 0);
    const status = this.#status ? `it is ${this.#status}, and continues` : "its status is not known";
    return new CliError(
      `The deployment ${this.#id} has not ended within ${waited}: ${status}. Run: longshore logs --follow ${this.#id}`,
      ExitCode.timedOut
    );
  }
};
function reasonsToWait({ waiting_for = [] }) {
  return waiting_for.map(({ message }) => toPlainText(message));
}
function toProgress({ status, data }) {
  const stacks = (data.stacks ?? []).map((stack) => ({ id: stack.id, status: stack.status }));
  return { status, stacks };
}
function unreachable(error, ms) {
  return new CliError(
    `The service has not responded for ${formatDuration(ms)}: ${error.message}. The deployment may continue.`,
    ExitCode.unreachable
  );
}

// packages/cli/src/deployments/stack-names.ts
var READ_MS2 = 1e4;
async function readStacks(session, environmentId) {
  const stacks = [];
  try {
    const pages = session.client.list("/v1/environments/{environment_id}/stacks", {
      path: { environment_id: environmentId },
      totalTimeoutMs: READ_MS2
    });
    for await (const stack of pages) stacks.push(stack);
  } catch (error) {
    if (!(error instanceof LongshoreError)) throw error;
  }
  return stacks;
}

// packages/cli/src/deployments/outputs.ts
function outputsByStack(stacks) {
  return Object.fromEntries(
    stacks.flatMap(({ name, outputs }) => outputs ? [[name, outputs]] : [])
  );
}
async function readDeployedStacks(session, { environment_id, stack_ids }) {
  const byId = new Map(
    (await readStacks(session, environment_id)).map((stack) => [stack.id, stack])
  );
  return stack_ids.flatMap((id) => byId.get(id) ?? []);
}

// packages/runner/src/proxies.ts
import { existsSync } from "node:fs";
import http from "node:http";
import { fileURLToPath } from "node:url";

// packages/runner/src/errors.ts
var RunnerError = class extends Error {
  exitCode;
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
};

// packages/runner/src/proxies.ts
var VARIABLES = {
  "http:": ["http_proxy", "HTTP_PROXY"],
  // Without one of its own, https uses the proxy for http.
  "https:": ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]
};
var EXCLUSIONS = ["no_proxy", "NO_PROXY"];
var AGENT_FILES = ["./executors/proxies.js", "../dist/executors/proxies.js"];
var FAILED_LOOK_UPS = ["ENOTFOUND", "EAI_AGAIN", "EAI_NODATA", "EAI_NONAME", "EAI_FAIL"];
var UnreachableError = class extends Error {
};
async function useProxies(environment) {
  const names = [...new Set(Object.values(VARIABLES).flat())].filter((name) => environment[name]);
  if (names.length === 0) return () => void 0;
  for (const name of names) readProxy(name, environment[name] ?? "");
  if ("setGlobalProxyFromEnv" in http) {
    return http.setGlobalProxyFromEnv(environment);
  }
  const file = AGENT_FILES.map((each) => new URL(each, import.meta.url)).find(
    (url) => existsSync(fileURLToPath(url.href))
  );
  if (file) return (await import(file.href)).useProxies(environment);
  throw new RunnerError(`${names[0]} needs Node 24.14 or newer. Update Node, or unset it.`, 2);
}
function findProxy(url, environment) {
  const { protocol, hostname, port } = new URL(url);
  const names = VARIABLES[protocol === "https:" ? "https:" : "http:"];
  const variable = names.find((name) => environment[name]);
  if (variable === void 0 || isExcluded(hostname, port || defaultPort(protocol), environment)) {
    return void 0;
  }
  return readProxy(variable, environment[variable] ?? "");
}
function readProxy(variable, text) {
  const url = URL.canParse(text) ? new URL(text) : void 0;
  if (url && /^https?:$/.test(url.protocol)) {
    return { variable, address: `${url.protocol}//${url.host}` };
  }
  throw new RunnerError(
    `Set ${variable} to the URL of an HTTP proxy, such as http://proxy.example.com:3128, or unset it.`,
    2
  );
}
function defaultPort(protocol) {
  return protocol === "https:" ? "443" : "80";
}
function isExcluded(host, port, environment) {
  const excluded = EXCLUSIONS.map((name) => environment[name]).find((each) => each !== void 0);
  return (excluded ?? "").split(/[,\s]+/).some((entry) => {
    const [, name = "", onlyPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    const domain = name.toLowerCase().replace(/^\*?\./, "");
    if (domain === "" || onlyPort !== void 0 && onlyPort !== port) return false;
    return domain === "*" || host === domain || host.endsWith(`.${domain}`);
  });
}
function createFetch(environment = process.env) {
  return async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (error) {
      throw describeError(error, url, environment);
    }
  };
}
function describeError(error, url, environment) {
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  const { code: code2 = "", message } = error.cause;
  const proxy = findProxy(url, environment);
  if (!proxy && !FAILED_LOOK_UPS.includes(code2)) return error;
  const where = proxy ? `through the proxy ${proxy.address} of ${proxy.variable}` : describeAbsence(url, environment);
  return new UnreachableError(`${message || code2 || error.message} (${where})`);
}
function describeAbsence(url, environment) {
  const isSecure = new URL(url).protocol === "https:";
  const names = VARIABLES[isSecure ? "https:" : "http:"];
  const isSet = names.some((name) => environment[name]);
  if (isSet) return "without a proxy: NO_PROXY excludes the host";
  return `without a proxy: ${isSecure ? "HTTPS_PROXY" : "HTTP_PROXY"} is not set`;
}

// packages/cli/src/connection.ts
function readUrl(text, name) {
  const url = URL.canParse(text) ? new URL(text) : void 0;
  const isPlain = url?.href === `${url?.origin}${url?.pathname}`;
  if (url && isPlain && /^https?:$/.test(url.protocol)) return url.href;
  throw new CliError(
    `${name} must be the address of the API, such as http://localhost:8787 for npm start.`
  );
}
function readKey(text, name) {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new CliError(`${name} must be an API key (lsh_…), without spaces. npm start prints one.`);
}

// packages/cli/src/session.ts
var RETRIES2 = 3;
var Session = class {
  url;
  source;
  client;
  #whoAmI;
  constructor({ url, apiKey, source }, fetch2, retries = RETRIES2) {
    this.url = url.replace(/\/$/, "");
    this.source = source;
    this.client = createClient({ url, apiKey, fetch: fetch2, retries });
  }
  whoAmI() {
    this.#whoAmI ??= this.client.get("/v1/whoami");
    return this.#whoAmI;
  }
  async organizationId() {
    return (await this.whoAmI()).organization.id;
  }
  /** The page of the console. */
  linkTo(deploymentId) {
    return new URL(`/console/deployments/${deploymentId}`, this.url).href;
  }
  /** The page that shows everything that an approval covers. */
  linkToApproval(deploymentId) {
    return `${this.linkTo(deploymentId)}/approve`;
  }
  /** Reads a path that is not known until the command runs. */
  async read(path, options = {}) {
    return await this.client.get(path, options);
  }
  /** Deletes the record of a path that is not known until the command runs. */
  async remove(path, parameters, query = {}) {
    const options = { path: parameters, query };
    await this.client.delete(path, options);
  }
  /** At most so many records of a list, and whether there are more. */
  async list(path, { limit, ...options }) {
    const rows = [];
    const records = this.client.list(path, options);
    for await (const record of records) {
      if (rows.length === limit) return { rows, hasMore: true };
      rows.push(record);
    }
    return { rows, hasMore: false };
  }
};

// packages/runner/src/credential.ts
var StaticToken = class {
  #token;
  constructor(token) {
    this.#token = token;
  }
  get known() {
    return [this.#token];
  }
  async token() {
    return this.#token;
  }
  renew() {
    return false;
  }
};
var TransientError = class extends Error {
};
var RENEW_AFTER = 2 / 3;
var ExchangedToken = class {
  #exchange;
  #current;
  /** Requests share it, because the CI system's token is accepted once. */
  #pending;
  constructor(exchange) {
    this.#exchange = exchange;
  }
  get known() {
    return this.#current ? [this.#current.text] : [];
  }
  async token() {
    const current = this.#current;
    if (current && performance.now() < current.renewAt) return current.text;
    this.#pending ??= exchangeToken(this.#exchange).finally(() => {
      this.#pending = void 0;
    });
    try {
      this.#current = await this.#pending;
      return this.#current.text;
    } catch (error) {
      const isValid = current && performance.now() < current.expiresAt;
      if (!isValid || this.#current !== current) throw error;
      const reason = error instanceof Error ? error.message : error;
      this.#exchange.warn(`${reason} The last token is still used.`);
      return current.text;
    }
  }
  renew(refused) {
    if (this.#current?.text === refused) this.#current = void 0;
    return true;
  }
};
var RESPONSE_TIMEOUT_MS = 1e4;
var PATH = "/v1/oidc/token";
var WRONG_TRUST = {
  runner_token: "The trust is for a membership. Create one for the runner pool.",
  api_key: "The trust is for a runner pool. Create one for a membership."
};
async function exchangeToken(exchange) {
  const { url, organizationId: org_id, requestIdToken } = exchange;
  const token = await requestIdToken();
  const sentAt = performance.now();
  let reason = "no response";
  const response = await createFetch()(url + PATH, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ org_id, token }),
    redirect: "manual",
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
  }).catch((error) => {
    if (error instanceof UnreachableError) reason = error.message;
    return void 0;
  });
  const body = await response?.json().catch(() => void 0) ?? {};
  if (response?.status !== 201) throw refusal(response, body, reason);
  const { key, expires_in, type } = body;
  if (type !== exchange.type) throw new RunnerError(WRONG_TRUST[exchange.type], 2);
  if (typeof key !== "string" || typeof expires_in !== "number") {
    throw new TransientError(`POST ${PATH}: an incomplete response.`);
  }
  const lifeMs = expires_in * 1e3;
  return { text: key, renewAt: sentAt + lifeMs * RENEW_AFTER, expiresAt: sentAt + lifeMs };
}
function refusal(response, { message }, reason) {
  const status = response?.status;
  const isTransient2 = status === void 0 || [408, 409, 429].includes(status) || status >= 500 && status !== 501;
  const requestId = response?.headers.get("x-request-id");
  const words = [`POST ${PATH}:`, status ?? reason, typeof message === "string" && message];
  const text = [...words, requestId && `(request ${requestId})`].filter(Boolean).join(" ");
  return isTransient2 ? new TransientError(text) : new RunnerError(text);
}

// packages/runner/src/id-token.ts
var TIMEOUT_MS2 = 3e4;
var MAXIMUM_BYTES = 64 * 1024;
var JSON_WEB_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
var GITHUB_VARIABLES = [
  "ACTIONS_ID_TOKEN_REQUEST_URL",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
];
function githubIdToken(environment, audience) {
  const [url, secret] = GITHUB_VARIABLES.map((name) => environment[name]);
  if (!url || !secret || !URL.canParse(url)) return void 0;
  const request = new URL(url);
  request.searchParams.set("audience", audience);
  return async () => {
    let reason = "no response";
    const response = await createFetch(environment)(request, {
      headers: { authorization: `Bearer ${secret}`, accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS2)
    }).catch((error) => {
      if (error instanceof UnreachableError) reason = error.message;
      return void 0;
    });
    const body = await response?.json().catch(() => void 0);
    if (response?.status === 200) return readToken(body?.value, "GitHub Actions");
    throw new TransientError(`GitHub Actions gave no token: ${response?.status ?? reason}.`);
  };
}
function readToken(value, source) {
  if (typeof value === "string" && JSON_WEB_TOKEN.test(value)) return value;
  throw new RunnerError(`${source} gave no JSON Web Token.`, 2);
}

// packages/action/src/access.ts
var TRIES = 5;
var PAUSE_MS = 1e3;
function createCredential(inputs, job2) {
  const { url, apiKey, organizationId, audience } = inputs;
  if (apiKey !== void 0) return new StaticToken(apiKey);
  if (organizationId === void 0) {
    throw new CliError(
      "Set the input org-id, for a trust that accepts the token of the job, or the input api-key."
    );
  }
  const requestIdToken = githubIdToken(job2.environment, audience);
  if (!requestIdToken) {
    throw new CliError(
      "The job cannot request a token. Give it the permission `id-token: write`, or set api-key."
    );
  }
  const warn = (message) => job2.annotate("warning", message);
  return new ExchangedToken({ url, organizationId, requestIdToken, type: "api_key", warn });
}
var KeyedFetch = class {
  #credential;
  #job;
  #send;
  #key = "";
  constructor(credential, job2) {
    this.#credential = credential;
    this.#job = job2;
    this.#send = createFetch(job2.environment);
  }
  /** Gets the first key. @throws CliError if there is none. */
  async open() {
    for (let tries = 1; ; tries++) {
      try {
        await this.#read();
        return;
      } catch (error) {
        if (error instanceof TransientError && tries < TRIES) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
          continue;
        }
        throw describeRefusal2(error);
      }
    }
  }
  fetch = async (url, init) => {
    await this.#read().catch(ignoreRefusal);
    const key = this.#key;
    const response = await this.#send(url, withKey(init, key));
    if (response.status !== 401 || !this.#credential.renew(key)) return response;
    await this.#read().catch(ignoreRefusal);
    if (this.#key === key) return response;
    await response.body?.cancel();
    return this.#send(url, withKey(init, this.#key));
  };
  async #read() {
    const key = await this.#credential.token();
    if (key !== this.#key) this.#job.mask(key);
    this.#key = key;
  }
};
function withKey(init, key) {
  return { ...init, headers: { ...init.headers, "x-api-key": key } };
}
function ignoreRefusal(error) {
  if (!(error instanceof RunnerError)) throw error;
}
function describeRefusal2(error) {
  if (error instanceof TransientError) {
    return new CliError(`There is no key for the job: ${error.message}`, ExitCode.unreachable);
  }
  if (!(error instanceof RunnerError)) return error;
  return new CliError(
    `No trust accepts the token of the job: ${error.message}. See docs/ci.md of Longshore.`
  );
}

// packages/action/src/commit.ts
import { readFileSync } from "node:fs";

// packages/cli/src/git/git.ts
import { spawnSync } from "node:child_process";
var TIMEOUT_MS3 = 3e4;
function gitIn({ environment, folder }) {
  const env = { ...environment, GIT_TERMINAL_PROMPT: "0" };
  return (...args) => {
    const { status, stdout } = spawnSync("git", args, {
      ...{ cwd: folder, env, encoding: "utf8", timeout: TIMEOUT_MS3 },
      stdio: ["ignore", "pipe", "ignore"]
    });
    return { status, output: (stdout ?? "").replace(/\n$/, "") };
  };
}

// packages/cli/src/git/commit.ts
function readCommit(git, sha) {
  const format = "--format=%an%x00%ae%x00%cn%x00%ce%x00%B";
  const settings = ["-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.showSignature=false"];
  const { output } = git(...settings, "log", "-1", format, sha);
  const [name = "", email = "", committer = "", address = "", message = ""] = output.split("\0");
  return {
    sha,
    message: message.trimEnd(),
    author: { name, email },
    committer: { name: committer, email: address }
  };
}

// packages/action/src/commit.ts
var GITHUB = "https://github.com";
var SHA = /^[0-9a-f]{40}$/;
var HEADS = {
  pull_request: headOfPullRequest,
  pull_request_target: headOfPullRequest,
  workflow_run: headOfWorkflowRun
};
function readEventCommit(environment, given) {
  if (given !== void 0 && !SHA.test(given)) {
    throw new CliError("The input commit must be a full hash: 40 digits from 0 to 9 and a to f.");
  }
  const event = readEvent(environment);
  if (at(event, "deleted") === true || environment["GITHUB_EVENT_NAME"] === "delete") {
    throw new CliError("The event deleted its branch or tag, so there is nothing to deploy.");
  }
  const head = HEADS[environment["GITHUB_EVENT_NAME"] ?? ""]?.(event);
  const branch = textOf(head?.branch);
  const repository = head ? textOf(head.repository) : environment["GITHUB_REPOSITORY"];
  const sha = given ?? textOf(head ? head.sha : environment["GITHUB_SHA"]);
  if (head && !(sha && branch && repository)) {
    throw new CliError("The event does not say which commit to deploy, or its repository is gone.");
  }
  const ref = branch === void 0 ? environment["GITHUB_REF"] : `refs/heads/${branch}`;
  if (!sha || !ref || !repository) return void 0;
  const repositoryId = textOf(
    head ? head.repositoryId : at(event, "repository", "id") ?? environment["GITHUB_REPOSITORY_ID"]
  );
  const pullRequest = textOf(head?.pullRequest);
  return {
    ...repositoryOf(environment["GITHUB_SERVER_URL"] ?? GITHUB, repository),
    ref,
    commit: commitOf(event, sha) ?? checkedOut(environment, sha) ?? unknownCommit(sha),
    ...repositoryId !== void 0 && { repo_id: repositoryId },
    ...pullRequest !== void 0 && { pull_request: pullRequest }
  };
}
function readEvent({ GITHUB_EVENT_PATH: path }) {
  if (!path) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new CliError(`Cannot read the event of this job: ${path}`);
  }
}
function headOfPullRequest(event) {
  const head = at(event, "pull_request", "head");
  return {
    sha: at(head, "sha"),
    branch: at(head, "ref"),
    repository: at(head, "repo", "full_name"),
    repositoryId: at(head, "repo", "id"),
    pullRequest: at(event, "pull_request", "number")
  };
}
function headOfWorkflowRun(event) {
  const run = at(event, "workflow_run");
  return {
    sha: at(run, "head_sha"),
    branch: at(run, "head_branch"),
    repository: at(run, "head_repository", "full_name"),
    repositoryId: at(run, "head_repository", "id")
  };
}
function repositoryOf(server, repository) {
  const [owner = "", repo = ""] = repository.split("/");
  if (server === GITHUB) return { provider: "github", owner, repo };
  return { provider: "git", url: `${server}/${repository}.git` };
}
function commitOf(event, sha) {
  const commits = [at(event, "head_commit"), at(event, "workflow_run", "head_commit")];
  const found = commits.find((each) => at(each, "id") === sha);
  if (!found) return void 0;
  return {
    sha,
    message: textOf(at(found, "message")) ?? "",
    author: personOf(at(found, "author")),
    committer: personOf(at(found, "committer"))
  };
}
function personOf(person) {
  const [name, email, login] = [
    textOf(at(person, "name")),
    textOf(at(person, "email")),
    textOf(at(person, "username"))
  ];
  return { ...name && { name }, ...email && { email }, ...login && { login } };
}
function checkedOut(environment, sha) {
  const { GITHUB_WORKSPACE: folder } = environment;
  if (!folder) return void 0;
  const git = gitIn({ environment, folder });
  const isThere = git("cat-file", "-e", `${sha}^{commit}`).status === 0;
  return isThere ? readCommit(git, sha) : void 0;
}
function unknownCommit(sha) {
  return { sha, message: "", author: {}, committer: {} };
}
function at(value, ...names) {
  return names.reduce((found, name) => isObject(found) ? found[name] : void 0, value);
}
function textOf(value) {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : void 0;
}

// packages/action/src/deployment.ts
import { createHash } from "node:crypto";
import { basename } from "node:path";

// packages/cli/src/named-kinds.ts
var KINDS = {
  project: {
    noun: "project",
    listCommand: "projects ls",
    listPath: "/v1/projects",
    itemPath: "/v1/projects/{project_id}",
    parameter: "project_id",
    idField: "id"
  },
  environment: {
    noun: "environment",
    listCommand: "environments ls",
    listPath: "/v1/projects/{project_id}/environments",
    itemPath: "/v1/environments/{environment_id}",
    parameter: "environment_id",
    idField: "id"
  },
  component: {
    noun: "component",
    listCommand: "components ls",
    listPath: "/v1/environments/{environment_id}/components",
    itemPath: "/v1/components/{component_id}",
    parameter: "component_id",
    idField: "id"
  },
  stack: {
    noun: "stack",
    listCommand: "stacks ls",
    listPath: "/v1/environments/{environment_id}/stacks",
    itemPath: "/v1/stacks/{stack_id}",
    parameter: "stack_id",
    idField: "id"
  },
  member: {
    noun: "member",
    listCommand: "members ls",
    listPath: "/v1/orgs/{org_id}/members",
    itemPath: "/v1/orgs/{org_id}/members/{member_id}",
    parameter: "member_id",
    idField: "membership_id"
  },
  key: {
    noun: "API key",
    listCommand: "keys ls",
    listPath: "/v1/orgs/{org_id}/api-keys",
    itemPath: "/v1/orgs/{org_id}/api-keys/{key_id}",
    parameter: "key_id",
    idField: "id"
  },
  pool: {
    noun: "runner pool",
    listCommand: "pools ls",
    listPath: "/v1/orgs/{org_id}/runner-pools",
    itemPath: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
    parameter: "pool_id",
    idField: "id"
  },
  trust: {
    noun: "trust",
    listCommand: "trusts ls",
    listPath: "/v1/orgs/{org_id}/trusts",
    itemPath: "/v1/orgs/{org_id}/trusts/{trust_id}",
    parameter: "trust_id",
    idField: "id"
  },
  serviceAccount: {
    noun: "service account",
    listCommand: "service-accounts ls",
    listPath: "/v1/orgs/{org_id}/service-accounts",
    itemPath: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
    parameter: "membership_id",
    idField: "membership_id"
  }
};

// packages/cli/src/names.ts
var ID = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
var MAXIMUM_RECORDS = 1e4;
async function findRecord(session, kind, path, text) {
  const found = await findOptionalRecord(session, kind, path, text);
  if (found) return found;
  throw new CliError(`There is no ${kind.noun} "${text}". Run: longshore ${kind.listCommand}`);
}
async function findOptionalRecord(session, kind, path, text) {
  if (isId(text)) {
    const record = await readById(session, kind, path, text);
    if (record && Object.entries(path).every(([name, id]) => (record[name] ?? id) === id)) {
      return record;
    }
  }
  const [found, other] = await listByName(session, kind, path, text);
  if (!found || !other) return found;
  const ids = `${found[kind.idField]} and ${other[kind.idField]}`;
  throw new CliError(`"${text}" is the name of two ${kind.noun}s. Use an ID: ${ids}`);
}
function isId(text) {
  return ID.test(text);
}
async function readById(session, { itemPath, parameter }, path, id) {
  try {
    return await session.read(itemPath, { path: { ...path, [parameter]: id } });
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return void 0;
    throw error;
  }
}
async function listByName(session, { listPath, isUnfiltered }, path, name) {
  const { rows } = await session.list(listPath, {
    path,
    query: isUnfiltered ? {} : { name },
    limit: MAXIMUM_RECORDS
  });
  return rows.filter((row) => row.name.normalize() === name.normalize());
}

// packages/action/src/deployment.ts
var ID2 = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
var MAXIMUM_STACKS = 1e4;
var STEP = [
  "GITHUB_REPOSITORY",
  "GITHUB_RUN_ID",
  "GITHUB_RUN_ATTEMPT",
  "GITHUB_JOB",
  "GITHUB_ACTION"
];
async function findEnvironment(session, { project, environment }) {
  if (project === void 0) {
    if (ID2.test(environment)) return { environmentId: environment, environmentName: environment };
    throw new CliError(`Set the input project: the environment "${environment}" is a name.`);
  }
  const { id } = await findRecord(session, KINDS.project, {}, project);
  const path = { project_id: id };
  const found = await findRecord(session, KINDS.environment, path, environment);
  if (found.project_id === id) return { environmentId: found.id, environmentName: found.name };
  throw new CliError(`The environment ${environment} is not one of the project ${project}.`);
}
async function listStacks(session, environmentId) {
  const options = { path: { environment_id: environmentId }, limit: MAXIMUM_STACKS };
  try {
    return (await session.list(KINDS.stack.listPath, options)).rows;
  } catch (error) {
    if (error instanceof ApiError && error.code === "unauthorized") return [];
    throw error;
  }
}
function selectStacks(stacks, given) {
  return given.map((text) => {
    const found = stacks.find(({ id }) => id === text) ?? stacks.find(({ name }) => name.normalize() === text.normalize());
    if (found) return found.id;
    if (ID2.test(text)) return text;
    throw new CliError(`The environment has no stack "${text}", or the key may not read stacks.`);
  });
}
function createDeployment(session, environmentId, stackIds, { patch, source, reason }, { signal, idempotencyKey }) {
  return session.client.post("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    body: {
      // The service validates the operations.
      ...patch && { patch },
      ...Object.keys(source).length > 0 && { source },
      ...stackIds && { stack_ids: stackIds },
      ...reason !== void 0 && { reason }
    },
    signal,
    idempotencyKey
  });
}
function stepKey(environment) {
  const output = environment["GITHUB_OUTPUT"];
  const values = STEP.map((name) => environment[name]);
  if (!output || values.some((value) => !value)) return void 0;
  const hash = createHash("sha256").update(JSON.stringify([...values, basename(output)]));
  return `github-${hash.digest("hex")}`;
}

// src/lib/json-numbers.ts
var STRING = '"(?:[^"\\\\]|\\\\.)*"?';
var STRINGS_AND_NUMBERS = new RegExp(`${STRING}|-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?`, "gs");
var STRINGS_AND_STRUCTURE = new RegExp(`${STRING}|[{}[\\],]`, "gs");
var PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
function isExactNumber(number) {
  return decimalOf(number) === decimalOf(String(Number(number)));
}
function decimalOf(number) {
  const [matched, whole = "", fraction = "", exponent = "0"] = PARTS.exec(number) ?? [];
  if (matched === void 0) return void 0;
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  if (end === 0) return "0";
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

// src/lib/exact-number.ts
var TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
function findInexactNumber(json) {
  for (const [token] of json.matchAll(TOKEN)) {
    if (!token.startsWith('"') && !isExactNumber(token)) return token;
  }
  return void 0;
}

// packages/cli/src/exact-json.ts
var LONGEST_SHOWN = 60;
function requireExactNumbers(json, owner) {
  const number = findInexactNumber(json);
  if (number === void 0) return;
  const shown = number.length > LONGEST_SHOWN ? `${number.slice(0, LONGEST_SHOWN)}…` : number;
  throw new CliError(
    `${owner} has the number ${shown}, which would change when it is stored. Write it as a string: "${shown}".`
  );
}

// packages/action/src/inputs.ts
function readInputs(environment) {
  const read = (name) => environment[`INPUT_${name.toUpperCase()}`]?.trim() || void 0;
  const url = readUrl(requireInput("url", read("url")), "The input url").replace(/\/$/, "");
  const apiKey = read("api-key");
  const timeout = read("timeout");
  return {
    url,
    apiKey: apiKey && readKey(apiKey, "The input api-key"),
    organizationId: read("org-id"),
    audience: read("audience") ?? url,
    project: read("project"),
    environment: requireInput("environment", read("environment")),
    patch: readPatch(read("patch")),
    commit: read("commit"),
    image: read("image"),
    stacks: readLines(read("stacks")),
    reason: read("reason") ?? runUrl(environment),
    wait: readBoolean("wait", read("wait") ?? "true"),
    timeoutMs: timeout === void 0 ? void 0 : parseDuration(timeout)
  };
}
function requireInput(name, value) {
  if (value !== void 0) return value;
  throw new CliError(`The input ${name} is missing.`);
}
function readPatch(text) {
  if (text === void 0) return void 0;
  const operations = parseJson2(text);
  if (Array.isArray(operations)) {
    requireExactNumbers(text, "The input patch");
    return operations;
  }
  throw new CliError(
    'The input patch must be a JSON Patch, such as [{"op":"replace","path":"/replicas","value":3}].'
  );
}
function parseJson2(text) {
  try {
    return JSON.parse(text);
  } catch {
    return void 0;
  }
}
function readLines(text) {
  return text?.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
function readBoolean(name, text) {
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  throw new CliError(`The input ${name} must be true or false.`);
}
function runUrl(environment) {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = environment;
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY || !GITHUB_RUN_ID) return void 0;
  return `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
}

// packages/action/src/report.ts
import { stripVTControlCharacters as stripVTControlCharacters2 } from "node:util";

// packages/cli/src/deployments/describe.ts
function describeCreator(creator) {
  if (!creator) return void 0;
  const { name = creator.membership_id, claims } = creator;
  return claims?.["actor"] === void 0 ? name : `${name} (${claims["actor"]})`;
}
function describeReason({
  trigger = "api",
  reason
}) {
  return [trigger === "api" ? [] : trigger, reason ?? []].flat().join(": ") || void 0;
}
function describeSeconds(seconds) {
  return seconds === void 0 ? void 0 : formatDuration(seconds * 1e3);
}
function explainStacks({
  data: { stacks = [] },
  message,
  failure_reason
}) {
  const reasons = /* @__PURE__ */ new Map();
  for (const { id, status, started_at, status_reason: reason } of stacks) {
    const isBegun = status !== "skipped" || started_at !== void 0;
    const isOwn = reason !== (message ?? failure_reason);
    if ((isBegun || isOwn) && reason) reasons.set(id, reason);
  }
  return reasons;
}
function explainOutcome({ data, message, failure_reason }) {
  const hasFailed = data.stacks?.some(({ status, status_reason }) => {
    return status === "failed" && status_reason;
  });
  return hasFailed ? void 0 : message || failure_reason;
}

// packages/cli/src/deployments/terminal-line.ts
var CONTROL = /\r|\x08|\x1b\[(\d{0,3})([CDGK])|\x1b\[([0-9;:]{0,64})m/g;
var MOVES = /\r|\x08|\x1b\[\d{0,3}[CDGK]/;
var WIDE = /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
var WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
var RESET = "\x1B[0m";
var LONGEST_STYLE = 256;
var RIGHTMOST = 999;
var space = () => ({ text: " ", style: "" });
function toShownLine(text) {
  return MOVES.test(text) ? render(new Line(text).cells) : text;
}
function shorten(text) {
  if (!MOVES.test(text)) return text;
  const { cells, cursor, style } = new Line(text);
  const gap = cursor - cells.length;
  const moved = gap > 0 ? `\x1B[${gap}C` : "";
  const again = gap < 0 ? `\r${render(cells.slice(0, cursor))}` : moved;
  return `${render(cells)}${again}${style}`;
}
var Line = class {
  cells = [];
  cursor = 0;
  style = "";
  constructor(text) {
    let at2 = 0;
    for (const match of text.matchAll(CONTROL)) {
      this.#write(text.slice(at2, match.index));
      at2 = match.index + match[0].length;
      this.#apply(match);
    }
    this.#write(text.slice(at2));
  }
  #write(text) {
    for (const character of text) {
      const before = this.cells[this.cursor - 1];
      if (before && WITHOUT_WIDTH.test(character)) before.text += character;
      else this.#put(character);
    }
  }
  #put(text) {
    const { cells, style } = this;
    while (cells.length < this.cursor) cells.push(space());
    const isHalf = cells[this.cursor]?.text === "";
    if (isHalf) cells[this.cursor - 1] = space();
    cells[this.cursor] = { text, style };
    this.cursor += 1;
    if (WIDE.test(text)) {
      cells[this.cursor] = { text: "", style };
      this.cursor += 1;
    }
    if (cells[this.cursor]?.text === "") cells[this.cursor] = space();
  }
  #apply([sequence, count = "", motion, style]) {
    if (sequence === "\r") this.cursor = 0;
    else if (sequence === "\b") this.#moveTo(this.cursor - 1);
    else if (style !== void 0) this.#setStyle(sequence, style);
    else if (motion === "G") this.#moveTo(Number(count || 1) - 1);
    else if (motion === "C") this.#moveTo(this.cursor + Number(count || 1));
    else if (motion === "D") this.#moveTo(this.cursor - Number(count || 1));
    else this.#erase(count);
  }
  #moveTo(column) {
    const rightmost = Math.max(this.cells.length, RIGHTMOST);
    this.cursor = Math.min(Math.max(0, column), rightmost);
  }
  #setStyle(sequence, parameters) {
    const isReset = /^0*$/.test(parameters);
    const isNew = isReset || /^0+[;:]/.test(parameters);
    this.style = isReset ? "" : `${isNew ? "" : this.style}${sequence}`;
    if (this.style.length > LONGEST_STYLE) this.style = sequence;
  }
  /** To the end of the line, to the cursor, or all. Half of a wide character is a space. */
  #erase(what) {
    const { cells, cursor } = this;
    if (what === "" || what === "0") {
      if (cells[cursor]?.text === "") cells[cursor - 1] = space();
      cells.length = Math.min(cells.length, cursor);
    } else if (what === "1") {
      if (cells[cursor + 1]?.text === "") cells[cursor + 1] = space();
      for (let at2 = 0; at2 <= Math.min(cursor, cells.length - 1); at2++) cells[at2] = space();
    } else if (what === "2") cells.length = 0;
  }
};
function render(cells) {
  let text = "";
  let style = "";
  for (const cell of cells) {
    if (cell.style !== style) text += `${style === "" ? "" : RESET}${cell.style}`;
    style = cell.style;
    text += cell.text;
  }
  return style === "" ? text : text + RESET;
}

// packages/cli/src/deployments/log-text.ts
var LONGEST_LINE = 65536;
var LONGEST_HISTORY = 4096;
var LineJoiner = class {
  #begun = /* @__PURE__ */ new Map();
  /** The lines that the record ends. */
  push({ stack_id: stackId, text }) {
    const joined = (this.#begun.get(stackId) ?? "") + text;
    const line = joined.length > LONGEST_HISTORY ? shorten(joined) : joined;
    const isWhole = line.endsWith("\n") || line.length >= LONGEST_LINE;
    if (!isWhole) {
      this.#begun.set(stackId, line);
      return [];
    }
    this.#begun.delete(stackId);
    return [{ stackId, text: toShownLine(line.replace(/\r?\n$/, "")) }];
  }
  /** The lines that have no end yet, as they are now. */
  get begun() {
    return [...this.#begun].map(([stackId, text]) => ({ stackId, text: toShownLine(text) }));
  }
  /** The lines that have no end. */
  flush() {
    const lines = this.begun;
    this.#begun.clear();
    return lines;
  }
};

// packages/action/src/report.ts
var DeploymentReport = class {
  id;
  /** Where people open what was deployed. */
  url;
  #job;
  #environment;
  #names;
  /** The page of the console. */
  #link;
  #deployment;
  #joiner = new LineJoiner();
  #waitingFor = [];
  #status;
  #stacks = /* @__PURE__ */ new Map();
  constructor(job2, deployment, { environment, names, link }) {
    this.id = deployment.id;
    this.#job = job2;
    this.#environment = environment;
    this.#names = names;
    this.#link = link;
    this.#deployment = deployment;
    this.#status = deployment.status;
    this.#keepStacks(deployment);
  }
  get status() {
    return this.#status;
  }
  showProgress({ status, stacks, waitingFor }) {
    if (status !== this.#status) this.#job.print(`The deployment is ${status}.`);
    this.#status = status;
    for (const reason of waitingFor)
      if (!this.#waitingFor.includes(reason)) this.#job.print(`Waiting: ${reason}`);
    this.#waitingFor = waitingFor;
    for (const stack of stacks) {
      const row = this.#stacks.get(stack.id) ?? { name: this.#nameOf(stack.id), status: "" };
      if (row.status !== stack.status) this.#job.print(`[${row.name}] is ${stack.status}`);
      this.#stacks.set(stack.id, { ...row, status: stack.status });
    }
  }
  showLine(line) {
    this.#print(this.#joiner.push(line));
  }
  end(deployment) {
    this.flushLog();
    this.#status = deployment.status;
    this.#deployment = deployment;
    this.#keepStacks(deployment);
  }
  /** What has gone wrong, for an annotation. */
  describe() {
    const failed = [...this.#stacks.values()].filter(({ status }) => status === "failed");
    const lines = failed.map(({ name, reason }) => {
      return toPlainText(reason === void 0 ? name : `${name}: ${reason}`);
    });
    const subject = `The deployment ${this.id} of ${toPlainText(this.#environment)}`;
    const outcome = explainOutcome(this.#deployment);
    return [
      `${subject} ${OUTCOMES[this.#status] ?? `is ${this.#status}`}.`,
      ...lines,
      outcome === void 0 ? [] : toPlainText(outcome)
    ].flat().join("\n");
  }
  /** A table in HTML, in which GitHub reads no Markdown: it has no empty line. */
  renderSummary() {
    const rows = [...this.#stacks.values()].map(({ name, status, reason = "" }) => {
      return `<tr><td>${code(name)}</td><td>${code(status)}</td><td>${code(reason)}</td></tr>`;
    });
    const head = "<tr><th>Stack</th><th>Status</th><th>Reason</th></tr>";
    return [
      `<h3>Deployment of ${code(this.#environment)}: ${code(this.#status)}</h3>`,
      `<p>${this.#describeDetails().join("<br>")}</p>`,
      ...this.url === void 0 ? [] : [`<p>${linkTo(this.url, this.url)}</p>`],
      ...rows.length > 0 ? [`<table>${head}`, ...rows, "</table>"] : [],
      ""
    ].join("\n");
  }
  #describeDetails() {
    const { queued_seconds, run_seconds, created_by } = this.#deployment;
    const details = [
      ["By", describeCreator(created_by)],
      ["Reason", describeReason(this.#deployment)],
      ["Waited", describeSeconds(queued_seconds)],
      ["Took", describeSeconds(run_seconds)],
      ["Ended with", explainOutcome(this.#deployment)]
    ];
    return [
      `Deployment: ${linkTo(this.#link, this.id)}`,
      ...details.flatMap(([name, value]) => value ? `${name}: ${code(value)}` : [])
    ];
  }
  /** Prints the lines of the log that have no end. */
  flushLog() {
    this.#print(this.#joiner.flush());
  }
  #print(lines) {
    for (const { stackId, text } of lines) {
      this.#job.print(`[${this.#nameOf(stackId)}] ${stripVTControlCharacters2(text)}`);
    }
  }
  #keepStacks(deployment) {
    const reasons = explainStacks(deployment);
    for (const { id, status } of deployment.data.stacks ?? []) {
      this.#stacks.set(id, { name: this.#nameOf(id), status, reason: reasons.get(id) });
    }
  }
  #nameOf(stackId) {
    return this.#names.get(stackId) ?? stackId;
  }
};
var OUTCOMES = {
  failed: "has failed",
  canceled: "was canceled",
  superseded: "was superseded by a newer one before it started"
};
var ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
function code(text) {
  if (text === "") return "";
  return `<code>${escapeHtml(text)}</code>`;
}
function linkTo(url, text) {
  return `<a href="${escapeHtml(url)}">${code(text)}</a>`;
}
function escapeHtml(text) {
  return toPlainText(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
}

// packages/action/src/unchanged.ts
var PATH2 = "/v1/environments/{environment_id}/deployments";
async function findUnchanged({ client }, environmentId, source, stackIds) {
  try {
    const path = { environment_id: environmentId };
    const { data } = await client.get(PATH2, { path, query: { status: ["succeeded"], limit: 1 } });
    const [newest] = data;
    if (!newest || !isSame(source, newest.data.source)) return void 0;
    if (!stackIds.every((id) => newest.stack_ids.includes(id))) return void 0;
    const preview = await client.get("/v1/deployments/{deployment_id}/redeployment", {
      path: { deployment_id: newest.id }
    });
    const { patch = [], changed_variables = [], superseded_ids, waiting_for = [] } = preview;
    const isBehind = waiting_for.some(({ code: code2 }) => code2 === "deployment");
    const changes = patch.length + changed_variables.length + superseded_ids.length;
    return changes > 0 || isBehind ? void 0 : newest;
  } catch (error) {
    if (error instanceof ApiError && error.code === "unauthorized") return void 0;
    throw error;
  }
}
function isSame(source, deployed) {
  return JSON.stringify(identityOf(source)) === JSON.stringify(identityOf(deployed));
}
function identityOf({ git, registry } = {}) {
  const repository = git?.provider === "git" ? git.url : `${git?.owner}/${git?.repo}`.toLowerCase();
  return [git?.provider, git && repository, git?.commit.sha, registry?.image, registry?.command];
}

// packages/action/src/action.ts
var ADVICE2 = {
  unauthenticated: "Is the input api-key right, and is the key still valid?",
  unauthorized: "The key needs the role contributor in the project, and the scope deployments:write."
};
async function runAction(job2, signal) {
  let report;
  try {
    const inputs = readInputs(job2.environment);
    const session = await openSession(inputs, job2);
    signal.throwIfAborted();
    report = await deploy(session, inputs, job2, signal);
    if (!report) return true;
    return inputs.wait ? await wait(session, inputs, report, job2, signal) : true;
  } catch (thrown) {
    if (signal.aborted) job2.annotate("warning", describeInterruption(report));
    else job2.annotate("error", describeError2(thrown));
    return false;
  } finally {
    if (report) {
      report.flushLog();
      job2.setOutput("status", report.status);
      job2.addSummary(report.renderSummary());
    }
  }
}
async function openSession(inputs, job2) {
  await useProxies(job2.environment).catch((error) => {
    if (!(error instanceof RunnerError)) throw error;
    throw new CliError(error.message);
  });
  const keyed = new KeyedFetch(createCredential(inputs, job2), job2);
  await keyed.open();
  const connection = { url: inputs.url, apiKey: "replaced", source: "the inputs" };
  return new Session(connection, keyed.fetch);
}
async function deploy(session, inputs, job2, signal) {
  const source = readSource(inputs, job2);
  const { environmentId, environmentName } = await findEnvironment(session, inputs);
  const stacks = await listStacks(session, environmentId);
  const stackIds = inputs.stacks && selectStacks(stacks, inputs.stacks);
  if (!inputs.patch && source.git) {
    const wanted = stackIds ?? stacks.map(({ id }) => id);
    const unchanged = await findUnchanged(session, environmentId, source, wanted);
    if (unchanged) return showUnchanged(session, unchanged, environmentName, job2);
  }
  const idempotencyKey = stepKey(job2.environment);
  const options = { signal, idempotencyKey };
  const cleaned = { patch: inputs.patch, source, reason: readReason(inputs.reason, job2) };
  const deployment = await createDeployment(session, environmentId, stackIds, cleaned, options);
  job2.setOutput("deployment-id", deployment.id);
  const link = session.linkTo(deployment.id);
  job2.print(`Deployment ${deployment.id} of ${environmentName}: ${link}`);
  job2.print(`It is ${deployment.status} since ${deployment.created_at}.`);
  const names = new Map(stacks.map(({ id, name }) => [id, name]));
  return new DeploymentReport(job2, deployment, { environment: environmentName, names, link });
}
function readSource({ commit, image }, job2) {
  const git = readEventCommit(job2.environment, commit);
  const source = { ...git && { git }, ...image !== void 0 && { registry: { image } } };
  const { value, remarks } = cleanSource(source);
  for (const remark of remarks) job2.annotate("warning", remark);
  return value;
}
async function showUnchanged(session, deployment, environment, job2) {
  const { id, data } = deployment;
  const commit = data.source?.git?.commit.sha.slice(0, 7);
  job2.annotate(
    "notice",
    `Nothing new to deploy: ${environment} already runs ${commit}, from the deployment ${id}. To deploy it again: longshore deployments redeploy ${id}`
  );
  job2.setOutput("deployment-id", id);
  job2.setOutput("status", deployment.status);
  await setOutputs(session, deployment, job2);
}
async function setOutputs(session, deployment, job2) {
  const stacks = await readDeployedStacks(session, deployment);
  const url = stacks.flatMap((stack) => stack.outputs?.["url"] ?? []).find(isSafeUrl);
  if (url !== void 0) job2.setOutput("url", url);
  job2.setOutput("outputs", JSON.stringify(outputsByStack(stacks)));
  return url;
}
function readReason(reason, job2) {
  if (reason === void 0) return void 0;
  const { value, remarks } = cleanReason(reason);
  for (const remark of remarks) job2.annotate("warning", remark);
  return value;
}
async function wait(session, { timeoutMs }, report, job2, signal) {
  const deployment = await followDeployment(session.client, report.id, {
    signal,
    timeoutMs,
    onStatus: (progress) => report.showProgress(progress),
    onLine: (line) => report.showLine(line),
    onIncompleteLog: () => job2.print("The end of the log has not arrived.")
  });
  report.end(deployment);
  if (deployment.status === "succeeded") {
    report.url = await setOutputs(session, deployment, job2);
    return true;
  }
  job2.annotate("error", report.describe());
  return false;
}
function describeInterruption(report) {
  if (!report) {
    return "The job was canceled. If the deployment was created, it continues: longshore deployments ls shows it.";
  }
  return `The job was canceled, and the deployment ${report.id} continues. To cancel it: longshore deployments cancel ${report.id}`;
}
function describeError2(thrown) {
  const error = explain(thrown, ADVICE2);
  if (error instanceof CliError) return error.message;
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

// packages/action/src/job.ts
import { appendFileSync } from "node:fs";

// packages/runner/src/inert-text.ts
var COMMAND = /(#[\p{Default_Ignorable_Code_Point}\p{Cf}]*#[\p{Default_Ignorable_Code_Point}\p{Cf}\w]*)\[/gu;
var LINE_COMMAND = /^[\s\p{Default_Ignorable_Code_Point}\p{Cf}]*(?=:[\p{Default_Ignorable_Code_Point}\p{Cf}]*:|---|\+\+\+|~~~|\^\^\^)/u;
function toInertText(text) {
  return text.replaceAll(/[^\r\n]+/g, toInertLine);
}
function toInertLine(line) {
  return line.replaceAll(COMMAND, "$1 [").replace(LINE_COMMAND, "$&\\");
}

// packages/action/src/job.ts
var Job = class {
  environment;
  #write;
  constructor(environment, write) {
    this.environment = environment;
    this.#write = write;
  }
  /** A line of the log, which is never a command for GitHub, whatever its text. */
  print(text) {
    this.#write(toInertText(toPlainText(text)));
  }
  /** Hides the text in all that the job prints from now on. */
  mask(secret) {
    this.#write(`::add-mask::${escapeData(secret)}`);
  }
  annotate(level, message) {
    this.#write(`::${level} title=Longshore::${escapeData(message)}`);
  }
  setOutput(name, value) {
    this.#append("GITHUB_OUTPUT", `${name}=${toPlainText(value)}
`);
  }
  /** Markdown, on the page of the run. */
  addSummary(markdown) {
    this.#append("GITHUB_STEP_SUMMARY", `${markdown}
`);
  }
  #append(variable, text) {
    const path = this.environment[variable];
    if (path) appendFileSync(path, text);
  }
};
function escapeData(text) {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

// packages/action/src/main.ts
var canceled = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => canceled.abort(new Error(`The job was canceled (${signal}).`)));
}
var job = new Job(process.env, (line) => void process.stdout.write(`${line}
`));
process.exitCode = await runAction(job, canceled.signal) ? 0 : 1;
