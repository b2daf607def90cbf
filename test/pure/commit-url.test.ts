import { describe, expect, it } from "vitest";
import { commitUrl, compareUrl } from "../../packages/console/src/pages/deployment/commit-url.ts";

const sha = "ab".repeat(20);
const at = (provider: "github" | "gitlab" | "bitbucket" | "git", owner: string, url?: string) => ({
  ...{ provider, owner, repo: "shop", repo_id: "", installation_id: "", ref: "refs/heads/main" },
  commit: { sha, message: "Say hello", author: {}, committer: {} },
  ...(url !== undefined && { url }),
});

describe("the link to a commit", () => {
  it.each([
    [at("github", "acme"), `https://github.com/acme/shop/commit/${sha}`],
    [at("gitlab", "acme/web"), `https://gitlab.com/acme/web/shop/-/commit/${sha}`],
    [at("bitbucket", "a?b"), `https://bitbucket.org/a%3Fb/shop/commits/${sha}`],
    [at("git", "acme", "https://git.example.com/acme/shop.git"), undefined],
  ])("leads to the code host, where one is known: %j", (git, url) => {
    expect(commitUrl(git)).toBe(url);
  });
});

describe("the link between two commits", () => {
  const older = {
    ...at("github", "acme"),
    commit: { ...at("github", "acme").commit, sha: "older" },
  };
  const olderThan = (git: ReturnType<typeof at>) => ({ ...git, commit: older.commit });

  it.each([
    [at("github", "acme"), `https://github.com/acme/shop/compare/older...${sha}`],
    [at("gitlab", "acme/web"), `https://gitlab.com/acme/web/shop/-/compare/older...${sha}`],
    [at("bitbucket", "a?b"), `https://bitbucket.org/a%3Fb/shop/branches/compare/${sha}%0Dolder`],
    [at("git", "acme", "https://git.example.com/acme/shop.git"), undefined],
  ])("compares them at the code host: %j", (git, url) => {
    expect(compareUrl(olderThan(git), git)).toBe(url);
  });

  it("is missing between repositories, for the same commit, and for the first one", () => {
    const git = at("github", "acme");
    expect(compareUrl(olderThan(at("github", "other")), git)).toBe(undefined);
    expect(compareUrl(olderThan(at("gitlab", "acme")), git)).toBe(undefined);
    expect(compareUrl(git, git)).toBe(undefined);
    expect(compareUrl(undefined, git)).toBe(undefined);
  });
});
