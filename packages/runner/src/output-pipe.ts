import { execFile } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface OutputPipe {
  reader: Readable;
  /** For both outputs of a program, so that their order is exact. Close it after the start. */
  writer: number;
}

/**
 * Opens a pipe. Node's own are sockets, and a program cannot open a socket as `/dev/stderr`. Undefined
 * on a system without `mkfifo`.
 */
export async function openOutputPipe(): Promise<OutputPipe | undefined> {
  if (process.platform === "win32") return undefined;
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "longshore-output-"));
    const path = join(folder, "pipe");
    await run("mkfifo", ["-m", "600", path]);
    return open(path);
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** The reader first: to open a writer waits for a reader. */
function open(path: string): OutputPipe {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writer = openSync(path, constants.O_WRONLY);
    return { writer, reader: new Socket({ fd, readable: true, writable: false }) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
