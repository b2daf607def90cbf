import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../src/index.ts";
import { assertNoLeak } from "./canary-secrets.ts";
import { contractViolations } from "./contract.ts";

/** Untyped, because `contractViolations` has checked every body against its declared schema. */
export type Parsed = ReturnType<typeof JSON.parse>;

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Parsed;
}

/** What a refused request gets: its status, and the code of the error. */
export const refusal = ({ status, body }: Reply) => [status, body.code];

/** A client address of its own: all requests without one share a limit. */
export function newAddress(): string {
  return `192.0.2.${crypto.randomUUID()}`;
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** Calls the entry point directly: through the binding to the Worker, a request takes twice as long. */
const callWorker: Fetch = (request) =>
  worker.fetch(new Request(request), env, createExecutionContext());

/** As a browser sends them from a page of the same origin. */
function cookieHeaders(session: string): Record<string, string> {
  return { cookie: `__Host-longshore=${session}`, "sec-fetch-site": "same-origin" };
}

/** Sends requests with one API key or one session, and checks every reply against the OpenAPI document. */
export class Client {
  readonly key: string | undefined;
  readonly session: string | undefined;
  readonly #fetch: Fetch;
  readonly #address = newAddress();

  constructor(key: string | undefined, fetch: Fetch = callWorker, session?: string) {
    this.key = key;
    this.session = session;
    this.#fetch = fetch;
  }

  /** Sends the cookie of a session, and no key. */
  static withSession(session: string): Client {
    return new Client(undefined, callWorker, session);
  }

  /** Undefined for what is not the JSON of a client. */
  static ofJson(json: unknown): Client | undefined {
    if (!(json instanceof Object && "credentials" in json)) return undefined;
    const { key, session } = json.credentials as Pick<Client, "key" | "session">;
    return new Client(key, callWorker, session);
  }

  toJSON(): object {
    return { credentials: { key: this.key, session: this.session } };
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.request("GET", path, undefined, headers);
  }

  post(path: string, body: unknown): Promise<Reply> {
    return this.request("POST", path, body);
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.request("PUT", path, body);
  }

  patch(path: string, body?: unknown): Promise<Reply> {
    return this.request("PATCH", path, body);
  }

  delete(path: string): Promise<Reply> {
    return this.request("DELETE", path);
  }

  /** The same credential with another handler, such as an instrumented one. */
  via(fetch: Fetch): Client {
    return new Client(this.key, fetch, this.session);
  }

  /** Sends `body` as JSON, a string unchanged, and bytes unchanged without a content type. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const request = this.#toRequest(method, path, body, headers);
    const response = await this.#fetch(request);
    const text = await response.text();
    const { status, headers: replyHeaders } = response;
    const url = new URL(request.url);
    assertNoLeak(url.pathname, text);
    const violations = contractViolations(method, url.pathname, status, replyHeaders, text);
    if (violations.length > 0) {
      throw new Error(`${method} ${path} broke the contract: ${violations.join("; ")}\n${text}`);
    }
    const isJsonReply = replyHeaders.get("content-type")?.startsWith("application/json");
    return {
      status,
      headers: replyHeaders,
      text,
      body: isJsonReply && text ? JSON.parse(text) : undefined,
    };
  }

  /** The response itself, for a body that does not end. */
  async raw(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#fetch(this.#toRequest(method, path, undefined, headers));
  }

  #toRequest(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Request {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const isTyped = "content-type" in headers || body instanceof Uint8Array;
    const isJson = body !== undefined && !isTyped;
    return new Request(`https://longshore.test${path}`, {
      method,
      headers: {
        accept: "application/json",
        "cf-connecting-ip": this.#address,
        ...(this.key !== undefined && { "x-api-key": this.key }),
        ...(this.session !== undefined && cookieHeaders(this.session)),
        ...(isJson && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
  }
}
