import type { Readable, Writable } from "node:stream";

export type InputStream = Readable & { isTTY?: boolean };
export type OutputStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };

/** What the command line uses of Node's `process`. Tests give another one, to run commands in their own process. */
export interface CliProcess {
  env: NodeJS.Dict<string>;
  /** The second is the file of the program, or the link that has started it. */
  argv: readonly string[];
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  cwd(): string;
  /** Absent on Windows. */
  getuid?(): number;
  exit(code?: number): void;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}
