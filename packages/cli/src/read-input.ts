import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { CliError } from "./errors.ts";
import type { CliContext } from "./session.ts";

/** The text of a file; of stdin for `-`. */
export async function readInput({ stdin }: CliContext, path: string): Promise<string> {
  if (path === "-") return text(stdin);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as Error).message}`);
  }
}

/** The JSON of a file; of stdin for `-`. */
export async function readJsonInput(context: CliContext, path: string): Promise<unknown> {
  const json = await readInput(context, path);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CliError(`${path === "-" ? "stdin" : path} is not JSON: ${(error as Error).message}`);
  }
}
