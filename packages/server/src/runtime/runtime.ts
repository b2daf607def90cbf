import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { MiniflareOptions } from "miniflare";
import { type DatabaseAddress, DatabaseWorker } from "../database/database-worker.ts";
import { withoutSignalListeners } from "../signals.ts";
import { readCertificateAuthorities } from "./certificate-authorities.ts";
import { TOKEN_HEADER } from "./entry.ts";
import type { OutgoingNetwork } from "./outgoing-network.ts";
import { requireRuntimeProgram } from "./runtime-program.ts";
import { BUNDLE_FILE, ENTRY_FILE, type WorkerPackage } from "./worker-package.ts";

const NAME = "longshore";
const OUTBOUND = "outbound";
const HOST = "127.0.0.1";
const REQUESTS = "requests";
const SCHEDULE = "schedule";

/** A line that the Worker has logged, or the runtime. */
export interface RuntimeLine {
  level: string;
  message: string;
}

export interface RuntimeOptions {
  worker: WorkerPackage;
  /** The folder of databases, objects and queues. */
  state: string;
  /** The address that people use. */
  url: URL;
  /** Settings and secrets of the Worker. */
  bindings: Readonly<Record<string, string>>;
  outgoing: OutgoingNetwork;
  onLine(line: RuntimeLine): void;
}

export interface Runtime {
  /** Where requests go, with these headers. */
  requests: { port: number; headers: Readonly<Record<string, string>> };
  database: DatabaseAddress;
  /** The gauges that the Worker reads from its database. */
  readGauges(): Promise<string>;
  /** What the platform does every minute. */
  runSchedule(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Starts workerd with the Worker. Only this process can call it. */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  requireRuntimeProgram();
  // Loading it takes most of a second, which what fails before should not wait for.
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import("miniflare");
  const token = randomBytes(32).toString("hex");
  const database = new DatabaseWorker();
  const { d1Databases = {} } = options.worker.settings;
  const miniflareOptions = {
    ...convertV4MiniflareOptions({
      host: HOST,
      port: 0,
      log: new Log(LogLevel.NONE),
      logRequests: false,
      cf: false,
      handleStructuredLogs: options.onLine,
      workers: [
        database.options(d1Databases),
        describeWorker(options, token),
        describeOutbound(options),
      ],
    }),
    resourcePersistencePath: options.state,
  } as MiniflareOptions;
  // It would kill workerd while requests run.
  const miniflare = withoutSignalListeners(() => new Miniflare(miniflareOptions));
  await miniflare.ready;
  const portOf = async (entrypoint: string) =>
    Number((await miniflare.unsafeGetDirectURL(NAME, entrypoint)).port);
  const headers = { [TOKEN_HEADER]: token };
  const [requestPort, schedulePort] = [await portOf(REQUESTS), await portOf(SCHEDULE)];
  return {
    requests: { port: requestPort, headers },
    database: await database.address(miniflare),
    readGauges: async () => {
      const authorization = `Bearer ${options.bindings["METRICS_TOKEN"]}`;
      const url = `http://${HOST}:${requestPort}/metrics`;
      try {
        const request = { ...headers, authorization, "cf-connecting-ip": HOST };
        const response = await fetch(url, { headers: request });
        return response.ok ? await response.text() : "";
      } catch {
        // workerd is starting again. The next scrape has them.
        return "";
      }
    },
    runSchedule: async (signal) => {
      const url = `http://${HOST}:${schedulePort}/`;
      const response = await fetch(url, { method: "POST", headers, signal });
      await response.arrayBuffer();
    },
    stop: () => miniflare.dispose(),
  };
}

function describeWorker({ worker, url, bindings }: RuntimeOptions, token: string) {
  const { vars, assets, workerFirst, ...settings } = worker.settings;
  const module = (name: string) => ({ type: "ESModule" as const, path: join(worker.folder, name) });
  return {
    ...settings,
    name: NAME,
    modules: [{ ...module("main.js"), contents: MAIN }, module(ENTRY_FILE), module(BUNDLE_FILE)],
    modulesRoot: worker.folder,
    assets: { ...assets, directory: worker.assets },
    bindings: {
      ...vars,
      ...bindings,
      SERVER_TOKEN: token,
      SERVER_PROTOCOL: url.protocol,
      WORKER_FIRST: [...workerFirst],
    },
    outboundService: OUTBOUND,
    unsafeDirectSockets: [REQUESTS, SCHEDULE].map((entrypoint) => ({
      host: HOST,
      port: 0,
      entrypoint,
    })),
  };
}

/** Sends the Worker's own requests. */
function describeOutbound({ worker, outgoing }: RuntimeOptions) {
  const tlsOptions = { trustBrowserCas: true, trustedCertificates: readCertificateAuthorities() };
  const network = { allow: [...outgoing.allow], deny: [...outgoing.deny], tlsOptions };
  const { compatibilityDate } = worker.settings;
  const script = "export default { fetch: (request, env) => env.NETWORK.fetch(request) };";
  return {
    ...(compatibilityDate !== undefined && { compatibilityDate }),
    name: OUTBOUND,
    modules: true as const,
    script,
    serviceBindings: { NETWORK: { network } },
  };
}

/**
 * What this process calls, and the Worker as it is deployed for the queue. Its `fetch` wants the token, too: Miniflare's own
 * port leads there.
 */
const MAIN = `import main from "./${BUNDLE_FILE}";
import { createEntry } from "./${ENTRY_FILE}";
export * from "./${BUNDLE_FILE}";
export const { ${REQUESTS}, ${SCHEDULE} } = createEntry(main);
export default { ...main, fetch: ${REQUESTS}.fetch };
`;
