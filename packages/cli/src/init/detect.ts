import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../config-file.ts";
import { CliError } from "../errors.ts";

/** What deploys a stack. */
export const TOOLS = [
  "script",
  "workers",
  "compose",
  "terraform",
  "cloudformation",
  "kubernetes",
  "command",
] as const;

export type Tool = (typeof TOOLS)[number];

export interface Detected {
  tool: Tool;
  /** The file or the folder that shows it, relative to the folder. */
  path: string;
}

export const SCRIPT_FILE = "deploy.sh";

const WRANGLER = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];
const COMPOSE = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
const MANIFEST_FOLDERS = ["k8s", "kubernetes", "manifests", "deploy"];
const STRUCTURED = /\.(ya?ml|json|template)$/;
/** Enough for the head of a template or manifest. */
const HEAD_BYTES = 64 * 1024;
const MAXIMUM_FILES = 200;

/** What the folder shows, the most specific first. */
export async function detectTools(folder: string): Promise<Detected[]> {
  const names = await listFiles(folder);
  const first = (tool: Tool, found: string | undefined): Detected[] =>
    found === undefined ? [] : [{ tool, path: found }];
  return [
    ...first(
      "script",
      names.find((name) => name === SCRIPT_FILE),
    ),
    ...first(
      "workers",
      WRANGLER.find((name) => names.includes(name)),
    ),
    ...first(
      "compose",
      COMPOSE.find((name) => names.includes(name)),
    ),
    ...first(
      "terraform",
      names.find((name) => /\.tf(\.json)?$/.test(name)),
    ),
    ...first("cloudformation", await findStructured(folder, names, isTemplate)),
    ...first("kubernetes", await findManifests(folder, names)),
  ];
}

/** The folder of the manifests, or the one file beside others. */
async function findManifests(folder: string, names: string[]): Promise<string | undefined> {
  for (const each of MANIFEST_FOLDERS) {
    const inside = await listFiles(join(folder, each)).catch(() => []);
    if (await findStructured(join(folder, each), inside, isManifest)) return each;
  }
  return findStructured(folder, names, isManifest);
}

function isTemplate(text: string): boolean {
  return (
    /^\s*["']?AWSTemplateFormatVersion["']?\s*:/m.test(text) ||
    /["']?Type["']?\s*:\s*["']?AWS::/.test(text)
  );
}

function isManifest(text: string): boolean {
  return /^\s*["']?apiVersion["']?\s*:/m.test(text) && /^\s*["']?kind["']?\s*:/m.test(text);
}

async function findStructured(
  folder: string,
  names: string[],
  matches: (text: string) => boolean,
): Promise<string | undefined> {
  for (const name of names.filter((each) => STRUCTURED.test(each)).slice(0, MAXIMUM_FILES)) {
    if (matches(await readHead(join(folder, name)))) return name;
  }
  return undefined;
}

/** Empty for what is no readable file, such as a FIFO, which would not end. */
async function readHead(path: string): Promise<string> {
  if (!(await stat(path).catch(() => undefined))?.isFile()) return "";
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return "";
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** In alphabetical order, without hidden ones. */
async function listFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => name)
      .toSorted();
  } catch (error) {
    throw new CliError(`Cannot read ${folder}: ${reasonOf(error)}.`);
  }
}
