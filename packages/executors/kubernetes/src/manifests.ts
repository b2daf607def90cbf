import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { ProgramError, readTool } from "../../program/src/index.ts";
import { toImageChanges } from "./images.ts";
import { findKustomization, isInside, requireLocal } from "./kustomization.ts";

/** As kubectl reads a folder. */
const EXTENSIONS = [".json", ".yaml", ".yml"];

/** Kustomize fetches nothing with these: no request leaves the machine, and git knows no protocol. */
export const OFFLINE = {
  GIT_ALLOW_PROTOCOL: "none",
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "",
  no_proxy: "",
};

interface RenderOptions {
  hidesErrors?: boolean;
}

interface Source {
  /** A file or a folder of the checkout. */
  path: string;
  checkout: string;
  images: Readonly<Record<string, string>>;
  /** For files of the program. */
  folder: string;
}

/** The files to apply. They are read once, so that the preview and the deployment are of the same manifests. */
export async function prepareManifests({
  path,
  checkout,
  images,
  folder,
}: Source): Promise<string[]> {
  const root = statSync(path).isDirectory() ? path : dirname(path);
  const kustomization = findKustomization(root);
  const isKustomized = kustomization !== undefined && (root === path || kustomization === path);
  if (isKustomized) requireLocal(root, checkout);
  mkdirSync(folder);
  const files = isKustomized
    ? [await render(root, join(folder, "manifests.yaml"))]
    : copyFiles(listFiles(path, checkout), folder);
  const changes = toImageChanges(images);
  if (changes.length === 0) return files;
  return [await change(files, { images: changes }, join(folder, "manifests-with-images.yaml"))];
}

/** As they are in the cluster, where kubectl adds labels. The same files if kustomize does not accept them. */
export async function addLabels(
  files: readonly string[],
  labels: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const [first = ""] = files;
  const changed = join(dirname(first), "manifests-with-labels.yaml");
  return change(files, { labels: [{ pairs: labels }] }, changed, { hidesErrors: true }).then(
    (file) => [file],
    () => files,
  );
}

/** The files are in one folder, which then has a kustomization. */
function change(
  files: readonly string[],
  members: object,
  changed: string,
  options: RenderOptions = {},
): Promise<string> {
  const resources = files.map((file) => basename(file));
  const folder = dirname(changed);
  const kustomization = JSON.stringify({ resources, ...members });
  writeFileSync(join(folder, "kustomization.yaml"), kustomization, { mode: 0o600 });
  return render(folder, changed, options);
}

/** A link may lead to a file of the runner, which kubectl would send to the cluster, or quote in an error. */
function listFiles(path: string, checkout: string): string[] {
  if (statSync(path).isFile()) return [path];
  const files = readdirSync(path)
    .filter((name) => EXTENSIONS.includes(extname(name)))
    .toSorted()
    .map((name) => join(path, name));
  const outside = files.find((file) => !isInside(checkout, file));
  if (outside !== undefined) {
    throw new ProgramError(`${basename(outside)} leads out of the repository, through a link.`);
  }
  if (files.length > 0) return files;
  throw new ProgramError(
    `The folder of the setting path has no files that end with ${EXTENSIONS.join(", ")}.`,
  );
}

function copyFiles(files: readonly string[], folder: string): string[] {
  return files.map((file, at) => {
    const copy = join(folder, `${at}${extname(file) === ".json" ? ".json" : ".yaml"}`);
    copyFileSync(file, copy);
    return copy;
  });
}

/** Without options that would run programs, such as those of plugins and Helm. */
async function render(
  kustomization: string,
  file: string,
  { hidesErrors = false }: RenderOptions = {},
): Promise<string> {
  const text = await readTool("kubectl", ["kustomize", kustomization], {
    variables: OFFLINE,
    hidesErrors,
    problem: "kubectl kustomize fails, so nothing was changed. The log says why.",
  });
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return file;
}
