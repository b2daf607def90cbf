import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { convertV4MiniflareOptions } from "miniflare";

type WorkerOptions = Extract<
  Parameters<typeof convertV4MiniflareOptions>[0],
  { modules?: unknown }
>;

/** The part of wrangler.toml that the server runs with, as Miniflare takes it. */
export type WorkerSettings = Pick<
  WorkerOptions,
  | "compatibilityDate"
  | "compatibilityFlags"
  | "d1Databases"
  | "durableObjects"
  | "queueProducers"
  | "queueConsumers"
  | "ratelimits"
> & {
  vars: Record<string, string>;
  assets: NonNullable<WorkerOptions["assets"]>;
  workerFirst: readonly string[];
};

/** What the build puts beside the program. */
export interface WorkerPackage {
  /** The folder of the modules. */
  folder: string;
  assets: string;
  migrations: string;
  settings: WorkerSettings;
  release: string;
}

export const SETTINGS_FILE = "worker.json";
export const BUNDLE_FILE = "index.js";
export const ENTRY_FILE = "entry.js";

/** @param folder Of the built package: `dist`. */
export function readWorkerPackage(folder: string): WorkerPackage {
  const worker = join(folder, "worker");
  const { release, ...settings } = JSON.parse(readFileSync(join(worker, SETTINGS_FILE), "utf8"));
  return {
    folder: worker,
    assets: join(folder, "assets"),
    migrations: join(folder, "migrations"),
    settings,
    release,
  };
}

/** The ID of the Worker's database, after which its file is named. */
export function databaseIdOf({ d1Databases }: WorkerSettings): string {
  const database = (d1Databases as Record<string, string | { id: string }>)["DB"];
  return typeof database === "string" ? database : String(database?.id);
}
