import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CommandError } from "./command.ts";
import { ROOT } from "./wrangler.ts";

const FILE = join(ROOT, ".wrangler/npm-start.lock");

interface Holder {
  pid: number;
  url: string;
}

/**
 * Prevents a second `npm start` on the same data, until this process exits. Throws a `CommandError`
 * that names the holder. Replaces the lock of a process that no longer runs.
 */
export function acquireLock(url: string): void {
  mkdirSync(dirname(FILE), { recursive: true });
  const holder: Holder = { pid: process.pid, url };
  try {
    writeFileSync(FILE, JSON.stringify(holder), { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const other = readHolder();
    if (other && isRunning(other.pid)) throw new CommandError(describe(other));
    writeFileSync(FILE, JSON.stringify(holder));
  }
  process.once("exit", () => rmSync(FILE, { force: true }));
}

function describe({ pid, url }: Holder): string {
  return (
    `Longshore already runs on this data, at ${url}: stop process ${pid} first. ` +
    `If that is another program, delete ${relative(ROOT, FILE)}.`
  );
}

function readHolder(): Holder | undefined {
  try {
    return JSON.parse(readFileSync(FILE, "utf8"));
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
