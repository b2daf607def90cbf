import { sha256Hex } from "../../../lib/digest.ts";
import { canonicalJson } from "../../../lib/json-value.ts";
import type { Content } from "../conditions/index.ts";
import { type Document, patchBetween } from "./patch.ts";
import { type RebaseInput, resolveRebase } from "./rebase.ts";

/** The paths that a message names. */
const NAMED_PATHS = 10;

/** What a queued deployment would start now. */
export interface ResultingContent {
  configuration: Document;
  /** JSON: `BASIS`. */
  basis: string;
  digest: string;
}

/** Undefined: the patch does not apply. */
export async function contentOf(
  pending: RebaseInput & { basis: string },
): Promise<ResultingContent | undefined> {
  const result = resolveRebase(pending);
  if ("message" in result) return undefined;
  const configuration = JSON.parse(result.configuration) as Document;
  const { basis } = pending;
  const [, source, stacks] = JSON.parse(basis) as Basis;
  return {
    configuration,
    basis,
    digest: await sha256Hex(canonicalJson([configuration, source, stacks])),
  };
}

/** The version of the configuration, the source as JSON, and the stacks. */
type Basis = [number, string | null, unknown];

/** As it is stored with an approval. */
export function toContentText({ configuration, basis }: ResultingContent): string {
  return JSON.stringify({ configuration, basis });
}

/** Another deployment with its configuration as JSON. */
export interface EarlierContent {
  id: string;
  configuration: string;
}

/** Those whose configuration is the same outside of some paths. */
export function findSame(
  { configuration }: Pick<ResultingContent, "configuration">,
  earlier: readonly EarlierContent[],
  exceptions: readonly string[],
): string[] {
  const isExcepted = (path: string) =>
    exceptions.some((each) => path === each || path.startsWith(`${each}/`));
  return earlier
    .filter(({ configuration: text }) => text !== "")
    .filter(({ configuration: text }) =>
      patchBetween(JSON.parse(text) as Document, configuration).every(({ path }) =>
        isExcepted(path),
      ),
    )
    .map(({ id }) => id);
}

/** @param approved The contents that approvals were given for, as they are stored. */
export function compareContents(
  now: ResultingContent | undefined,
  approved: readonly string[],
  sameIds: readonly string[],
): Content {
  if (!now) return { digest: null, differences: [], sameIds: [] };
  const differing = approved.flatMap((text) => differencesOf(text, now));
  const paths = [...new Set(differing)];
  const named = paths.slice(0, NAMED_PATHS);
  const more = paths.length > named.length ? [`${paths.length - named.length} more paths`] : [];
  return { digest: now.digest, differences: [...named, ...more], sameIds };
}

function differencesOf(approved: string, now: ResultingContent): string[] {
  if (approved === "") return [];
  const before = JSON.parse(approved) as Pick<ResultingContent, "configuration" | "basis">;
  const [, source, stacks] = JSON.parse(before.basis) as Basis;
  const [, sourceNow, stacksNow] = JSON.parse(now.basis) as Basis;
  return [
    ...patchBetween(before.configuration, now.configuration).map(({ path }) => path || "/"),
    ...(source === sourceNow ? [] : ["the source"]),
    ...(canonicalJson(stacks) === canonicalJson(stacksNow) ? [] : ["the stacks"]),
  ];
}
