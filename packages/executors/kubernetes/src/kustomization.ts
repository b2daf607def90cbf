import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { parse } from "yaml";
import { ProgramError } from "../../program/src/index.ts";

const FILE_NAMES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
const MAXIMUM_BYTES = 1_048_576;

/** Lists of files and folders. Kustomize would fetch what is neither. */
const PATHS = ["resources", "bases", "components", "crds", "configurations"];
/** Lists of files, or of YAML. */
const PLUGINS = ["generators", "transformers", "validators"];
const PATCHES = ["patches", "patchesJson6902", "patchesStrategicMerge", "replacements"];
const GENERATORS = ["configMapGenerator", "secretGenerator"];

interface Entry {
  member: string;
  path: string;
}

/** Undefined: the folder has no kustomization. */
export function findKustomization(folder: string): string | undefined {
  return FILE_NAMES.map((name) => join(folder, name)).find(existsSync);
}

/**
 * Kustomize runs git and sends requests for what is no file. Throws a `ProgramError` if a kustomization, or one that
 * it names, has an entry that is not in the checkout.
 */
export function requireLocal(folder: string, checkout: string, known = new Set<string>()): void {
  const file = findKustomization(folder);
  if (file === undefined || known.has(folder)) return;
  known.add(folder);
  const name = relative(checkout, file);
  const refuse = (member: string) =>
    new ProgramError(
      `${member} of ${name} has an entry that is no file or folder of the commit. Kustomizations with URLs, or with ` +
        "paths that lead out of the repository, are not deployed: copy what they name into it.",
    );
  for (const { member, path } of listEntries(readDocument(file, name))) {
    const place = resolve(folder, path);
    const isLocal = !isAbsolute(path) && existsSync(place) && isInside(checkout, place);
    if (!isLocal || (PLUGINS.includes(member) && hasUrl(place))) throw refuse(member);
    if (statSync(place).isDirectory()) requireLocal(realpathSync(place), checkout, known);
  }
}

/** Whether the real file or folder is in a folder. */
export function isInside(folder: string, path: string): boolean {
  const inside = relative(realpathSync(folder), realpathSync(path));
  return inside.split(sep)[0] !== ".." && !isAbsolute(inside);
}

function readDocument(file: string, name: string): Record<string, unknown> {
  const real = realpathSync(file);
  const isFile = statSync(real).isFile() && statSync(real).size <= MAXIMUM_BYTES;
  const document = isFile ? parseYaml(readFileSync(real, "utf8")) : undefined;
  const isObject = typeof document === "object" && document !== null && !Array.isArray(document);
  if (isObject) return document as Record<string, unknown>;
  throw new ProgramError(`${name} is no kustomization.`);
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function listEntries(document: Record<string, unknown>): Entry[] {
  const entries = (members: readonly string[], read: (value: unknown) => unknown[]): Entry[] =>
    members.flatMap((member) =>
      toList(document[member]).flatMap((value) =>
        read(value).map((path) => ({ member, path: String(path) })),
      ),
    );
  return [
    ...entries(PATHS, (value) => [value]),
    // YAML in place of a path has lines; the plugin that it configures may load a URL.
    ...entries(PLUGINS, (value) =>
      isYaml(value) && !URL_IN_TEXT.test(String(value)) ? [] : [value],
    ),
    ...entries(PATCHES, (value) => (isYaml(value) ? [] : readPath(value))),
    ...entries(GENERATORS, readFiles),
    ...readPath(document["openapi"]).map((path) => ({ member: "openapi", path: String(path) })),
  ];
}

const URL_IN_TEXT = /https?:\/\//i;

function hasUrl(file: string): boolean {
  return statSync(file).isFile() && URL_IN_TEXT.test(readFileSync(file, "utf8"));
}

function isYaml(value: unknown): boolean {
  return typeof value === "string" && value.includes("\n");
}

function readPath(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [value];
  return "path" in value && value.path !== undefined ? [value.path] : [];
}

/** `files` may have `key=path`. */
function readFiles(value: unknown): unknown[] {
  const { files, envs, env } = (value ?? {}) as Record<string, unknown>;
  const paths = toList(files).map((each) => String(each).replace(/^[^=]*=/, ""));
  return [...paths, ...toList(envs), ...(env === undefined ? [] : [env])];
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
