import { dirname, join } from "node:path";
import { readJsonFile, writeTextFile } from "./config-file.ts";
import { CliError } from "./errors.ts";

/** The project and the environment of a folder, each by its name or its ID. */
export interface Link {
  project: string;
  environment?: string | undefined;
}

export const LINK_FILE = ".longshore.json";
const FILE_MODE = 0o644;

/** The nearest link of the folder and those above it. */
export async function findLink(folder: string): Promise<{ path: string; link: Link } | undefined> {
  const link = await readLink(folder);
  if (link) return { path: join(folder, LINK_FILE), link };
  const parent = dirname(folder);
  return parent === folder ? undefined : findLink(parent);
}

/** The link of the folder itself. */
export async function readLink(folder: string): Promise<Link | undefined> {
  const path = join(folder, LINK_FILE);
  const file = await readJsonFile(path);
  return file && requireLink(file, path);
}

/** Returns the path of the file. */
export async function writeLink(folder: string, link: Link): Promise<string> {
  const path = join(folder, LINK_FILE);
  await writeTextFile(path, `${JSON.stringify(link, null, 2)}\n`, FILE_MODE);
  return path;
}

function requireLink({ project, environment }: Record<string, unknown>, path: string): Link {
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  if (isText(project) && (environment === undefined || isText(environment))) {
    return { project, environment } as Link;
  }
  throw new CliError(
    `${path} must have a project and an environment. Run: longshore link PROJECT ENVIRONMENT`,
  );
}
