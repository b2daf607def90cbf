import { beforeEach, describe, expect, it } from "vitest";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { newDeployment } from "../../support/world.ts";

const shop = useShop();

const imageOf = (tag: string) => ({ registry: { image: `ghcr.io/acme/shop:${tag}` } });

async function start(): Promise<{ attempt: Attempt; source: unknown }> {
  const attempt = await Attempt.claim(shop.pool.runner);
  const { body } = await attempt.post("start");
  expect(body.input.deployment.source).toEqual(body.deployment.data.source);
  return { attempt, source: body.input.deployment.source };
}

async function run(outcome = "succeeded"): Promise<unknown> {
  const { attempt, source } = await start();
  const completed = outcome === "succeeded" ? attempt.succeed() : attempt.complete(outcome);
  expect((await completed).status).toBe(200);
  return source;
}

describe("a deployment without a source", () => {
  it("deploys what the environment runs, and null clears it", async () => {
    expect((await shop.deploy()).data.source).toBeUndefined();
    expect(await run()).toBeUndefined();
    await shop.deploy({ source: imageOf("1") });
    expect(await run()).toEqual(imageOf("1"));
    expect((await shop.deploy()).data.source).toEqual(imageOf("1"));
    expect(await run()).toEqual(imageOf("1"));
    await shop.deploy({ source: null });
    expect(await run()).toBeUndefined();
    await shop.deploy();
    expect(await run()).toBeUndefined();
  });

  it("gets what has succeeded between its creation and its start, and nothing that has failed", async () => {
    await shop.deploy({ source: imageOf("1"), queue: "fifo" });
    const kept = await shop.deploy({ queue: "fifo" });
    expect(kept.data.source).toBeUndefined();
    expect(await run()).toEqual(imageOf("1"));
    expect(await run("failed")).toEqual(imageOf("1"));
    const read = await shop.world.client.get(`/v1/deployments/${kept.id}`);
    expect(read.body.data.source).toEqual(imageOf("1"));
    await shop.deploy({ source: imageOf("2"), queue: "fifo" });
    await shop.deploy({ queue: "fifo" });
    expect(await run("failed")).toEqual(imageOf("2"));
    expect(await run()).toEqual(imageOf("1"));
  });

  it("is not changed by another environment", async () => {
    const environments = `/v1/projects/${shop.project.id}/environments`;
    const { body: other } = await shop.world.client.post(environments, { name: "other" });
    await newDeployment(shop.world.client, other.id, { source: imageOf("other") });
    await shop.deploy({ source: imageOf("1") });
    expect(await run()).toEqual(imageOf("1"));
    await shop.deploy();
    expect(await run()).toEqual(imageOf("1"));
  });

  it("is not what a redeployment or a promotion is: these have that of their deployment", async () => {
    await shop.deploy();
    await run();
    const [without] = (
      await shop.world.client.get(`/v1/environments/${shop.environmentId}/deployments`)
    ).body.data;
    await shop.deploy({ source: imageOf("2") });
    await run();
    const again = await shop.world.client.post(`/v1/deployments/${without.id}/redeploy`, {});
    expect([again.status, again.body.data.source]).toEqual([201, undefined]);
    expect(await run()).toBeUndefined();
  });
});

describe("the input of a start", () => {
  it("says which request has created the deployment", async () => {
    const created = await shop.deploy();
    const first = await Attempt.claim(shop.pool.runner);
    expect((await first.post("start")).body.input.deployment).toMatchObject({
      id: created.id,
      trigger: "api",
    });
    await first.succeed();
    await shop.world.client.post(`/v1/deployments/${created.id}/redeploy`, {});
    const second = await Attempt.claim(shop.pool.runner);
    expect((await second.post("start")).body.input.deployment.trigger).toBe("redeployment");
    await second.complete("failed");
    const back = await shop.world.client.post(`/v1/deployments/${created.id}/redeploy`, {});
    expect((await shop.world.client.get(`/v1/deployments/${back.body.id}`)).body.trigger).toBe(
      "rollback",
    );
    const third = await Attempt.claim(shop.pool.runner);
    expect((await third.post("start")).body.input.deployment.trigger).toBe("redeployment");
  });
});

