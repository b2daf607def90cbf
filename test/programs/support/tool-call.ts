import { AsyncLocalStorage } from "node:async_hooks";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const CHECK_EVERY_MS = 20;

/** A call of a tool for which a stand-in does the work. */
export interface ToolCall {
  /** Of the process that was called. */
  pid: number;
  /** Of the one that called it. */
  parent: number;
  /** With the state of the stand-in. */
  folder: string;
  cwd: string;
  args: string[];
  env: Record<string, string>;
}

interface Ended {
  stdout: string;
  stderr: string;
  status: number;
}

class Killed extends Error {}

const calls = new AsyncLocalStorage<{ call: ToolCall; ended: Ended }>();

/** Undefined if the process was killed meanwhile. */
export async function take(call: ToolCall, run: () => Promise<void>): Promise<Ended | undefined> {
  const ended = { stdout: "", stderr: "", status: 0 };
  return calls.run({ call, ended }, async () => {
    try {
      await run();
    } catch (error) {
      if (error instanceof Killed) return undefined;
      fail(String(error));
    }
    return ended;
  });
}

/** The one of which this is a part. */
export function currentCall(): ToolCall {
  return current().call;
}

/** Of a file that the call names. */
export function pathOf(name: string): string {
  return resolve(currentCall().cwd, name);
}

export function print(...texts: string[]): void {
  current().ended.stdout += `${texts.join(" ")}\n`;
}

export function fail(...messages: string[]): void {
  for (const each of messages) current().ended.stderr += `${each}\n`;
  exitWith(1);
}

export function exitWith(status: number): void {
  current().ended.status = status;
}

/** Throws if the process is killed meanwhile. */
export async function pause(ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    await sleep(Math.min(left, CHECK_EVERY_MS));
    if (!isRunning(currentCall().pid)) throw new Killed();
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function current() {
  const store = calls.getStore();
  if (!store) throw new Error("This is no part of a call.");
  return store;
}
