import type { Schemas } from "../../../../client/src/index.ts";

type Git = Schemas["GitSource"];

/** The paths of a commit, and of the difference between two, below a repository. */
interface CodeHost {
  url: string;
  commit: (sha: string) => string;
  compare: (before: string, after: string) => string;
}

/** The code hosts that everybody knows. */
const HOSTS: Partial<Record<Git["provider"], CodeHost>> = {
  github: {
    url: "https://github.com",
    commit: (sha) => `commit/${sha}`,
    compare: (before, after) => `compare/${before}...${after}`,
  },
  gitlab: {
    url: "https://gitlab.com",
    commit: (sha) => `-/commit/${sha}`,
    compare: (before, after) => `-/compare/${before}...${after}`,
  },
  bitbucket: {
    url: "https://bitbucket.org",
    commit: (sha) => `commits/${sha}`,
    compare: (before, after) => `branches/compare/${after}%0D${before}`,
  },
};

/** The commit at its code host. Undefined: only the URL of the repository is known. */
export function commitUrl(git: Git): string | undefined {
  return urlOf(git, ({ commit }) => commit(shaOf(git)));
}

/** What has changed between two commits of one repository. Undefined: they are not of one, or are the same. */
export function compareUrl(before: Git | undefined, after: Git | undefined): string | undefined {
  if (!before || !after || repositoryOf(before) !== repositoryOf(after)) return undefined;
  const [from, to] = [shaOf(before), shaOf(after)];
  return from === to ? undefined : urlOf(after, ({ compare }) => compare(from, to));
}

function urlOf(git: Git, pathOf: (host: CodeHost) => string): string | undefined {
  const host = HOSTS[git.provider];
  return host && `${host.url}/${repositoryOf(git).slice(git.provider.length + 1)}/${pathOf(host)}`;
}

/** Such as "github/acme/shop". */
function repositoryOf({ provider, owner, repo }: Git): string {
  return `${provider}/${owner}/${repo}`.split("/").map(encodeURIComponent).join("/");
}

function shaOf({ commit }: Git): string {
  return encodeURIComponent(commit.sha);
}
