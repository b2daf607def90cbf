import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import {
  type Databases,
  DatabaseWorker,
} from "../../packages/server/src/database/database-worker.ts";
import { newSecrets } from "../../packages/server/src/secrets.ts";
import { ROOT, WRANGLER } from "./wrangler.ts";

const CONFIG = join(ROOT, "wrangler.toml");
const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_LOG: "error",
};

/** A Worker as `npm run deploy` would upload it. */
export interface Bundle {
  file: string;
  /** Bytes, after gzip. */
  compressed: number;
}

export interface RunningWorker {
  url: URL;
  /** With the static assets. */
  pages: URL;
  d1: D1Database;
  /** Runs the cron trigger. */
  sweep(): Promise<void>;
  /** The queue of deliveries. */
  queue: Queue;
  stop(): Promise<void>;
}

/**
 * Bundles an entry point, relative to the repository, with the settings of wrangler.toml.
 * @param root Of another checkout, to compare with it.
 */
export function bundle(entry: string, folder: string, root = ROOT): Bundle {
  const outdir = join(folder, basename(entry, ".ts"));
  const config = join(root, "wrangler.toml");
  runQuietly(["deploy", entry, "--dry-run", "--config", config, "--outdir", outdir], root);
  const file = join(outdir, basename(entry).replace(/\.ts$/, ".js"));
  return { file, compressed: gzipSync(readFileSync(file)).length };
}

/** Waits for a wrangler command in the folder of a checkout. Prints only errors. */
export function runQuietly(args: readonly string[], root = ROOT): void {
  execFileSync(process.execPath, [WRANGLER, ...args], {
    cwd: root,
    env: { ...process.env, ...QUIET },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** wrangler.toml, as Miniflare takes it. */
export type WorkerSettings = Awaited<ReturnType<typeof readWorkerSettings>>;

/** Loads wrangler, which takes a second. */
export async function readWorkerSettings() {
  const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
  // Wrangler says where it found secrets, and which it did not find. Programs that are started later say all.
  const { WRANGLER_LOG: level } = process.env;
  process.env["WRANGLER_LOG"] = level ?? QUIET.WRANGLER_LOG;
  try {
    const options = unstable_getMiniflareWorkerOptions(CONFIG).workerOptions;
    const { modulesRules: _, ...settings } = options;
    return settings;
  } finally {
    if (level === undefined) delete process.env["WRANGLER_LOG"];
  }
}

const NAME = "longshore";
const HOST = "127.0.0.1";
/** The name of an export: a socket of the default one would lead to the router of the assets. */
const DIRECT = "direct";

/** The main module, which has what the bundle exports, and the handler again under another name. */
function directModule(file: string) {
  const bundled = JSON.stringify(`./${basename(file)}`);
  const contents = `export * from ${bundled};
import main from ${bundled};
export default main;
export const ${DIRECT} = {
  fetch(request, env, ctx) {
    const forwarded = new Request(request);
    if (!request.headers.has("cf-connecting-ip")) forwarded.headers.set("cf-connecting-ip", "${HOST}");
    return main.fetch(forwarded, env, ctx);
  },
};
`;
  return { type: "ESModule" as const, path: join(file, "..", "direct.js"), contents };
}

interface StartOptions {
  /** The data outlives the Worker only in a folder. */
  folder?: string | undefined;
  /** 0 is any free one. */
  port?: number | undefined;
  /** Serves the static assets. Their router delays each request by two hops between processes of Miniflare. */
  assets?: boolean;
  /** `url` leads past Miniflare's own Worker and the router of the assets: a request takes a third of the CPU time. */
  isDirect?: boolean;
  /** Absent: they are read. */
  settings?: WorkerSettings;
}

/** Runs a bundle in its own Miniflare, with wrangler.toml's bindings, new secrets, and `bindings`. */
export async function start(
  { file }: Bundle,
  bindings: Record<string, unknown>,
  { folder, port = 0, assets = false, isDirect = false, settings }: StartOptions = {},
): Promise<RunningWorker> {
  const options = { ...(settings ?? (await readWorkerSettings())) };
  if (!assets) Reflect.deleteProperty(options, "assets");
  const worker = {
    ...options,
    name: NAME,
    modules: [...(isDirect ? [directModule(file)] : []), { type: "ESModule" as const, path: file }],
    modulesRoot: join(file, ".."),
    bindings: { ...newSecrets(), ...bindings },
    ...(isDirect && { unsafeDirectSockets: [{ host: HOST, port: 0, entrypoint: DIRECT }] }),
  };
  const database = new DatabaseWorker();
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      port,
      logRequests: !isDirect,
      handleStructuredLogs: () => undefined,
      workers: [worker, database.options(options["d1Databases"] as Databases)],
    }),
    ...(folder !== undefined && { resourcePersistencePath: folder }),
  });
  const pages = await miniflare.ready;
  return {
    url: isDirect ? await miniflare.unsafeGetDirectURL(NAME, DIRECT) : pages,
    pages,
    d1: await database.connect(miniflare),
    sweep: async () => {
      const worker = await miniflare.getWorker();
      const { outcome } = await worker.scheduled({ cron: "* * * * *" });
      if (outcome !== "ok") throw new Error(`The cron trigger ended with the outcome ${outcome}.`);
    },
    queue: (await miniflare.getQueueProducer("DELIVERIES")) as unknown as Queue,
    stop: () => miniflare.dispose(),
  };
}
