import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, type TestContext } from "vitest";
import { CliUser } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { useService } from "../support/service.ts";

const service = useService();

const PERSON = {
  ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" },
  ...{ GIT_COMMITTER_NAME: "Grace", GIT_COMMITTER_EMAIL: "grace@example.com" },
};
const ALONE = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", ...PERSON };
const WEB = { stacks: { web: { executor: "script", path: "deploy.sh" } } };

/** A clone of a bare repository with one commit, in the folder of a user whose link is the environment. */
async function clone(context: TestContext, configuration: object = WEB) {
  const environment = await DeployedEnvironment.make(service, configuration);
  const settings = { LONGSHORE_URL: service.url.origin, LONGSHORE_API_KEY: environment.apiKey };
  const user = new CliUser({ ...settings, ...ALONE });
  const folder = mkdtempSync(join(tmpdir(), "longshore-origin-"));
  const origin = join(folder, "hello.git");
  context.onTestFinished(() => {
    user.remove();
    rmSync(folder, { recursive: true });
  });
  const git = (...args: string[]) => {
    const env = { ...process.env, ...ALONE };
    const stdio = ["ignore", "pipe", "ignore"] as ("ignore" | "pipe")[];
    return execFileSync("git", args, { cwd: user.folder, env, encoding: "utf8", stdio }).trim();
  };
  git("init", "--quiet", "--bare", "--initial-branch=main", origin);
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", origin);
  writeFileSync(join(user.folder, ".gitignore"), "/config\n/.longshore*\n");
  const commit = (message: string) => {
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", "--message", message);
    return git("rev-parse", "HEAD");
  };
  const first = commit("Say hello\n\nTo everybody.");
  git("push", "--quiet", "--set-upstream", "origin", "main");
  await user.link({ project: environment.projectId, environment: "staging" });
  const url = pathToFileURL(origin).href;
  const deployed = async (...args: string[]) => {
    const { stdout, stderr, status } = await user.run(["deploy", "--json", ...args]);
    expect([stderr, status]).toEqual([expect.anything(), 0]);
    return { stderr, source: JSON.parse(stdout).data.source };
  };
  return { user, git, commit, first, url, deployed, origin };
}

