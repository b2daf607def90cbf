import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { newSecrets } from "./secrets.ts";
import { ROOT } from "./wrangler.ts";

const CONFIG = join(ROOT, "wrangler.toml");
const CONSOLE_CONFIG = join(ROOT, "packages/console/wrangler.toml");
const CONSOLE_FILES = join(ROOT, "packages/console/dist");
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
  d1: D1Database;
  /** Runs the cron trigger. */
  sweep(): Promise<void>;
  /** The queue of deliveries. */
  queue: Queue;
  stop(): Promise<void>;
}

/** Bundles an entry point, relative to the repository, with the settings of wrangler.toml. */
export function bundle(entry: string, folder: string): Bundle {
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const outdir = join(folder, basename(entry, ".ts"));
  const command = ["deploy", entry, "--dry-run", "--config", CONFIG, "--outdir", outdir];
  execFileSync(process.execPath, [wrangler, ...command], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const file = join(outdir, basename(entry).replace(/\.ts$/, ".js"));
  return { file, compressed: gzipSync(readFileSync(file)).length };
}

/**
 * Runs a bundle in its own Miniflare, with wrangler.toml's bindings, new secrets, and `bindings`. Its
 * data outlives it only in a `folder`. Port 0 is any free one.
 */
export async function start(
  { file }: Bundle,
  bindings: Record<string, unknown>,
  folder?: string,
  port = 0,
): Promise<RunningWorker> {
  const { modulesRules: _, ...options } = optionsOf(CONFIG);
  // Programs that do not open the console run without its files.
  const files = existsSync(CONSOLE_FILES) ? optionsOf(CONSOLE_CONFIG) : undefined;
  const worker = {
    ...options,
    ...(!files && { serviceBindings: {} }),
    name: "longshore",
    modules: [{ type: "ESModule" as const, path: file }],
    modulesRoot: join(file, ".."),
    bindings: { ...newSecrets(), ...bindings },
  };
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      port,
      handleStructuredLogs: () => undefined,
      workers: files ? [worker, toAssetWorker(files)] : [worker],
    }),
    ...(folder !== undefined && { resourcePersistencePath: folder }),
  });
  return {
    url: await miniflare.ready,
    d1: (await miniflare.getD1Database("DB")) as unknown as D1Database,
    sweep: async () => {
      const worker = await miniflare.getWorker();
      const { outcome } = await worker.scheduled({ cron: "* * * * *" });
      if (outcome !== "ok") throw new Error(`The cron trigger ended with the outcome ${outcome}.`);
    },
    queue: (await miniflare.getQueueProducer("DELIVERIES")) as unknown as Queue,
    stop: () => miniflare.dispose(),
  };
}

function optionsOf(config: string) {
  return unstable_getMiniflareWorkerOptions(config).workerOptions;
}

/** A Worker without code, which serves files. */
function toAssetWorker({ modulesRules: _, ...options }: ReturnType<typeof optionsOf>) {
  return {
    ...options,
    name: "longshore-console",
    modules: [{ type: "ESModule" as const, path: "empty.js", contents: "export default {}" }],
  };
}
