import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Bundle } from "./workers.ts";

/** What a process of the Worker runs, and where it stores its data. */
export interface Run {
  file: Bundle;
  folder: string;
  bindings: Record<string, string>;
  /** Absent: any free port, another one for each process. */
  port?: number;
}

/** A process group that a SIGKILL ends at once. */
export async function startProcess({ file, folder, bindings, port = 0 }: Run) {
  const child = fork(
    join(import.meta.dirname, "killable-worker.ts"),
    [file.file, folder, JSON.stringify(bindings), String(port)],
    { detached: true, stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  const [url] = await once(child, "message");
  return {
    url: String(url),
    kill: async () => {
      const exited = once(child, "exit");
      process.kill(-Number(child.pid), "SIGKILL");
      await exited;
    },
  };
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
