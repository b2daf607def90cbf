import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { readEventCommit } from "../../../packages/action/src/commit.ts";
import { ActionStep } from "../support/action-step.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { GitRepository } from "../support/git-repository.ts";
import { RunnerProcess } from "../support/runner-process.ts";

const SHA = "ab".repeat(20);
const OTHER = "cd".repeat(20);

describe("the commit of an event", () => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-event-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  const JOB = {
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_REPOSITORY: "octo-org/octo-repo",
    GITHUB_REPOSITORY_ID: "74",
    GITHUB_SHA: SHA,
    GITHUB_REF: "refs/heads/main",
  };
  let count = 0;
  const read = (name: string, event: object, changes: object = {}, given?: string) => {
    count += 1;
    const path = join(folder, `${count}.json`);
    writeFileSync(path, JSON.stringify(event));
    const environment = { ...JOB, GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: path, ...changes };
    return readEventCommit(environment, given);
  };
  const unknown = (sha: string) => ({ sha, message: "", author: {}, committer: {} });
  const at = { provider: "github", owner: "octo-org", repo: "octo-repo", repo_id: "74" };
  const pushed = {
    deleted: false,
    repository: { id: 74 },
    head_commit: {
      id: SHA,
      message: "Say hello\n\nTo all.",
      author: { name: "Mona", email: "mona@example.com", username: "octocat" },
      committer: { name: "GitHub", email: "noreply@github.com" },
    },
  };

  it("is that of a push, with its message and its author", () => {
    expect(read("push", pushed)).toEqual({
      ...at,
      ref: "refs/heads/main",
      commit: {
        sha: SHA,
        message: "Say hello\n\nTo all.",
        author: { name: "Mona", email: "mona@example.com", login: "octocat" },
        committer: { name: "GitHub", email: "noreply@github.com" },
      },
    });
  });

  it.each([
    ["workflow_dispatch", "refs/heads/work"],
    ["schedule", "refs/heads/main"],
    ["release", "refs/tags/v2"],
  ])("is that of GITHUB_SHA for %s", (name, ref) => {
    const event = { repository: { id: 74 }, release: { tag_name: "v2", target_commitish: "main" } };
    expect(read(name, event, { GITHUB_REF: ref })).toEqual({ ...at, ref, commit: unknown(SHA) });
    expect(read(name, {}, { GITHUB_REF: ref })?.repo_id).toBe("74");
  });

  it.each(["pull_request", "pull_request_target"])(
    "is the head's for %s, also of a fork",
    (name) => {
      const head = (full_name: string, id: number) => ({
        repository: { id: 74 },
        pull_request: { number: 42, head: { sha: OTHER, ref: "work", repo: { full_name, id } } },
      });
      const merged = { GITHUB_REF: "refs/pull/42/merge" };
      expect(read(name, head("octo-org/octo-repo", 74), merged)).toEqual({
        ...at,
        ref: "refs/heads/work",
        commit: unknown(OTHER),
        pull_request: "42",
      });
      expect(read(name, head("mona/fork", 9), merged)).toMatchObject({
        ...{ owner: "mona", repo: "fork", repo_id: "9" },
      });
    },
  );

  it("is an error for a pull request whose fork is gone, and not that of a branch here", () => {
    const head = { sha: OTHER, ref: "main", repo: null };
    expect(() => read("pull_request", { pull_request: { number: 42, head } })).toThrow(
      "The event does not say which commit to deploy",
    );
    expect(() => read("workflow_run", {})).toThrow("The event does not say which commit");
  });

  it("is that of the workflow that has run, not that of the default branch", () => {
    const workflow_run = {
      ...{ head_sha: OTHER, head_branch: "work", head_commit: { id: OTHER, message: "Work" } },
      head_repository: { full_name: "octo-org/octo-repo", id: 74 },
    };
    expect(read("workflow_run", { workflow_run })).toEqual({
      ...at,
      ref: "refs/heads/work",
      commit: { ...unknown(OTHER), message: "Work" },
    });
  });

  it("has the texts of the checkout, where the event has none", async (context) => {
    const repository = await GitRepository.create();
    context.onTestFinished(() => repository.remove());
    const sha = await repository.commit({ "a.txt": "1" });
    const changes = { GITHUB_SHA: sha, GITHUB_WORKSPACE: repository.folder };
    const person = { name: "Ada", email: "ada@example.com" };
    const commit = { sha, message: "Change", author: person, committer: person };
    expect(read("schedule", {}, { ...changes, PATH: process.env["PATH"] })?.commit).toEqual(commit);
    expect(read("schedule", {}, { ...changes, GITHUB_SHA: OTHER })?.commit).toEqual(unknown(OTHER));
  });

  it("is at the URL of a server of one's own", () => {
    const source = read("push", pushed, { GITHUB_SERVER_URL: "https://git.example.com" });
    expect(source).toMatchObject({
      provider: "git",
      url: "https://git.example.com/octo-org/octo-repo.git",
    });
  });

  it("is what the input names, without the texts of another one", () => {
    expect(read("push", pushed, {}, OTHER)).toEqual({
      ...at,
      ref: "refs/heads/main",
      commit: unknown(OTHER),
    });
    expect(() => read("push", pushed, {}, "main")).toThrow("The input commit must be a full hash");
  });

  it("is none if the event has deleted the ref, or outside of GitHub", () => {
    const deleted = { ...pushed, deleted: true, head_commit: null };
    expect(() => read("push", deleted)).toThrow("The event deleted its branch or tag");
    expect(() => read("delete", {})).toThrow("The event deleted its branch or tag");
    expect(readEventCommit({})).toBeUndefined();
  });
});