describe("the source of a request", () => {
  const sha = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
  const commit = { author: {}, committer: {}, message: "Scale up", sha };
  const ref = "refs/heads/main";
  const atGitHub = { commit, ref, provider: "github", owner: "acme", repo: "shop" };
  const atServer = (url: string) => ({ commit, ref, provider: "git", url });
  const deployments = () => `/v1/environments/${shop.environmentId}/deployments`;

  const refusalOf = async (git: object) => {
    const reply = await shop.world.client.post(deployments(), { source: { git } });
    expect([reply.status, reply.body.code]).toEqual([400, "bad_input"]);
    return reply.body.cause.issues;
  };

  it("may leave out the IDs of the code host, which are then empty", async () => {
    const { data } = await shop.deploy({ source: { git: atGitHub } });
    expect(data.source).toEqual({ git: { ...atGitHub, installation_id: "", repo_id: "" } });
    expect((await shop.deploy({ source: data.source })).data.source).toEqual(data.source);
    const known = { ...atGitHub, provider: "gitlab", installation_id: "5", repo_id: "7" };
    expect((await shop.deploy({ source: { git: known } })).data.source.git).toEqual(known);
    expect(await run()).toEqual({ git: known });
  });

  it("names the owner and the repository, except by a URL", async () => {
    const { owner: _, repo: __, ...unnamed } = atGitHub;
    expect((await refusalOf(unnamed)).map(({ path }: { path: string }) => path)).toEqual([
      "source.git.owner",
      "source.git.repo",
    ]);
    expect(await refusalOf({ ...atGitHub, owner: "" })).toEqual([
      { path: "source.git.owner", message: "Send the account that owns the repository." },
    ]);
    expect(await refusalOf({ ...atGitHub, url: "https://github.com/acme/shop" })).toEqual([
      { path: "source.git.url", message: "Send a url only with the provider git." },
    ]);
  });

  it.each([
    [
      "https://Git.Example.com:443/team/shop.git/",
      "https://git.example.com/team/shop.git",
      "team",
      "shop",
    ],
    ["https://git.example.com:8443/a/b/shop", "https://git.example.com:8443/a/b/shop", "b", "shop"],
    ["ssh://git@Git.example.com:22/shop.git", "ssh://git@git.example.com/shop.git", "", "shop"],
    ["file:///srv/git/hello.git", "file:///srv/git/hello.git", "git", "hello"],
  ])("may be at any server: %s", async (url, shown, owner, repo) => {
    const { data } = await shop.deploy({ source: { git: atServer(url) } });
    const expected = { ...atServer(shown), owner, repo, installation_id: "", repo_id: "" };
    expect(data.source.git).toEqual(expected);
    const again = await shop.deploy({ source: data.source });
    expect(again.data.source).toEqual(data.source);
    expect(await run()).toEqual(data.source);
  });

  it.each([
    undefined,
    "git.example.com/shop.git",
    "git@git.example.com:acme/shop.git",
    "http://git.example.com/acme/shop.git",
    "git://git.example.com/acme/shop.git",
    "https://mona@git.example.com/acme/shop.git",
    "https://mona:secret@git.example.com/acme/shop.git",
    "ssh://git:secret@git.example.com/acme/shop.git",
    "https://git.example.com/",
    "https://git.example.com/.git",
    "https://git.example.com/acme/shop.git?ref=main",
    "https://git.example.com/acme/shop.git#main",
    "file://server/srv/shop.git",
    "ext::sh -c id",
  ])("has no URL that a runner could not compare, or with a password: %s", async (url) => {
    const [issue, ...others] = await refusalOf({ commit, ref, provider: "git", url });
    expect(others).toEqual([]);
    expect(issue.path).toBe("source.git.url");
    expect(issue.message).not.toContain("secret");
  });

  it("has the names that follow from its URL, or none", async () => {
    const git = { ...atServer("https://git.example.com/acme/shop.git"), owner: "acme" };
    expect((await shop.deploy({ source: { git } })).data.source.git.repo).toBe("shop");
    expect(await refusalOf({ ...git, owner: "evil", repo: "other" })).toEqual([
      { path: "source.git.owner", message: "Leave it out: it follows from the url." },
      { path: "source.git.repo", message: "Leave it out: it follows from the url." },
    ]);
  });
});

