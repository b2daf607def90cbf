import { closeSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";

/** Linux reads as much of the first line. */
const FIRST_LINE_BYTES = 256;
const MAXIMUM_NAMED = 3;

const HAS_NULL = "has a NUL character, which no program can get. Set it again without one.";

export interface StartedProgram {
  /** With a slash in it, a path. */
  file: string;
  args: readonly string[];
  env: NodeJS.Dict<string>;
  folder?: string | undefined;
}

/**
 * Why a program could not be started, and what to change; undefined for a reason that its code alone explains. It names
 * variables and no values, which Node's message may quote.
 */
export function explainStartError(error: unknown, program: StartedProgram): string | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ERR_INVALID_ARG_VALUE":
      return findNull(program);
    case "E2BIG":
      return describeSizes(program);
    case "ENOENT":
      return explainInterpreter(program);
    default:
      return undefined;
  }
}

function findNull({ env }: StartedProgram): string | undefined {
  const [name] = Object.entries(env).find(([, value]) => value?.includes("\0")) ?? [];
  return name && `The variable ${name} ${HAS_NULL}`;
}

function describeSizes({ args, env }: StartedProgram): string {
  const sizes = Object.entries(env)
    .map(([name, value = ""]) => ({ name, bytes: Buffer.byteLength(value) }))
    .toSorted((one, other) => other.bytes - one.bytes);
  const ofArguments = args.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, ofArguments);
  const largest = [{ name: "all arguments", bytes: ofArguments }, ...sizes]
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, MAXIMUM_NAMED)
    .map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`);
  return (
    `Its variables and arguments have ${formatBytes(all)}, or one of them has more than this system gives to a ` +
    `program. Shorten the largest: ${largest.join(", ")}.`
  );
}

function formatBytes(bytes: number): string {
  return `${bytes.toLocaleString("en-US")} bytes`;
}

/** A file that exists is a script, and its interpreter is not found. */
function explainInterpreter({ file, folder = "" }: StartedProgram): string | undefined {
  const line = /[/\\]/.test(file) ? readFirstLine(resolve(folder, file)) : undefined;
  if (!line?.startsWith("#!")) return undefined;
  return line.endsWith("\r")
    ? "The first line of its file ends with CRLF, and no interpreter has such a name. Commit the file with LF: add " +
        "* text=auto eol=lf to .gitattributes, and run git add --renormalize."
    : "The interpreter that the first line of its file names is not on this machine. Install it, or name another.";
}

/** Undefined: it cannot be read. */
function readFirstLine(path: string): string | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(FIRST_LINE_BYTES);
      const [line] = bytes.toString("latin1", 0, readSync(file, bytes)).split("\n");
      return line;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
