import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { nameOf, readRemote } from "../../../packages/cli/src/git/remote.ts";
import type { Tool } from "../../../packages/cli/src/init/detect.ts";
import { settingsOf } from "../../../packages/cli/src/init/executor-plan.ts";
import { EXECUTORS } from "../../../packages/runner/src/executors/list.ts";
import { checkSettings } from "../../../packages/runner/src/executors/settings.ts";
import { InitUser, newName, RUNNER } from "../support/init-user.ts";
import { type Parsed, useService } from "../support/service.ts";

const service = useService();
let user: InitUser;

beforeEach(async () => {
  user = await InitUser.create(service);
});

describe("longshore init in a git repository with a remote", () => {
  const git = (...args: string[]) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    expect(spawnSync("git", args, { cwd: user.folder, env }).status).toBe(0);
  };
  const initialize = (remote: string) => {
    git("init", "--quiet");
    git("remote", "add", "origin", remote);
  };
  const configurations = async (name: string) => {
    const [project] = (await user.client.call("GET", `/v1/projects?name=${name}`)).data;
    const { data } = await user.client.call("GET", `/v1/projects/${project.id}/environments`);
    return Object.fromEntries(data.map((each: Parsed) => [each.name, each.configuration]));
  };

  it("names the executor of each stack in the configuration, and prints the runner's options", async () => {
    initialize("git@github.com:Acme/shop.git");
    writeFileSync(user.inFolder("wrangler.toml"), 'name = "shop"\n');
    const name = newName();
    const args = ["init", "-p", name, "-e", "staging", "-e", "eu", "--stack", "web", "--stack"];
    const changes = { CLOUDFLARE_API_TOKEN: "canary" };
    const ended = await user.run([...args, "jobs", "--yes"], { changes });
    expect(ended).toMatchObject({
      stdout:
        "longshore runner --executor workers --repository github:Acme/shop --pass-env CLOUDFLARE_API_TOKEN\n",
      status: 0,
    });
    expect(ended.stderr).toContain("docs/deploy-with/workers.md");
    expect(ended.stderr).not.toContain("canary");
    const stack = { executor: "workers", environment: "${environment.name}" };
    const configuration = { stacks: { web: stack, jobs: stack } };
    expect(await configurations(name)).toEqual({
      production: {},
      staging: configuration,
      eu: configuration,
    });
    expect(existsSync(user.inFolder("deploy.sh"))).toBe(false);
  });

  it("keeps what the configuration has, and the executor of a stack", async () => {
    initialize("https://gitlab.com/acme/group/shop");
    const name = newName();
    const project = await user.client.call("POST", "/v1/projects", { name });
    const path = `/v1/environments/${project.default_environment_id}`;
    const own = { executor: "acme", size: 2 };
    const put = (stacks: unknown) =>
      user.client.call("PUT", path, { name: "production", configuration: { replicas: 2, stacks } });
    await put({ web: own });
    const args = ["init", "--yes", "-p", name, "--stack", "web", "--stack", "jobs"];
    const ended = await user.run([...args, "--with", "workers"]);
    expect(ended.stdout).toBe(
      "longshore runner --executor workers --repository gitlab:acme/group/shop\n",
    );
    expect(ended.stderr).toContain("Uses the executor of web in the configuration of production.");
    expect(ended.stderr).toContain("Set the executor of jobs in the configuration of production.");
    const jobs = { executor: "workers", environment: "${environment.name}" };
    const after = { production: { replicas: 2, stacks: { web: own, jobs } } };
    expect(await configurations(name)).toEqual(after);
    const before = await user.client.call("GET", path);
    expect((await user.run([...args, "--with", "workers"])).status).toBe(0);
    expect((await user.client.call("GET", path)).updated_at).toBe(before.updated_at);

    await put(["web"]);
    const refused = await user.run([...args, "--with", "workers"]);
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toContain("/stacks is no object in the configuration of production");
    await put({ jobs: { size: 2 } });
    const wrong = await user.run([...args, "--with", "workers"]);
    expect(wrong.stderr).toContain("/stacks/jobs/size is no setting of the executor workers.");
    expect(await configurations(name)).toEqual({
      production: { replicas: 2, stacks: { jobs: { size: 2 } } },
    });
  });

  it("writes paths of a folder in the repository, and a script that the runner checks out", async () => {
    initialize("ssh://git@bitbucket.org/acme/shop");
    const folder = user.inFolder("apps/site");
    mkdirSync(folder, { recursive: true });
    const name = newName();
    const args = ["init", "--yes", "-p", name, "--stack", "web"];
    const ended = await user.run([...args, "--with", "script"], { folder });
    expect(ended.stdout).toBe(
      "longshore runner --executor script --repository bitbucket:acme/shop\n",
    );
    expect(ended.stderr).toContain("Commit deploy.sh");
    expect(statSync(join(folder, "deploy.sh")).mode & 0o111).not.toBe(0);
    expect(await configurations(name)).toEqual({
      production: { stacks: { web: { executor: "script", path: "apps/site/deploy.sh" } } },
    });
    // The script that is there now is a command of the folder, unless the executor is asked for.
    const command = await user.run(args, { folder });
    expect(command.stdout).toBe(RUNNER);
  });

  it("has the URL of any other remote, quoted where a shell would read more than a URL", async () => {
    initialize("https://ada:canary@git.example.com/acme/shop;id");
    writeFileSync(user.inFolder("wrangler.toml"), "");
    const args = ["init", "--yes", "--stack", "web", "-p", newName()];
    const { stdout, stderr } = await user.run(args);
    expect(stdout).toBe(
      "longshore runner --executor workers --repository 'https://git.example.com/acme/shop;id'\n",
    );
    expect(stderr).not.toContain("canary");
  });

  it("runs a command without a remote that it could fetch", async () => {
    writeFileSync(user.inFolder("wrangler.toml"), "");
    const args = ["init", "--yes", "--stack", "web"];
    const expectCommand = async () => {
      const { stdout, stderr } = await user.run([...args, "-p", newName()]);
      expect(stdout).toBe(RUNNER);
      expect(stderr).toContain("The folder has no git remote `origin` with https, ssh or file");
      rmSync(user.inFolder("deploy.sh"));
    };
    await expectCommand();
    git("init", "--quiet");
    await expectCommand();
    git("remote", "add", "origin", "http://git.example.com/acme/shop.git");
    await expectCommand();
    // Also without git.
    const name = newName();
    const changes = { PATH: "/nonexistent" };
    const { stdout } = await user.run([...args, "-p", name], { changes });
    expect(stdout).toBe(RUNNER);
  });

  it.each([
    ["git@github.com:acme/shop.git", "github:acme/shop"],
    ["https://github.com/acme/shop", "github:acme/shop"],
    ["https://github.com/acme/shop.git/", "github:acme/shop"],
    ["https://ada:canary@github.com/acme/shop.js.git", "github:acme/shop.js"],
    ["ssh://git@github.com:22/acme/shop.git", "github:acme/shop"],
    ["git@gitlab.com:acme/group/shop.git", "gitlab:acme/group/shop"],
    ["https://bitbucket.org/acme/shop.git", "bitbucket:acme/shop"],
    ["https://github.com.example.com/acme/shop", "https://github.com.example.com/acme/shop"],
    ["https://example.com/github.com/acme/shop", "https://example.com/github.com/acme/shop"],
    ["https://ada:canary@git.example.com/acme/shop", "https://git.example.com/acme/shop"],
    ["ssh://git:canary@git.example.com/shop.git", "ssh://git@git.example.com/shop.git"],
    ["git@git.example.com:acme/shop.git", "ssh://git@git.example.com/acme/shop.git"],
    ["git.example.com:/srv/shop.git", "ssh://git.example.com/srv/shop.git"],
    ["/srv/git/shop.git", "file:///srv/git/shop.git"],
    ["../hello.git/", "file:///work/hello.git"],
    ["file:///github.com/acme/shop", "file:///github.com/acme/shop"],
    ["http://git.example.com/acme/shop", undefined],
    ["git://git.example.com/acme/shop", undefined],
    ["https://git.example.com", undefined],
    ["ext::sh -c id", undefined],
    ["", undefined],
  ])("reads the remote %s as %s", (remote, repository) => {
    const read = readRemote(remote, "/work/shop");
    expect(read && nameOf(read)).toBe(repository);
    expect(JSON.stringify(read ?? null)).not.toContain("canary");
  });

  it("has settings that the executors accept, in a folder and at the root", () => {
    for (const { name, settings } of EXECUTORS) {
      for (const prefix of ["", "apps/shop/"]) {
        for (const path of [undefined, "file.yaml"]) {
          const values = settingsOf(name as Tool, path, { prefix });
          expect([name, values]).not.toEqual([name, undefined]);
          const given = { pointer: "/stacks/web", values: values ?? {} };
          expect(checkSettings({ name, settings }, given)).toEqual([]);
        }
      }
    }
  });
});
