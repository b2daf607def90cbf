import { type ChildProcess, execFileSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../command-error.ts";

const SPAWNED = "child_process";
const POLL_EVERY_MS = 50;
const ENDS_WITHIN_MS = 10_000;
/** The parent of a process whose own has ended. */
const INIT = "1";

/** Leaves the ID of each process that starts meanwhile in a file: workerd, also after a crash. Returns what stops it. */
export function recordProcesses(file: string): () => void {
  const onSpawn = (message: unknown) => {
    const { process: started } = message as { process: ChildProcess };
    started.once("spawn", () => writeFileSync(file, String(started.pid)));
  };
  subscribe(SPAWNED, onSpawn);
  return () => {
    unsubscribe(SPAWNED, onSpawn);
    rmSync(file, { force: true });
  };
}

/**
 * Ends the workerd of a server that was killed: it keeps running with the database. Only the holder of the folder's lock may
 * call this.
 */
export async function endAbandonedProcess(file: string, state: string): Promise<void> {
  const pid = readId(file);
  if (pid === undefined || !isAbandoned(pid, state)) return;
  process.kill(pid, "SIGKILL");
  const deadline = Date.now() + ENDS_WITHIN_MS;
  while (isAbandoned(pid, state)) {
    if (Date.now() > deadline)
      throw new CommandError(`Process ${pid} does not end. Stop it first.`);
    await sleep(POLL_EVERY_MS);
  }
}

function readId(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

/** Another process may have the ID by now: this one has the databases open. */
function isAbandoned(pid: number, state: string): boolean {
  return process.platform === "linux" ? hasOpenFile(pid, state) : isWorkerdWithoutParent(pid);
}

function hasOpenFile(pid: number, folder: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  try {
    const links = readdirSync(descriptors).map((name) => linkOf(join(descriptors, name)));
    return links.some((target) => target.startsWith(`${folder}/`));
  } catch {
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function isWorkerdWithoutParent(pid: number): boolean {
  try {
    const text = execFileSync("ps", ["-o", "ppid=,command=", "-p", String(pid)], {
      encoding: "utf8",
    });
    const [parent, program = ""] = text.trim().split(/\s+/);
    return parent === INIT && program.endsWith("workerd");
  } catch {
    return false;
  }
}