describe.concurrent("longshore deploy in a git repository", () => {
  it("deploys the commit that is checked out, if a stack needs one", async (context) => {
    const { deployed, first, url } = await clone(context);
    const { source, stderr } = await deployed();
    expect(source).toEqual({
      git: {
        ...{ provider: "git", url, ref: "refs/heads/main", repo: "hello" },
        ...{ owner: expect.stringMatching(/^longshore-origin-/), installation_id: "", repo_id: "" },
        commit: {
          sha: first,
          message: "Say hello\n\nTo everybody.",
          author: { name: "Ada", email: "ada@example.com" },
          committer: { name: "Grace", email: "grace@example.com" },
        },
      },
    });
    expect(stderr).toBe(`Deploying ${first.slice(0, 7)} of main from ${url}.\n`);
    const both = await deployed("--image", "shop:1");
    expect(both.source).toEqual({ ...source, registry: { image: "shop:1" } });
  });

  it("keeps what the environment runs where no deployed stack needs a commit, unless it is asked for", async (context) => {
    const { deployed, first } = await clone(context, { stacks: { web: { size: 2 } } });
    expect(await deployed()).toEqual({ stderr: "", source: undefined });
    expect((await deployed("--commit", "HEAD")).source.git.commit.sha).toBe(first);
    const set = ["--set", "stacks.web.executor=script", "--set", "stacks.web.path=deploy.sh"];
    const named = await deployed("--set-json", "stacks.web={}", ...set);
    expect(named.source.git.commit.sha).toBe(first);
    const other = await clone(context);
    expect((await other.deployed("--stack", "worker")).source).toBeUndefined();
    expect((await other.deployed("--stack", "web")).source.git.commit.sha).toBe(other.first);
  });

  it("deploys another commit, of a branch or a tag", async (context) => {
    const { deployed, commit, git, first } = await clone(context);
    const second = commit("Say ahoy");
    git("tag", "v2");
    git("push", "--quiet", "origin", "main", "v2");
    expect((await deployed("--commit", first.slice(0, 8))).source.git.commit.sha).toBe(first);
    expect((await deployed("--ref", "v2")).source.git).toMatchObject({
      ref: "refs/tags/v2",
      commit: { sha: second, message: "Say ahoy" },
    });
    git("checkout", "--quiet", "-b", "work");
    git("push", "--quiet", "--set-upstream", "origin", "work:release");
    expect((await deployed()).source.git.ref).toBe("refs/heads/release");
    git("checkout", "--quiet", "--detach", first);
    expect((await deployed("--ref", "main")).source.git).toMatchObject({
      ref: "refs/heads/main",
      commit: { sha: first },
    });
  });

  it("names what is not committed, and moves no branch", async (context) => {
    const { deployed, user, git, first } = await clone(context);
    const before = git("for-each-ref", "refs/heads");
    writeFileSync(join(user.folder, "b c.txt"), "");
    writeFileSync(join(user.folder, ".gitignore"), "/config\n/.longshore*\n#\n");
    const named = await deployed();
    expect(named.stderr).toContain("Not deployed, because not committed: .gitignore, b c.txt.\n");
    for (const name of ["1", "2", "3", "4"]) writeFileSync(join(user.folder, name), "");
    expect((await deployed()).stderr).toContain("committed: .gitignore, 1, 2, 3, 4 and 1 more.\n");
    expect((await deployed("--commit", first)).stderr).not.toContain("Not deployed");
    expect(git("for-each-ref", "refs/heads")).toBe(before);
  });

  it("refuses a commit that the remote does not have", async (context) => {
    const { user, commit, git, first } = await clone(context);
    const refusal = async (...args: string[]) => {
      const { stdout, stderr, status } = await user.run(["deploy", ...args]);
      expect([stdout, status]).toEqual(["", 1]);
      return stderr;
    };
    const second = commit("Say ahoy");
    expect(await refusal()).toContain(
      `The commit ${second.slice(0, 7)} is not in main of origin. Push it first: git push\n`,
    );
    git("checkout", "--quiet", "-b", "new");
    expect(await refusal()).toContain("origin has no new. Push it first: git push -u origin new\n");
    expect(await refusal("--commit", "nothing")).toContain(
      'The repository has no commit "nothing".',
    );
    expect(await refusal("--commit", "--help")).toContain('The repository has no commit "--help".');
    expect(await refusal("--ref=--help")).toContain('"--help" is not a branch or tag.');
    git("checkout", "--quiet", "--detach", first);
    expect(await refusal()).toContain("HEAD is detached. Name the branch or tag");
    expect(await refusal("--source", "-", "--commit", "HEAD")).toContain("--source says what to");
    git("checkout", "--quiet", "main");
    git("remote", "set-url", "origin", "http://git.example.com/shop.git");
    expect(await refusal()).toContain("Runners can't fetch from the remote origin.");
  });

  it("goes on, and says so, if the remote does not answer or the clone is shallow", async (context) => {
    const { user, deployed, commit, git, url, first } = await clone(context);
    git("remote", "set-url", "origin", `${url}/gone`);
    const unknown = await deployed();
    expect(unknown.stderr).toContain("Couldn't check that main of origin has the commit.");
    expect(unknown.source.git.commit.sha).toBe(first);
    git("remote", "set-url", "origin", url);
    const second = commit("Say ahoy");
    const third = commit("Say farewell");
    git("push", "--quiet", "origin", "main");
    rmSync(join(user.folder, ".git"), { recursive: true });
    git("init", "--quiet", "--initial-branch=main");
    git("remote", "add", "origin", url);
    git("fetch", "--quiet", "--depth=1", "origin", "main");
    git("checkout", "--quiet", "--force", "-B", "main", "FETCH_HEAD");
    expect((await deployed()).source.git.commit.sha).toBe(third);
    const own = commit("Only here");
    const shallow = await deployed();
    expect(shallow.stderr).toContain("because the clone is shallow");
    expect([shallow.source.git.commit.sha, second === own]).toEqual([own, false]);
  });

  it("is refused by the service elsewhere, which says what it needs", async (context) => {
    const { user } = await clone(context);
    rmSync(join(user.folder, ".git"), { recursive: true });
    const { stderr, status } = await user.run(["deploy"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("The stack web needs a commit")]);
    const asked = await user.run(["deploy", "--commit", "HEAD"]);
    expect(asked.stderr).toContain("This folder is not in a git repository.");
  });
});
