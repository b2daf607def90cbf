import { exports } from "cloudflare:workers";
import { refuseLeak } from "./canary-secrets.ts";
import { complaints } from "./contract.ts";

/** A reply's body has been held against its declared schema; what a test reads of it is its affair. */
export type Parsed = ReturnType<typeof JSON.parse>;

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Parsed;
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** The Worker itself, as Wrangler's configuration starts it. */
const worker: Fetch = (request) => exports.default.fetch(request);

/** A caller with one API key. Every reply to it is held against the OpenAPI document. */
export class Client {
  readonly key: string | undefined;
  readonly #fetch: Fetch;
  readonly #address = `192.0.2.${crypto.randomUUID()}`;

  constructor(key: string | undefined, fetch: Fetch = worker) {
    this.key = key;
    this.#fetch = fetch;
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

  /** The same caller by way of another handler, for instance one with instruments. */
  via(fetch: Fetch): Client {
    return new Client(this.key, fetch);
  }

  /** `body` goes as JSON; a string goes as it is, and bytes also without a content type. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const isTyped = "content-type" in headers || body instanceof Uint8Array;
    const isJson = body !== undefined && !isTyped;
    const request = new Request(`https://longshore.test${path}`, {
      method,
      headers: {
        accept: "application/json",
        "cf-connecting-ip": this.#address,
        ...(this.key !== undefined && { "x-api-key": this.key }),
        ...(isJson && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
    const response = await this.#fetch(request);
    const text = await response.text();
    const { status, headers: replyHeaders } = response;
    const url = new URL(request.url);
    refuseLeak(url.pathname, text);
    const wrong = complaints(method, url.pathname, status, replyHeaders, text);
    if (wrong.length > 0) {
      throw new Error(`${method} ${path} broke the contract: ${wrong.join("; ")}\n${text}`);
    }
    const isJsonReply = replyHeaders.get("content-type")?.startsWith("application/json");
    return {
      status,
      headers: replyHeaders,
      text,
      body: isJsonReply && text ? JSON.parse(text) : undefined,
    };
  }
}
