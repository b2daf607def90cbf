import { lstat, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseJsonFile, readText, writeTextFile } from "./config-file.ts";
import { confirmLink } from "./confirmed-links.ts";
import { CliError } from "./errors.ts";
import type { CliContext } from "./session.ts";

/** The project and the environment of a folder, each by its name or its ID. */
export interface Link {
  project: string;
  environment?: string | undefined;
}

export const LINK_FILE = ".longshore.json";
const FILE_MODE = 0o644;

/** A link as it is in its file. */
export interface LinkFile {
  path: string;
  text: string;
  link: Link;
}

type LinkContext = Pick<CliContext, "folder" | "userId">;

/** The nearest link of the folder and those above it. */
export async function findLink({ folder, userId }: LinkContext): Promise<LinkFile | undefined> {
  const file = await readLink({ folder, userId });
  const parent = dirname(folder);
  return file || parent === folder ? file : findLink({ folder: parent, userId });
}

/** The link of the folder itself, unless another user owns it. */
export async function readLink({ folder, userId }: LinkContext): Promise<LinkFile | undefined> {
  const path = join(folder, LINK_FILE);
  const text = (await isOwn(path, userId)) ? await readText(path) : undefined;
  return text === undefined
    ? undefined
    : { path, text, link: requireLink(parseJsonFile(path, text), path) };
}

/** Returns the path of the file. The user need not confirm it. */
export async function writeLink(
  context: Pick<CliContext, "folder" | "environment">,
  link: Link,
): Promise<string> {
  const path = join(context.folder, LINK_FILE);
  const text = `${JSON.stringify(link, null, 2)}\n`;
  await confirmLink(context, { path, text });
  await writeTextFile(path, text, FILE_MODE);
  return path;
}

/** Both a symbolic link and the file that it leads to. On Windows, files have no such owner. */
async function isOwn(path: string, userId: number | undefined): Promise<boolean> {
  if (userId === undefined) return true;
  const found = await Promise.all([lstat(path), stat(path)]).catch(() => []);
  return found.length > 0 && found.every(({ uid }) => uid === userId);
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
