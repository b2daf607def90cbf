import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject } from "vitest";
import { bootstrap } from "../../../packages/server/src/first-key.ts";
import { newSecrets } from "../../../packages/server/src/secrets.ts";
import { type RunningWorker, start } from "../../../scripts/lib/workers.ts";
import { tablesChildrenFirst } from "../../support/empty-database.ts";
import { withRuntimeProgram } from "./runtime-program.ts";

/** An untyped reply body. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** The bundled Worker in Miniflare, and one organization. Static assets are at `pages` alone, which takes `port`. */
export interface Service extends RunningWorker {
  owner: ApiClient;
  organizationId: string;
}

interface Started {
  worker: RunningWorker;
  bootstrapToken: string;
}

/** What several files give to their services. */
const SHARED = [{}, { ALLOW_INSECURE_WEBHOOKS: "true" }, { ALLOW_NEW_ORGANIZATIONS: "true" }].map(
  (given) => JSON.stringify(given),
);

/**
 * Those of files that have ended, by what they were given. They go on until this process ends, which runs one file after
 * another.
 */
const free = new Map(SHARED.map((given) => [given, [] as Started[]]));

/**
 * Without a folder or a port, it may be that of a file before that was given the same, with an empty database. Otherwise
 * it has new secrets; `given` overrides them and adds other bindings. The data outlives it in a `folder`.
 */
export async function startService(
  given: Record<string, string> = {},
  folder?: string,
  port = 0,
): Promise<Service> {
  const shared = folder === undefined && port === 0 ? free.get(JSON.stringify(given)) : undefined;
  const known = shared?.pop();
  if (known) await deleteRows(known.worker.d1);
  const own =
    known || folder !== undefined
      ? undefined
      : mkdtempSync(join(inject("dataFolder"), "longshore-data-"));
  const started = known ?? (await startWorker(given, folder ?? own ?? "", port));
  const { worker, bootstrapToken } = started;
  const key = await bootstrap(worker.url.origin, bootstrapToken);
  const owner = new ApiClient(worker.url, key ?? "");
  const { data: organizations } = await owner.call("GET", "/v1/orgs");
  const stop = async () => {
    if (shared) {
      // No delivery is repeated while another test listens.
      if ("ALLOW_INSECURE_WEBHOOKS" in given) await deleteRows(worker.d1);
      shared.push(started);
      return;
    }
    await worker.stop();
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  };
  return { ...worker, stop, owner, organizationId: organizations[0].id };
}

/** The service that the tests of a file or a group share. It has its members once the first of these tests begins. */
export function useService(given: Record<string, string> = {}): Service {
  const service = {} as Service;
  beforeAll(async () => {
    Object.assign(service, await startService(given));
  });
  afterAll(() => service.stop());
  return service;
}

async function startWorker(
  given: Record<string, string>,
  folder: string,
  port: number,
): Promise<Started> {
  const bindings: Record<string, string> = { ...newSecrets(), ...given };
  if (readdirSync(folder).length === 0) cpSync(inject("migrated"), folder, { recursive: true });
  const options = {
    folder,
    port,
    assets: true,
    isDirect: true,
    settings: inject("workerSettings"),
  };
  const worker = await withRuntimeProgram(inject("runtimeProgram"), () =>
    start(inject("bundle"), bindings, options),
  );
  return { worker, bootstrapToken: bindings["BOOTSTRAP_TOKEN"] ?? "" };
}

/** As after the migrations. */
async function deleteRows(d1: D1Database): Promise<void> {
  const tables = (await tablesChildrenFirst(d1)).filter((name) => name !== "d1_migrations");
  await d1.batch(tables.map((name) => d1.prepare(`delete from "${name}"`)));
}

/** With an API key of its own, because the requests of each are limited. */
export async function newClient(
  { owner, organizationId, url }: Service,
  body: object = {},
): Promise<ApiClient> {
  const path = `/v1/orgs/${organizationId}/api-keys`;
  const { key } = await owner.call("POST", path, { name: "test", ...body });
  return new ApiClient(url, key);
}

/** Sends requests with one API key. */
export class ApiClient {
  readonly key: string;
  readonly url: URL;

  constructor(url: URL, key: string) {
    this.url = url;
    this.key = key;
  }

  /** Throws unless the status is 2xx. */
  async call(method: string, path: string, body?: object): Promise<Parsed> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { "x-api-key": this.key, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }
}

/** What a call throws. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
}
