import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError } from "./errors.ts";

const FOLDER_MODE = 0o700;

/** The object in a JSON file. Undefined if there is no file. */
export async function readJsonFile(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readText(path);
  return text === undefined ? undefined : parseJsonFile(path, text);
}

/** The object in the text of a JSON file. */
export function parseJsonFile(path: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Says the same as for a file with another value.
  }
  throw new CliError(`${path} is not a JSON object. Correct it, or delete it.`);
}

/**
 * Replaces the file as a whole, so that a full disk leaves the old one. The package write-file-atomic
 * does not: it takes a short write, such as that of a disk that becomes full, for a whole one.
 */
export async function writeTextFile(path: string, text: string, mode: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    // Replaces the file that a symbolic link leads to.
    await replaceFile(await realpath(path).catch(() => path), text, mode);
  } catch (error) {
    throw new CliError(`Cannot write ${path}: ${reasonOf(error)}. Nothing was changed.`);
  }
}

async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Without a byte order mark, which editors on Windows write. Undefined if there is no file. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new CliError(`Cannot read ${path}: ${reasonOf(error)}.`);
  }
}

/** Why a file cannot be read or written. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC") return "the disk is full";
  if (code === "EFBIG") return "the file would be too large";
  if (code === "EROFS") return "the disk is read-only";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return message;
}
