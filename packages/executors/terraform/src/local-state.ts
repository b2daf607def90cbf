import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ProgramError } from "../../program/src/index.ts";
import type { Files } from "./files.ts";

const DEFAULT_WORKSPACE = "default";

interface StateLocation {
  /** Of the commit: it is removed after the deployment. */
  checkout: string;
  /** Of the module. */
  folder: string;
  files: Files;
  workspace: string | undefined;
}

/** A state in the checkout would be lost, and the next deployment would create everything again. */
export function requireLastingState({ checkout, folder, files, workspace }: StateLocation): void {
  const backend = readBackend(files.data);
  if (backend.type !== "local") return;
  const { path, workspace_dir: workspaceFolder } = backend.config;
  const name = workspace ?? process.env["TF_WORKSPACE"] ?? DEFAULT_WORKSPACE;
  const isDefault = name === DEFAULT_WORKSPACE;
  const place = isDefault
    ? (path ?? "terraform.tfstate")
    : (workspaceFolder ?? "terraform.tfstate.d");
  if (!isInside(checkout, resolve(folder, place))) return;
  const member = isDefault ? "path" : "workspace_dir";
  throw new ProgramError(
    "The state would be in the checkout, which is removed after the deployment. Add another backend to the module, or " +
      `set ${member} of its local backend to an absolute path outside: in the module, or with the setting backend and ` +
      `the runner's option --backend-allow ${member}.`,
  );
}

interface Backend {
  type: string;
  config: { path?: string | null; workspace_dir?: string | null };
}

/** Without a backend in the module, `init` writes no file. */
function readBackend(data: string): Backend {
  const file = join(data, "terraform.tfstate");
  const none: Backend = { type: "local", config: {} };
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).backend ?? none) : none;
}

/** Links of the commit may lead out. */
function isInside(folder: string, path: string): boolean {
  const inside = relative(realpathSync(folder), realPathOf(path));
  return inside.split(sep)[0] !== ".." && !isAbsolute(inside);
}

/** The state, and folders above it, may not exist yet. */
function realPathOf(path: string): string {
  const parent = dirname(path);
  if (existsSync(path) || parent === path) return realpathSync(path);
  return join(realPathOf(parent), basename(path));
}
