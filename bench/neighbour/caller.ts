import { Agent, request } from "node:http";

export interface Reply {
  status: number;
  /** Parsed JSON. */
  body: ReturnType<typeof JSON.parse>;
  /** To the end of the response. */
  milliseconds: number;
}

/** Sends requests with one API key or runner token, over kept connections. */
export class Caller {
  readonly #url: URL;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: URL, key: string) {
    this.#url = url;
    this.#key = key;
  }

  with(key: string): Caller {
    return new Caller(this.#url, key);
  }

  send(method: string, path: string, body?: unknown, headers: object = {}): Promise<Reply> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.sendText(method, path, text, { "content-type": "application/json", ...headers });
  }

  sendText(
    method: string,
    path: string,
    body: string | undefined,
    headers: object,
  ): Promise<Reply> {
    const began = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const sent = request(
      new URL(path, this.#url).href,
      {
        method,
        agent: this.#agent,
        headers: { "x-api-key": this.#key, "content-type": "text/plain", ...headers },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("end", () => {
          const isJson = response.headers["content-type"]?.startsWith("application/json");
          resolve({
            status: response.statusCode ?? 0,
            body: isJson && text !== "" ? JSON.parse(text) : undefined,
            milliseconds: performance.now() - began,
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
    return promise;
  }

  /** @throws Error unless the status is 2xx. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ): Promise<Reply["body"]> {
    const reply = await this.send(method, path, body, headers);
    if (reply.status < 300) return reply.body;
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }
}
