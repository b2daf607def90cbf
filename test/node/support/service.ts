import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { bootstrap } from "../../../scripts/lib/local-api.ts";
import { newSecrets } from "../../../scripts/lib/secrets.ts";
import { type RunningWorker, start } from "../../../scripts/lib/workers.ts";

/** An untyped reply body. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** The bundled Worker in Miniflare with its static assets, and one organization. */
export interface Service extends RunningWorker {
  owner: ApiClient;
  organizationId: string;
}

/** Uses new secrets; `given` overrides them and adds other bindings. The data outlives it in a `folder`. */
export async function startService(
  given: Record<string, string> = {},
  folder?: string,
  port = 0,
): Promise<Service> {
  const bindings: Record<string, string> = { ...newSecrets(), ...given };
  const own =
    folder === undefined ? mkdtempSync(join(inject("dataFolder"), "longshore-data-")) : undefined;
  const data = folder ?? own ?? "";
  if (readdirSync(data).length === 0) cpSync(inject("migrated"), data, { recursive: true });
  const settings = inject("workerSettings");
  const options = { folder: data, port, assets: true, settings };
  const worker = await start(inject("bundle"), bindings, options);
  const key = await bootstrap(worker.url.origin, bindings["BOOTSTRAP_TOKEN"] ?? "");
  const owner = new ApiClient(worker.url, key ?? "");
  const { data: organizations } = await owner.call("GET", "/v1/orgs");
  const stop = async () => {
    await worker.stop();
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  };
  return { ...worker, stop, owner, organizationId: organizations[0].id };
}

/** Sends requests with one API key. */
export class ApiClient {
  readonly key: string;
  readonly #url: URL;

  constructor(url: URL, key: string) {
    this.#url = url;
    this.key = key;
  }

  /** Throws unless the status is 2xx. */
  async call(method: string, path: string, body?: object): Promise<Parsed> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: { "x-api-key": this.key, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }
}