describe("a stack that a built-in executor deploys", () => {
  const git = {
    commit: { author: {}, committer: {}, message: "Scale up", sha: "a".repeat(40) },
    ref: "refs/heads/main",
    ...{ provider: "github", owner: "acme", repo: "shop" },
  };
  let otherId: string;

  const configure = async (stacks: object) => {
    const path = `/v1/environments/${shop.environmentId}`;
    const { name } = (await shop.world.client.get(path)).body;
    const reply = await shop.world.client.put(path, { name, configuration: { stacks } });
    expect(reply.status).toBe(200);
  };
  const post = (path: string, body: object) => shop.world.client.post(path, body);

  beforeEach(async () => {
    const path = `/v1/environments/${shop.environmentId}/stacks`;
    await shop.world.client.post(path, { name: "site" });
    otherId = (await shop.world.client.post(path, { name: "other" })).body.id;
    await configure({ site: { executor: "script", path: "deploy.sh" } });
  });

  it("needs a commit, and says so before anything is created", async () => {
    const path = `/v1/environments/${shop.environmentId}`;
    for (const body of [{}, { source: imageOf("1") }, { source: null }]) {
      const refused = await post(`${path}/deployments`, body);
      expect([refused.status, refused.body.cause.issues]).toEqual([
        400,
        [
          {
            path: "source",
            message: expect.stringContaining("The stack site needs a commit"),
          },
        ],
      ]);
      const preview = await post(`${path}/deployment-preview`, body);
      expect(preview.body.error.message).toContain("The stack site needs a commit");
    }
    expect((await shop.world.client.get(`${path}/deployments`)).body.data).toEqual([]);
    expect((await post(`${path}/deployments`, { source: { git } })).status).toBe(201);
    expect(
      (await post(`${path}/deployment-preview`, { source: { git } })).body.error,
    ).toBeUndefined();
  });

  it("needs none where it is not deployed, or by an executor of others", async () => {
    const path = `/v1/environments/${shop.environmentId}/deployments`;
    expect((await post(path, { stack_ids: [otherId] })).status).toBe(201);
    await configure({
      site: { executor: "our-own" },
      gone: { executor: "script", path: "x" },
    });
    expect((await post(path, {})).status).toBe(201);
  });

  it("has the commit that the environment runs", async () => {
    await shop.deploy({ source: { git } });
    await run();
    const path = `/v1/environments/${shop.environmentId}/deployments`;
    const kept = await post(path, {});
    expect(kept.body.data.source.git.commit.sha).toBe("a".repeat(40));
  });

  it("needs it of what is promoted, but not of what has run before", async () => {
    await configure({ web: { executor: "script", path: "deploy.sh" } });
    const first = await shop.deploy({ source: imageOf("1") });
    await run();
    const { body: there } = await post(`/v1/projects/${shop.project.id}/environments`, {
      name: "there",
    });
    const stacksThere = `/v1/environments/${there.id}/stacks`;
    await post(stacksThere, { name: "site" });
    const promote = () => post(`/v1/deployments/${first.id}/promote`, { environment_id: there.id });
    expect((await promote()).status).toBe(201);
    await post(stacksThere, { name: "web" });
    const refused = await promote();
    expect([refused.status, refused.body.cause.issues[0].message]).toEqual([
      400,
      expect.stringContaining("The stack web needs a commit"),
    ]);
    const [stack] = first.stack_ids;
    expect((await shop.world.client.patch(`/v1/stacks/${stack}`, { name: "web" })).status).toBe(
      200,
    );
    expect((await post(`/v1/deployments/${first.id}/redeploy`, {})).status).toBe(201);
  });
});
