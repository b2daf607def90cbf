import { sha256Hex } from "../../../lib/digest.ts";
import { getChild, hasValidEscapes, parsePointer } from "../../../lib/json-pointer.ts";
import { canonicalJson, isObject } from "../../../lib/json-value.ts";
import type { Document } from "./patch.ts";
import { type RebaseInput, resolveRebase } from "./rebase.ts";

/** What a queued deployment would start now. */
export interface ResultingContent {
  configuration: Document;
  /** JSON: `BASIS`. */
  basis: string;
  configurationDigest: string;
  /** The content digest: mode, configuration, source, stacks and connection. */
  digest: string;
}

/** Digests of the configuration that a queued deployment results in, as they are stored with it. */
export interface Resulting {
  /** The version of the environment's configuration. */
  version: number;
  /** Empty: the patch does not apply. */
  digest: string;
  /** Digest of the paths that `compared` leaves out. Null: no rule compares it. */
  exceptions: string | null;
  compared: string | null;
}

/** What every deployment does, for now. */
const MODE = "deploy";

/** Undefined: the patch does not apply. */
export async function contentOf(
  pending: RebaseInput & { basis: string },
): Promise<ResultingContent | undefined> {
  const result = resolveRebase(pending);
  if ("message" in result) return undefined;
  const configuration = JSON.parse(result.configuration) as Document;
  const { basis } = pending;
  const [, ...others] = JSON.parse(basis) as unknown[];
  const configurationDigest = await digestOf(configuration);
  const digest = await sha256Hex(canonicalJson([MODE, configurationDigest, ...others]));
  return { configuration, basis, configurationDigest, digest };
}

/** @param exceptions Undefined: no rule compares the configuration with an earlier one. */
export async function resultingOf(
  pending: RebaseInput,
  exceptions: readonly string[] | undefined,
): Promise<Resulting> {
  const result = resolveRebase(pending);
  const { version } = result;
  const digests =
    "message" in result ? NO_DIGESTS : await digestsOf(result.configuration, exceptions);
  const ofExceptions = exceptions ? await digestOfExceptions(exceptions) : null;
  return { version, exceptions: ofExceptions, ...digests };
}

const NO_DIGESTS = { digest: "", compared: "" };

/** @param text JSON. */
export async function digestsOf(
  text: string,
  exceptions: readonly string[] | undefined,
): Promise<Pick<Resulting, "digest" | "compared">> {
  const configuration = JSON.parse(text) as Document;
  const digest = await digestOf(configuration);
  if (!exceptions) return { digest, compared: null };
  for (const pointer of exceptions.toSorted(lastFirst)) removePath(configuration, pointer);
  return { digest, compared: await digestOf(configuration) };
}

/** The last elements of an array first, so that those before keep their places. */
function lastFirst(one: string, other: string): number {
  return other.localeCompare(one, "en", { numeric: true });
}

/** @param text JSON. */
export function digestOfText(text: string): Promise<string> {
  return digestOf(JSON.parse(text) as Document);
}

function digestOf(configuration: Document): Promise<string> {
  return sha256Hex(canonicalJson(configuration));
}

export function digestOfExceptions(exceptions: readonly string[]): Promise<string> {
  return sha256Hex(JSON.stringify(exceptions.toSorted()));
}

/** An element of an array leaves its place empty, unless it is the last. */
function removePath(document: Document, pointer: string): void {
  if (!hasValidEscapes(pointer)) return;
  const tokens = parsePointer(pointer);
  const last = tokens.pop() ?? "";
  let parent: unknown = document;
  for (const token of tokens) parent = getChild(parent, token);
  if (getChild(parent, last) === undefined) return;
  if (isObject(parent)) delete parent[last];
  if (!Array.isArray(parent)) return;
  if (Number(last) === parent.length - 1) parent.pop();
  else parent[Number(last)] = null;
}
