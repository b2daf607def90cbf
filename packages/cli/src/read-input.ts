import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { CliError } from "./errors.ts";
import { requireExactNumbers } from "./exact-json.ts";
import type { CliContext } from "./session.ts";

/** The text of a file, without a byte order mark; of stdin for `-`. */
export async function readInput({ folder, stdin }: CliContext, path: string): Promise<string> {
  const name = path === "-" ? "stdin" : path;
  try {
    const bytes = path === "-" ? await buffer(stdin) : await readFile(resolve(folder, path));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new CliError(`${name} is not text in UTF-8.`);
    throw new CliError(`Cannot read ${name}: ${(error as Error).message}`);
  }
}

/** The JSON of a file; of stdin for `-`. */
export async function readJsonInput(context: CliContext, path: string): Promise<unknown> {
  const json = await readInput(context, path);
  const name = path === "-" ? "stdin" : path;
  try {
    const value: unknown = JSON.parse(json);
    requireExactNumbers(json, name);
    return value;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${name} is not JSON: ${(error as Error).message}`);
  }
}
