import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { newSecrets } from "../../packages/server/src/secrets.ts";
import { applyMigrations } from "../../scripts/lib/migrations.ts";
import { bundle } from "../../scripts/lib/workers.ts";
import { startWorkerd, type Workerd, type WorkerOptions } from "../workerd.ts";
import { type Operations, recordOperations } from "./operations.ts";

/** The service of a checkout, and what one call of each operation does. */
export interface RecordedService {
  /** The bundle. */
  source: string;
  operations: Operations;
  /** The settings with which it was recorded. */
  settings: Bindings;
}

type Bindings = NonNullable<WorkerOptions["bindings"]>;

const MAIN = `import service from "./service.js";
import { instrument } from "./instrument.js";
export * from "./service.js";
export default instrument(service);
`;

/** Bundles the service of a checkout, and records one call of each operation. */
export async function recordCheckout(root: string, folder: string): Promise<RecordedService> {
  const source = readFileSync(bundle("src/index.ts", folder, root).file, "utf8");
  const secrets = newSecrets();
  const { modulesRules: _, assets: __, ...options } = optionsOf(root);
  const settings = { ...options.bindings, ...secrets };
  const recorder = await startWorkerd({
    ...options,
    name: "longshore",
    serviceBindings: {},
    ...modulesOf(source),
    bindings: settings,
  });
  try {
    const d1 = await recorder.miniflare.getD1Database("DB");
    await applyMigrations(d1 as unknown as D1Database, join(root, "migrations"));
    const operations = await recordOperations(recorder.url, secrets.BOOTSTRAP_TOKEN);
    return { source, operations, settings };
  } finally {
    await recorder.stop();
  }
}

/** A process that repeats the operations without any I/O. */
export function startReplay(
  root: string,
  source: string,
  bindings: object & { OPERATIONS: Partial<Operations> },
): Promise<Workerd> {
  const { compatibilityDate = "", compatibilityFlags = [] } = optionsOf(root);
  return startWorkerd({
    ...{ name: "longshore", compatibilityDate, compatibilityFlags },
    bindings: bindings as unknown as Bindings,
    ...modulesOf(source),
  });
}

function modulesOf(service: string) {
  const module = (path: string, contents: string) => ({
    ...{ type: "ESModule" as const, path, contents },
  });
  return {
    modules: [
      module("main.js", MAIN),
      module("instrument.js", build("worker.ts")),
      module("service.js", service),
    ],
  };
}

/** A file of this folder as one module. */
export function build(name: string): string {
  const entryPoints = [join(import.meta.dirname, name)];
  const options = { bundle: true, format: "esm", minify: true, write: false } as const;
  return buildSync({ entryPoints, ...options }).outputFiles[0]?.text ?? "";
}

/** The options that are read by their names. */
interface Options {
  compatibilityDate?: string;
  compatibilityFlags?: string[];
  bindings?: Bindings;
  [name: string]: unknown;
}

function optionsOf(root: string): Options {
  return unstable_getMiniflareWorkerOptions(join(root, "wrangler.toml")).workerOptions;
}
