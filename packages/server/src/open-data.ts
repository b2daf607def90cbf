import type { MiniflareOptions } from "miniflare";
import { type DataFolder, describeFolder } from "./data/data-folder.ts";
import { lockFolder } from "./data/folder-lock.ts";
import { readRuntimeFile } from "./data/runtime-file.ts";
import { connectDatabase, DatabaseWorker } from "./database/database-worker.ts";
import { databaseIdOf, type WorkerSettings } from "./runtime/worker-package.ts";

export interface OpenData {
  d1: D1Database;
  close(): Promise<void>;
}

/** Opens the database of a server: through the one that runs, or else by itself. */
export async function openData(path: string, settings: WorkerSettings): Promise<OpenData> {
  const folder = describeFolder(path);
  const running = readRuntimeFile(folder.runtimeFile);
  if (running) {
    const d1 = connectDatabase(running.database);
    if (await answers(d1)) return { d1, close: async () => undefined };
  }
  const lock = lockFolder(folder.lockFile, { pid: process.pid, use: "for a backup" });
  const { d1, close } = await openStoredDatabase(folder, settings);
  return { d1, close: () => close().finally(() => lock.release()) };
}

/** The file of a server that was killed remains. */
async function answers(d1: D1Database): Promise<boolean> {
  try {
    await d1.prepare("select 1").all();
    return true;
  } catch {
    return false;
  }
}

/** Opens the database of a folder that no server uses. */
export async function openStoredDatabase(
  { state }: DataFolder,
  settings: WorkerSettings,
): Promise<OpenData> {
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import("miniflare");
  const worker = new DatabaseWorker();
  const options = convertV4MiniflareOptions({
    ...worker.options({ DB: databaseIdOf(settings) }),
    log: new Log(LogLevel.NONE),
    cf: false,
  });
  const miniflare = new Miniflare({
    ...options,
    resourcePersistencePath: state,
  } as MiniflareOptions);
  return { d1: await worker.connect(miniflare), close: () => miniflare.dispose() };
}
