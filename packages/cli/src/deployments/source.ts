import type { Schemas } from "../../../client/src/index.ts";

const SHORT_HASH = 7;

/** A commit and an image in one line. Undefined if there is neither. */
export function describeSource(
  source: Schemas["DeploymentSource"] | undefined,
): string | undefined {
  const { git, registry } = source ?? {};
  const ref = git?.ref.replace(/^refs\/(heads|tags)\//, "");
  const commit = git && `${git.owner}/${git.repo}@${ref} ${git.commit.sha.slice(0, SHORT_HASH)}`;
  return [commit ?? [], registry?.image ?? []].flat().join(", ") || undefined;
}
