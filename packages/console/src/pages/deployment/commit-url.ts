import type { Schemas } from "../../../../client/src/index.ts";

type Git = Schemas["GitSource"];

/** Where the code hosts that everybody knows have a commit. */
const COMMITS: Partial<Record<Git["provider"], (repository: string, sha: string) => string>> = {
  github: (repository, sha) => `https://github.com/${repository}/commit/${sha}`,
  gitlab: (repository, sha) => `https://gitlab.com/${repository}/-/commit/${sha}`,
  bitbucket: (repository, sha) => `https://bitbucket.org/${repository}/commits/${sha}`,
};

/** The commit at its code host. Undefined: only the URL of the repository is known. */
export function commitUrl({ provider, owner, repo, commit }: Git): string | undefined {
  const repository = `${owner}/${repo}`.split("/").map(encodeURIComponent).join("/");
  return COMMITS[provider]?.(repository, encodeURIComponent(commit.sha));
}
