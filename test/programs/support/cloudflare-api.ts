import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface Version {
  id: string;
  number: number;
  tag: string | undefined;
  script: string;
  bindings: Record<string, string>;
  /** The types of the bindings by their names. */
  types: Record<string, string>;
}

interface Worker {
  versions: Version[];
  deployed: string;
}

interface Handler {
  fetch(request: Request, env: Record<string, string>): Response | Promise<Response>;
}

interface Reply {
  status?: number;
  result: unknown;
  error?: { code: number; message: string };
}

const NOT_FOUND = { status: 404, result: null, error: { code: 10007, message: "Not found." } };
const SUBDOMAIN = "acme";
const PROXY = "/fetch";

/** What the uploaded module does, in this process: it has nothing but the standard APIs, and no runtime starts. */
async function respond({ script, bindings }: Version, url: string): Promise<string> {
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  const { default: worker } = module as { default: Handler };
  return (await worker.fetch(new Request(url), bindings)).text();
}

/** Stands in for the part of Cloudflare's API that wrangler calls, and runs what was uploaded. */
export class CloudflareApi {
  readonly accountId = "0123456789abcdef0123456789abcdef";
  readonly token = "canary-of-cloudflare";
  /** The tokens of the requests. */
  readonly tokens = new Set<string | undefined>();
  /** Called before each change, with its method and path. What it throws is the error of the reply. */
  beforeChange: (change: string) => Promise<void> | void = () => undefined;
  readonly #workers = new Map<string, Worker>();
  readonly #server = createServer((request, response) => this.#answer(request, response));

  static async start(): Promise<CloudflareApi> {
    const api = new CloudflareApi();
    api.#server.listen(0, "127.0.0.1");
    await once(api.#server, "listening");
    return api;
  }

  /** What wrangler takes as CLOUDFLARE_API_BASE_URL. */
  get url(): string {
    return `${this.origin}/client/v4`;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Responds what the Worker at the URL of its parameter `url` does. */
  get proxy(): string {
    return `${this.origin}${PROXY}`;
  }

  get names(): string[] {
    return [...this.#workers.keys()].toSorted();
  }

  /** What an upload leaves, for tests that begin with a Worker. Returns the ID of its version. */
  add(name: string, upload: Partial<Upload> & Pick<Upload, "script">): string {
    this.#upload(name, { bindings: {}, types: {}, tag: undefined, ...upload }, true);
    return this.#workers.get(name)?.deployed ?? "";
  }

  /** All versions of the Worker, oldest first. */
  versions(name: string): readonly Version[] {
    return this.#workers.get(name)?.versions ?? [];
  }

  /** The version of the Worker that receives requests. */
  deployed(name: string): Version | undefined {
    const { deployed } = this.#workers.get(name) ?? {};
    return this.versions(name).find(({ id }) => id === deployed);
  }

  /** What the Worker at the URL responds. */
  async fetch(url: string): Promise<string> {
    const [name = "", ...domain] = new URL(url).hostname.split(".");
    const version = this.deployed(name);
    if (!version || domain.join(".") !== `${SUBDOMAIN}.workers.dev`) throw new Error(`No ${url}.`);
    return respond(version, url);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.origin);
    if (url.pathname === PROXY) {
      response.end(await this.fetch(url.searchParams.get("url") ?? ""));
      return;
    }
    this.tokens.add(request.headers.authorization);
    const {
      status = 200,
      result,
      error,
    } = await this.#reply(request, url).catch((thrown) => ({
      status: 500,
      result: null,
      error: { code: 10013, message: String(thrown) },
    }));
    const body = { success: status < 400, result, errors: error ? [error] : [], messages: [] };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  async #reply(request: IncomingMessage, { pathname }: URL): Promise<Reply> {
    const path = pathname.replace(`/client/v4/accounts/${this.accountId}/workers/`, "");
    const [kind, name = "", part, id] = path.split("/");
    if (path === "subdomain") return { result: { subdomain: SUBDOMAIN } };
    if (request.method !== "GET") await this.beforeChange(`${request.method} ${path}`);
    const isUpload = request.method === "PUT" && part === undefined;
    // The first upload of a Worker, and each version after it.
    if (isUpload || (request.method === "POST" && part === "versions")) {
      return this.#upload(name, await readUpload(request), isUpload);
    }
    const worker = this.#workers.get(name);
    if (!worker) return NOT_FOUND;
    if (kind === "services") return { result: { default_environment: { script: {} } } };
    if (part === "versions") return present(worker.versions, id);
    if (part === "deployments") return this.#deploy(worker, request);
    if (part === "settings") return { result: { bindings: [] } };
    const subdomain = { enabled: true, previews_enabled: false };
    return { result: { id: name, name, subdomain, ...subdomain } };
  }

  #upload(name: string, upload: Upload, isDeployed: boolean): Reply {
    const worker = this.#workers.get(name) ?? { versions: [], deployed: "" };
    const version = { ...upload, id: randomUUID(), number: worker.versions.length + 1 };
    worker.versions.push(version);
    if (isDeployed) worker.deployed = version.id;
    this.#workers.set(name, worker);
    const { id } = version;
    const resources = { script: { etag: id } };
    return { result: { id, deployment_id: id, startup_time_ms: 1, resources } };
  }

  async #deploy(worker: Worker, request: IncomingMessage): Promise<Reply> {
    if (request.method === "POST") {
      const { versions } = JSON.parse(String(await buffer(request)));
      const { version_id } = versions[0];
      if (!worker.versions.some(({ id }) => id === version_id)) return NOT_FOUND;
      worker.deployed = version_id;
    }
    const versions = [{ version_id: worker.deployed, percentage: 100 }];
    const deployment = { id: worker.deployed, created_on: dateOf(1), source: "wrangler", versions };
    return { result: request.method === "POST" ? deployment : { deployments: [deployment] } };
  }
}

/** As `GET …/versions` and `GET …/versions/ID` have it. */
function present(versions: readonly Version[], wanted: string | undefined): Reply {
  const items = versions.map(({ id, number, tag }) => ({
    id,
    number,
    metadata: { created_on: dateOf(number), author_email: "ada@example.com", source: "wrangler" },
    annotations: tag === undefined ? {} : { "workers/tag": tag },
    resources: { bindings: [], script: {}, script_runtime: {} },
  }));
  if (wanted === undefined) return { result: { items: items.toReversed() } };
  const found = items.find(({ id }) => id === wanted);
  return found ? { result: found } : NOT_FOUND;
}

function dateOf(number: number): string {
  return new Date(Date.UTC(2026, 0, number)).toISOString();
}

type Upload = Omit<Version, "id" | "number">;

async function readUpload(request: IncomingMessage): Promise<Upload> {
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  const form = await new Response(new Uint8Array(await buffer(request)), { headers }).formData();
  const {
    main_module: main,
    bindings,
    annotations = {},
  } = JSON.parse(String(form.get("metadata")));
  const file = form.get(main);
  if (!(file instanceof File)) throw new Error(`The upload has no ${main}.`);
  const members = (value: "text" | "type") =>
    Object.fromEntries(bindings.map((each: Record<string, string>) => [each["name"], each[value]]));
  const tag = annotations["workers/tag"];
  return { script: await file.text(), bindings: members("text"), types: members("type"), tag };
}
