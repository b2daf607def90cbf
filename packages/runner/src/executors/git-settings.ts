import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { TextError } from "./interpolation.ts";

/** How git reaches a private repository, and which folders of other users it may read. Neither runs anything of a commit. */
const KEPT = "^(credential\\..*|safe\\.directory)$";
/** The first version that reads `GIT_CONFIG_GLOBAL`: an older one would run the user's filters. */
const OLDEST = { major: 2, minor: 32 };
/** What `git config` exits with if no setting matches. */
const NONE = 1;

/**
 * Writes the settings that are kept of the configuration of the user to a file for `GIT_CONFIG_GLOBAL`. They may
 * contain passwords, so no argument of a process has them.
 *
 * @throws TextError if git is too old to read no others, or cannot read these.
 */
export async function writeKeptSettings(
  file: string,
  folder: string,
  env: NodeJS.Dict<string>,
): Promise<void> {
  const run = (...args: string[]) =>
    promisify(execFile)("git", args, { cwd: folder, env: env as NodeJS.ProcessEnv }).then(
      ({ stdout }) => stdout,
      (error) => {
        if (error.code === NONE) return "";
        throw new TextError(
          "The git configuration of the runner's user cannot be read. On its machine, git config --list says why.",
        );
      },
    );
  requireVersion(await run("version"));
  const settings = await run("config", "--null", "--get-regexp", KEPT);
  writeFileSync(file, toFile(settings), { mode: 0o600 });
}

function requireVersion(text: string): void {
  const [, version = "", major, minor] = /^git version ((\d+)\.(\d+)\S*)/.exec(text) ?? [];
  const isNewer = Number(major) > OLDEST.major;
  if (isNewer || (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor)) return;
  throw new TextError(
    `git ${version} is too old for the runner, which needs ${OLDEST.major}.${OLDEST.minor} or newer: an older one ` +
      "runs filters of the user's configuration. Update git on the runner's machine.",
  );
}

/** Each setting with a heading of its own, in the same order: an empty helper resets those before it. */
function toFile(settings: string): string {
  const lines = settings.split("\0").flatMap((setting) => {
    const [, section, subsection, name, value] =
      /^([^.\n]+)(?:\.([^\n]*))?\.([^.\n]+)(?:\n(.*))?$/s.exec(setting) ?? [];
    if (section === undefined) return [];
    const heading = subsection === undefined ? section : `${section} "${escapeText(subsection)}"`;
    return [`[${heading}]`, value === undefined ? name : `${name} = "${escapeText(value)}"`];
  });
  return `${lines.join("\n")}\n`;
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
}
