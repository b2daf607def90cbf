import { readdirSync, readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

/** A runtime, and the processor time that its process has used. */
export interface Workerd {
  url: URL;
  miniflare: Miniflare;
  cpuMicroseconds(): number;
  stop(): Promise<void>;
}

export type WorkerOptions = Extract<
  Parameters<typeof convertV4MiniflareOptions>[0],
  { modules: unknown }
>;

/** Starts a Worker in a process of its own. Start one after the other: the new child process is its own. */
export async function startWorkerd(worker: WorkerOptions): Promise<Workerd> {
  const before = new Set(childProcesses());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ handleStructuredLogs: () => undefined, ...worker }),
  );
  const url = await miniflare.ready;
  const [pid, ...others] = childProcesses().filter((child) => !before.has(child));
  if (pid === undefined || others.length > 0) throw new Error("workerd is not one new process.");
  return {
    ...{ url, miniflare },
    cpuMicroseconds: () => cpuMicroseconds(pid),
    stop: () => miniflare.dispose(),
  };
}

/** Of this process. Reads /proc, which only Linux has. */
function childProcesses(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => parentOf(pid) === process.pid);
}

function parentOf(pid: string): number | undefined {
  try {
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(parent);
  } catch {
    return undefined;
  }
}

/** Of all threads, to the nanosecond. /proc/pid/stat counts in steps of 10 ms. */
function cpuMicroseconds(pid: string): number {
  const threads = `/proc/${pid}/task`;
  const times = readdirSync(threads).map((thread) => {
    const [nanoseconds] = readFileSync(`${threads}/${thread}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds);
  });
  return times.reduce((sum, each) => sum + each, 0) / 1000;
}
