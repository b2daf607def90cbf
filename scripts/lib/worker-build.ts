import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BUNDLE_FILE,
  ENTRY_FILE,
  readWorkerPackage,
  SETTINGS_FILE,
  type WorkerPackage,
  type WorkerSettings,
} from "../../packages/server/src/runtime/worker-package.ts";
import { buildAssets, DIST, digestSources } from "./assets.ts";
import { readConfiguration } from "./configuration.ts";
import { MIGRATIONS_DIRECTORY } from "./migrations.ts";
import { bundleProgram } from "./program-bundle.ts";
import { readRelease } from "./release.ts";
import { bundle, readWorkerSettings } from "./workers.ts";

/** What the server runs, of this checkout. */
export const WORKER_FOLDER = join(DIST, "worker");
const STAMP = join(DIST, "worker.json");
const SOURCES = [
  "package.json",
  "package-lock.json",
  "wrangler.toml",
  "src",
  "packages/server/src/runtime",
  "scripts/lib",
];

/** Builds the Worker and its assets, where their sources have changed, and returns what the server runs. */
export async function ensureWorker(): Promise<WorkerPackage> {
  await buildAssets();
  const digest = digestSources(SOURCES);
  if (readStamp() !== digest) {
    await writeWorker();
    writeFileSync(STAMP, JSON.stringify(digest));
  }
  return { ...readWorkerPackage(DIST), migrations: MIGRATIONS_DIRECTORY };
}

function readStamp(): string | undefined {
  try {
    readFileSync(join(WORKER_FOLDER, SETTINGS_FILE));
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return undefined;
  }
}

/** The bundle as it is deployed, its settings, and what the server calls in it. */
async function writeWorker(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), "longshore-"));
  try {
    const { file } = bundle("src/index.ts", temporary);
    mkdirSync(WORKER_FOLDER, { recursive: true });
    writeFileSync(join(WORKER_FOLDER, BUNDLE_FILE), readFileSync(file));
    writeFileSync(join(WORKER_FOLDER, ENTRY_FILE), bundleEntry());
    const settings = { release: readRelease(), ...(await readSettings()) };
    writeFileSync(join(WORKER_FOLDER, SETTINGS_FILE), `${JSON.stringify(settings, null, 2)}\n`);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

async function readSettings(): Promise<WorkerSettings> {
  const settings = (await readWorkerSettings()) as Record<string, unknown>;
  const names = [
    "compatibilityDate",
    "compatibilityFlags",
    "d1Databases",
    "durableObjects",
    "queueProducers",
    "queueConsumers",
    "ratelimits",
  ];
  const { vars, assets } = await readConfiguration();
  const first = assets?.run_worker_first;
  const kept: Record<string, unknown> = {
    ...Object.fromEntries(names.map((name) => [name, settings[name]])),
    // The server has its own folder.
    assets: { ...(settings["assets"] as object), directory: "" },
    // Wrangler's bindings have the secrets of .dev.vars, too.
    vars,
    workerFirst: Array.isArray(first) ? first : [],
  };
  return kept as unknown as WorkerSettings;
}

function bundleEntry(): string {
  const files = bundleProgram({
    entry: "packages/server/src/runtime/entry.ts",
    folder: WORKER_FOLDER,
    fileName: ENTRY_FILE,
    options: { platform: "neutral", target: "es2024" },
  });
  return files.get(ENTRY_FILE) ?? "";
}
