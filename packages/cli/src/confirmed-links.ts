import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { readJsonFile, writeTextFile } from "./config-file.ts";
import { CliError } from "./errors.ts";
import type { LinkFile } from "./link-file.ts";
import { toPlainText } from "./plain-text.ts";
import { profilesPath } from "./profiles.ts";
import { isInteractive, requireConsent } from "./prompts.ts";
import type { CliContext, Session } from "./session.ts";

/** Others may not choose what is confirmed. */
const FILE_MODE = 0o600;

type Content = Pick<LinkFile, "path" | "text">;

/** Whether the user has written this file or confirmed it, as it is now. */
export async function isConfirmed(
  { environment }: Pick<CliContext, "environment">,
  { path, text }: Content,
): Promise<boolean> {
  const digests = await readDigests(environment);
  return Object.hasOwn(digests, path) && digests[path] === digestOf(text);
}

export async function confirmLink(
  { environment }: Pick<CliContext, "environment">,
  { path, text }: Content,
): Promise<void> {
  // Another command may have written since.
  const digests = { ...(await readDigests(environment)), [path]: digestOf(text) };
  const content = `${JSON.stringify(digests, null, 2)}\n`;
  await writeTextFile(digestsPath(environment), content, FILE_MODE);
}

/**
 * Asks before a link is followed that came with a clone, or that somebody has changed: it chooses whose variables a
 * command gets, and what it deploys.
 *
 * @throws CliError without consent, or without a terminal.
 */
export async function requireConfirmed(
  context: CliContext,
  session: Session,
  file: LinkFile,
): Promise<void> {
  if (await isConfirmed(context, file)) return;
  if (!isInteractive(context)) throw describeUnconfirmed(file);
  context.output.note(`${describeFile(file)}. Its names are looked up at ${session.url}`);
  await requireConsent(context, "Use this link?", {});
  await confirmLink(context, file);
}

export function describeUnconfirmed(file: LinkFile): CliError {
  return new CliError(
    `${describeFile(file)}. Add --project and --environment, or confirm it: longshore link --confirm`,
  );
}

function describeFile(file: LinkFile): string {
  const path = toPlainText(file.path);
  return `${path} names ${describeLink(file)}, and you have neither written nor confirmed this file`;
}

/** For people. The file may be a stranger's. */
export function describeLink({ link: { project, environment } }: LinkFile): string {
  return toPlainText(
    environment === undefined ? `the project ${project}` : `${environment} of ${project}`,
  );
}

/** Beside the logins. */
function digestsPath(environment: NodeJS.Dict<string>): string {
  return join(dirname(profilesPath(environment)), "links.json");
}

/** The SHA-256 of each link by its path. */
async function readDigests(environment: NodeJS.Dict<string>): Promise<Record<string, unknown>> {
  return (await readJsonFile(digestsPath(environment))) ?? {};
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
