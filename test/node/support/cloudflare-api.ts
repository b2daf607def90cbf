import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

interface Upload {
  script: string;
  bindings: Record<string, string>;
}

interface Reply {
  status?: number;
  result: unknown;
  error?: { code: number; message: string };
}

const NOT_FOUND = { status: 404, result: null, error: { code: 10007, message: "Not found." } };
const SUBDOMAIN = "acme";

/** Stands in for the part of Cloudflare's API that `wrangler deploy` calls, and runs what was uploaded. */
export class CloudflareApi {
  /** Of each upload. */
  static readonly version = "5f0c1a52-7d44-4c7e-9a75-0d1f3a7b9c11";
  readonly accountId = "0123456789abcdef0123456789abcdef";
  readonly token = "canary-of-cloudflare";
  /** The tokens of the requests. */
  readonly tokens = new Set<string | undefined>();
  readonly #workers = new Map<string, Upload>();
  readonly #server = createServer(async (request, response) => {
    this.tokens.add(request.headers.authorization);
    const { status = 200, result, error } = await this.#reply(request);
    const body = { success: status < 400, result, errors: error ? [error] : [], messages: [] };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });

  static async start(): Promise<CloudflareApi> {
    const api = new CloudflareApi();
    api.#server.listen(0, "127.0.0.1");
    await once(api.#server, "listening");
    return api;
  }

  /** What wrangler takes as CLOUDFLARE_API_BASE_URL. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/client/v4`;
  }

  get names(): string[] {
    return [...this.#workers.keys()].toSorted();
  }

  /** What the Worker at the URL responds. */
  async fetch(url: string): Promise<string> {
    const [name = "", ...domain] = new URL(url).hostname.split(".");
    const upload = this.#workers.get(name);
    if (!upload || domain.join(".") !== `${SUBDOMAIN}.workers.dev`) throw new Error(`No ${url}.`);
    const miniflare = new Miniflare(convertV4MiniflareOptions({ modules: true, ...upload }));
    try {
      return await (await miniflare.dispatchFetch(url)).text();
    } finally {
      await miniflare.dispose();
    }
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const { pathname } = new URL(request.url ?? "", this.url);
    const path = pathname.replace(`/client/v4/accounts/${this.accountId}/workers/`, "");
    const [kind, name = "", part] = path.split("/");
    if (path === "subdomain") return { result: { subdomain: SUBDOMAIN } };
    // The first upload of a Worker, and each version after it.
    if (request.method === "PUT" || part === "versions") {
      this.#workers.set(name, await readUpload(request));
      const id = CloudflareApi.version;
      const resources = { script: { etag: id } };
      return { result: { id, deployment_id: id, startup_time_ms: 1, resources } };
    }
    if (!this.#workers.has(name)) return NOT_FOUND;
    const isEnabled = { enabled: true, previews_enabled: false };
    if (kind === "services") return { result: { default_environment: { script: {} } } };
    if (part === "deployments") return { result: { deployments: [] } };
    if (part === "settings") return { result: { bindings: [] } };
    return { result: { id: name, name, subdomain: isEnabled } };
  }
}

async function readUpload(request: IncomingMessage): Promise<Upload> {
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  const form = await new Response(new Uint8Array(await buffer(request)), { headers }).formData();
  const { main_module: main, bindings } = JSON.parse(String(form.get("metadata")));
  const file = form.get(main);
  if (!(file instanceof File)) throw new Error(`The upload has no ${main}.`);
  const texts = bindings.map(({ name, text }: { name: string; text: string }) => [name, text]);
  return { script: await file.text(), bindings: Object.fromEntries(texts) };
}
