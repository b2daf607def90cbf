import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { findFreePort } from "./port.ts";
import { SERVER_PROGRAM } from "./program-bundle.ts";
import type { Bundle } from "./workers.ts";

/** What a process of the Worker runs, and where it stores its data. */
export interface Run {
  file: Bundle;
  folder: string;
  bindings: Record<string, string>;
  /** Absent: any free port, another one for each process. */
  port?: number;
  /** Runs the packed server of one's own, whose data is in the folder's parent. */
  isServer?: boolean;
}

export interface KillableProcess {
  url: string;
  /** Kills the process with SIGKILL. workerd of a server goes on, as after a crash, until the next start ends it. */
  kill(): Promise<void>;
  /** Kills workerd, too. */
  killAll(): Promise<void>;
}

export function startProcess(run: Run): Promise<KillableProcess> {
  return run.isServer ? startServer(run) : startWorker(run);
}

async function startWorker({ file, folder, bindings, port = 0 }: Run): Promise<KillableProcess> {
  const child = fork(
    join(import.meta.dirname, "killable-worker.ts"),
    [file.file, folder, JSON.stringify(bindings), String(port)],
    { detached: true, stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  const [url] = await once(child, "message");
  const kill = () => killGroup(child);
  return { url: String(url), kill, killAll: kill };
}

async function startServer({ folder, bindings, port }: Run): Promise<KillableProcess> {
  const own = port ?? (await findFreePort());
  const program = join(SERVER_PROGRAM.folder, SERVER_PROGRAM.fileName);
  const args = ["--port", String(own), "--data", dirname(folder)];
  const child = spawn(
    process.execPath,
    [program, ...args, "--private-network", "127.0.0.0/8", "--log", "json"],
    { detached: true, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...bindings } },
  );
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error("The server ended before it was ready.")));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("Longshore is ready.")) resolve();
    });
  });
  return {
    url: `http://127.0.0.1:${own}`,
    kill: async () => {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
    killAll: () => killGroup(child),
  };
}

async function killGroup(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  process.kill(-Number(child.pid), "SIGKILL");
  await exited;
}

export async function call(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}
