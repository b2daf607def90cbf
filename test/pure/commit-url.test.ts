import { describe, expect, it } from "vitest";
import { commitUrl } from "../../packages/console/src/pages/deployment/commit-url.ts";

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
