import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { requireName } from "./env-file.ts";

type Variables = Readonly<Record<string, string>>;

/** `$NAME` and `${NAME…}`, also within another; `$$` stands for `$`. */
const REFERENCE = /\$(?:\$|\{?([A-Za-z_]\w*))/g;
const PASSED_NAME = /^[A-Za-z_]\w*$/;
/** A line of an env file without a value. */
const PASSED_LINE = /^[ \t]*([A-Za-z_]\w*)[ \t]*$/gm;
/** Members that pass a variable on if they name it without a value. */
const PASSING: readonly string[] = ["environment", "args"];
const MAXIMUM_BYTES = 1_048_576;

/**
 * The deployment's variables that compose files name. Throws a `ProgramError` if one would change how docker
 * itself runs: it has no environment but its own.
 */
export function selectNamed(variables: Variables, documents: readonly unknown[]): Variables {
  const names = new Set(documents.flatMap(findNames));
  const named = Object.entries(variables).filter(([name]) => names.has(name));
  for (const [name] of named) requireName(name, "One of the files");
  return Object.fromEntries(named);
}

/** The files, and what they name as `env_file`. What Compose cannot read either, it explains itself. */
export function readDocuments(files: readonly string[], resolved: string): unknown[] {
  const folder = dirname(files[0] ?? "");
  const documents = [resolved, ...files.map(readText)].map(parseYaml);
  const envFiles = documents.flatMap(findEnvFiles).map((path) => readText(resolve(folder, path)));
  return [...documents, ...envFiles.map(readPassed)];
}

function findNames(value: unknown): string[] {
  if (typeof value === "string") return findAll(REFERENCE, value);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, each]) => [
    ...(PASSING.includes(member) ? findPassed(each) : []),
    ...findNames(each),
  ]);
}

/** A list, a map, or the name of the one variable that is a secret or a config. */
function findPassed(value: unknown): string[] {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  const names = isMap
    ? Object.entries(value).flatMap(([name, each]) => (each === null ? [name] : []))
    : [value].flat();
  return names.filter((name) => typeof name === "string" && PASSED_NAME.test(name));
}

function findEnvFiles(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, each]) => {
    if (member !== "env_file") return findEnvFiles(each);
    return [each].flat().flatMap((file) => {
      const path: unknown = typeof file === "object" && file !== null ? file.path : file;
      return typeof path === "string" ? [path] : [];
    });
  });
}

/** In the form of a compose file. */
function readPassed(text: string): unknown {
  return { environment: findAll(PASSED_LINE, text), text };
}

function findAll(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: "silent" });
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MAXIMUM_BYTES ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
