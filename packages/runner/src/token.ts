import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { RunnerError } from "./errors.ts";

const TOKEN = /^lsr_\w+$/;
const STDIN = 0;
const READABLE_BY_OTHERS = 0o044;

/** Reads a runner token from a file that no other user can read. */
export function readTokenFile(path: string): string {
  const source = `the file ${path}`;
  const descriptor = attempt(source, () => openSync(path, "r"));
  try {
    const { mode } = fstatSync(descriptor);
    // Windows has no such mode.
    if (process.platform !== "win32" && mode & READABLE_BY_OTHERS) {
      throw new RunnerError(
        `Other users can read the runner token in ${path}. Run \`chmod 600\` on the file, or pass ` +
          "its content with --token-fd.",
        2,
      );
    }
    return readToken(source, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a runner token from a descriptor and closes it, so that no other process can read it. */
export function readTokenDescriptor(descriptor: number): string {
  const token = readToken(`descriptor ${descriptor}`, descriptor);
  closeSync(descriptor);
  // Otherwise the next file or connection would become the standard input.
  if (descriptor === STDIN) openSync(devNull, "r");
  return token;
}

function readToken(source: string, descriptor: number): string {
  const text = attempt(source, () => readFileSync(descriptor, "utf8"));
  const token = text.replace(/^\uFEFF/, "").replace(/\r?\n$/, "");
  if (TOKEN.test(token)) return token;
  throw new RunnerError(`Write the token of a runner pool (lsr_…) to ${source}: it has none.`, 2);
}

function attempt<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code = "an unknown error" } = error as NodeJS.ErrnoException;
    throw new RunnerError(`The runner token cannot be read from ${source}: ${code}.`, 2);
  }
}