describe("the action for a push", () => {
  const fixture = RunnerFixture.use();

  const DEPLOY = `#!/bin/sh
echo "Deploying $LONGSHORE_COMMIT: $(cat VERSION.txt)"
echo '{"output":{"name":"url","value":"https://shop.example.com"}}' >> "$LONGSHORE_REPORT_FILE"
`;

  async function prepare(context: TestContext) {
    const setup = await fixture.prepare(context);
    const { project, proxy } = setup;
    const repository = await GitRepository.create();
    context.onTestFinished(() => repository.remove());
    const commit = (version: string) =>
      repository.commit({ "deploy.sh": DEPLOY, "VERSION.txt": `${version}\n` });
    const script = { executor: "script", path: "deploy.sh" };
    const path = `/v1/environments/${project.environmentId}`;
    const { owner } = fixture.service;
    const { name } = await owner.call("GET", path);
    const configuration = { stacks: { first: script, second: script } };
    await owner.call("PUT", path, { name, configuration });
    const place = `github:octo-org/octo-repo=${repository.url}`;
    const runner = new RunnerProcess({
      ...{ url: proxy.url, token: project.token, command: undefined },
      flags: ["--executor", "script", "--repository", place],
    });
    context.onTestFinished(() => runner.stop());
    const push = async (sha: string, inputs: object = {}, changes: object = {}) => {
      const event = join(repository.folder, ".git", "event.json");
      const head_commit = { id: sha, message: "Say hello", author: { name: "Mona" } };
      writeFileSync(event, JSON.stringify({ repository: { id: 74 }, head_commit }));
      const step = new ActionStep(
        {
          ...{ url: fixture.service.url.origin, "api-key": project.key },
          ...{ environment: project.environmentId, ...inputs },
        },
        {
          ...{ GITHUB_EVENT_NAME: "push", GITHUB_EVENT_PATH: event },
          ...{ GITHUB_SHA: sha, GITHUB_REF: "refs/heads/main", ...changes },
        },
      );
      context.onTestFinished(() => step.stop());
      expect([await step.run(), step.annotations("error")]).toEqual([0, []]);
      return step;
    };
    return { ...setup, commit, push, path, configuration };
  }

  it("deploys exactly its commit, and says of a second job that there is nothing new", async (context) => {
    const { project, commit, push, path, configuration } = await prepare(context);
    const first = await commit("1");
    const second = await commit("2");
    const step = await push(first);
    expect(step.log).toContain(`[first] Deploying ${first}: 1\n`);
    const id = step.outputs["deployment-id"] ?? "";
    const { data } = await project.read(id);
    expect(data.source.git).toMatchObject({
      ...{ provider: "github", owner: "octo-org", repo: "octo-repo", repo_id: "74" },
      ref: "refs/heads/main",
      commit: { sha: first, message: "Say hello", author: { name: "Mona" } },
    });
    const again = await push(first);
    expect(again.annotations("notice")).toEqual([
      `Nothing new to deploy: ${project.environmentId} already runs ${first.slice(0, 7)}, from the deployment ${id}. ` +
        `To deploy it again: longshore deployments redeploy ${id}`,
    ]);
    expect(again.outputs).toEqual(step.outputs);
    expect(again.outputs).toMatchObject({ status: "succeeded", url: "https://shop.example.com" });

    const next = await push(second);
    expect(next.log).toContain(`[second] Deploying ${second}: 2\n`);
    expect(next.annotations("notice")).toEqual([]);
    const back = await push(first);
    expect(back.log).toContain(`[first] Deploying ${first}: 1\n`);

    // What else would change something.
    const { owner } = fixture.service;
    const deploys = async (inputs: object = {}) => {
      const { outputs, annotations } = await push(first, inputs).then((each) => ({
        outputs: each.outputs,
        annotations: each.annotations("notice"),
      }));
      expect(annotations).toEqual([]);
      return outputs["deployment-id"];
    };
    const ids = [
      back.outputs["deployment-id"],
      await deploys({ image: "shop:2" }),
      await deploys({ image: "shop:2", patch: '[{"op":"add","path":"/replicas","value":3}]' }),
    ];
    const { name } = await owner.call("GET", path);
    await owner.call("PUT", path, { name, configuration: { ...configuration, replicas: 4 } });
    ids.push(await deploys({ image: "shop:2" }));
    const nothing = await push(first, { image: "shop:2", stacks: "first" });
    expect(nothing.annotations("notice")).toHaveLength(1);
    expect(new Set(ids).size).toBe(4);
  });
});
