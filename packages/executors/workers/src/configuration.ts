import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { ProgramError } from "../../program/src/index.ts";

/** In the order in which wrangler looks for them. */
const NAMES = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** The configuration of wrangler in the folder. wrangler itself would also look in the folders above the checkout. */
export function findConfiguration(folder: string, checkout: string): string {
  for (const name of NAMES) {
    const path = realPath(join(folder, name));
    if (path === undefined) continue;
    const inside = relative(realpathSync(checkout), path);
    if (inside.split(sep)[0] !== ".." && !isAbsolute(inside)) return path;
    throw new ProgramError(`${name} leads out of the repository, through a link.`);
  }
  throw new ProgramError(
    `The commit has no configuration of wrangler (${NAMES.join(", ")}) in the folder of the setting folder.`,
  );
}

function realPath(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}
