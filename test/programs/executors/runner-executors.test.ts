import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import { GitRepository } from "../support/git-repository.ts";
import { prepare } from "../support/reports.ts";
import { RunnerProcess } from "../support/runner-process.ts";

/** Writes what it gets to files of the stack in its home, and reports as the contract says. */
const DEPLOY = `#!/bin/sh
{ printf '%s\\n' "$@"; echo "$GREETING"; pwd; cat VERSION.txt; } > "$HOME/$LONGSHORE_STACK_NAME.out"
env > "$HOME/$LONGSHORE_STACK_NAME.env"
echo '{"resource":{"template_id":"site","status":"UPDATE_COMPLETE"}}' >> "$LONGSHORE_REPORT_FILE"
echo '{"output":{"name":"url","value":"https://example.com"}}' >> "$LONGSHORE_REPORT_FILE"
echo "Says $GREETING from $(cat VERSION.txt)"
`;
const GREETING = "good 'morning'";
const BOTH_SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };

const fixture = RunnerFixture.use();

type Stacks = Record<string, unknown>;

async function prepareRepository(context: TestContext) {
  const setup = await prepare(fixture, context);
  const { project, proxy } = setup;
  const repository = await GitRepository.create();
  const home = mkdtempSync(join(tmpdir(), "longshore-home-"));
  context.onTestFinished(() => {
    repository.remove();
    rmSync(home, { recursive: true });
  });
  const oldest = await repository.commit({ "deploy.sh": DEPLOY, "VERSION.txt": "1\n" });
  const newest = await repository.commit({ "VERSION.txt": "2\n" });
  const flags = ["--executor", "script", "--repository", `github:acme/shop=${repository.url}`];
  return {
    ...setup,
    repository,
    oldest,
    newest,
    home,
    /** Queues a deployment with what the configuration has below `stacks`. */
    deploy: async (stacks: Stacks, source: object = repository.source(newest)) => {
      const patch = [{ op: "add", path: "/stacks", value: stacks }];
      const { id } = await project.deploy({ patch, source, queue: "fifo" });
      return String(id);
    },
    /** Starts a runner, with these flags and changes of its environment. Without a command, it has no `--exec`. */
    start: (command: string | undefined, ...others: (string | NodeJS.Dict<string>)[]) => {
      const runner = new RunnerProcess({
        url: proxy.url,
        token: project.token,
        command,
        flags: [...flags, ...others.filter((each) => typeof each === "string")],
        environment: Object.assign(
          { HOME: home },
          ...others.filter((each) => typeof each === "object"),
        ),
      });
      context.onTestFinished(() => runner.stop());
      return runner;
    },
    /** What the script has written for a stack. */
    read: (name: string): string[] => {
      const path = join(home, name);
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
    },
  };
}

/** Changes of a source, beside its `url`. */
const AT_URL = { provider: "git", owner: undefined, repo: undefined };
const script = (settings: object = {}) => ({ executor: "script", path: "deploy.sh", ...settings });
/** Temporary folders of the runner. */
const leftBy = ({ folder }: RunnerProcess) =>
  readdirSync(folder).filter((name) => name.startsWith("longshore-checkout-"));

describe.concurrent("a stack whose configuration names an executor", () => {
  it("is deployed by a file of the deployment's commit, and another stack by the command", async (context) => {
    const { project, client, deploy, start, read, oldest, repository, stackId } =
      await prepareRepository(context);
    const args = [
      "--to",
      "${environment.name}",
      "${source.commit}",
      "a b; exit 1",
      "${variables.GREETING}",
    ];
    const stacks = { first: script({ arguments: args }), second: { replicas: 2 } };
    const id = await deploy(stacks, repository.source(oldest));
    const runner = start("true", "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(BOTH_SUCCEEDED);
    const [to, name, sha, text, secret, variable, folder = "", version] = read("first.out");
    expect([to, name, sha, text]).toEqual(["--to", "production", oldest, "a b; exit 1"]);
    expect([secret, variable, version]).toEqual([GREETING, GREETING, "1"]);
    expect(folder).toContain("longshore-checkout-");
    expect(existsSync(folder)).toBe(false);
    expect(leftBy(runner)).toEqual([]);
    expect(runner.runs.map(({ stack }) => stack)).toEqual(project.stackIds.slice(1));
    const { outputs } = await client.call("GET", `/v1/stacks/${stackId}`);
    expect(outputs).toEqual({ url: "https://example.com" });
    expect(await fixture.log(id)).toBe("Says *** from 1\n");
  });

  it("is deployed from the URL of its source, if the runner has that repository", async (context) => {
    const { project, deploy, start, read, newest, repository } = await prepareRepository(context);
    const source = repository.source(newest, { ...AT_URL, url: `${repository.url}/` });
    const id = await deploy({ first: script(), second: script() }, source);
    const runner = start(undefined, "--repository", repository.url, "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(BOTH_SUCCEEDED);
    expect(read("first.out").at(-1)).toBe("2");
  });

  it("needs no command if every stack has one, and gets the outputs of the stack before", async (context) => {
    const { project, deploy, start, read, newest } = await prepareRepository(context);
    const args = ["${outputs.first.url}", "${stack.name}", "${source.git.ref}", "$${stack.name}"];
    const id = await deploy({ first: script(), second: script({ arguments: args }) });
    const runner = start(undefined, "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(BOTH_SUCCEEDED);
    const expected = ["https://example.com", "second", "refs/heads/main", "${stack.name}"];
    expect(read("second.out").slice(0, 4)).toEqual(expected);
    expect(read("second.env")).toContain(`LONGSHORE_COMMIT=${newest}`);
    expect(read("second.out").at(-1)).toBe("2");
  });

  it("is refused for the names of variables if it is a script, and not if its tool gets none", async (context) => {
    const { project, deploy, start, read, stackId, repository, newest } =
      await prepareRepository(context);
    await project.setVariables({ BASH_ENV: "/canary", APP_API_URL: "https://example.com" });
    const refused = await deploy({ first: script(), second: script() });
    expect(await start(undefined, "--once").exited).toBe(1);
    expect(await fixture.failureReason(refused)).toBe("variable_refused");
    const reason = "skipped: Refused variables: APP_API_URL, BASH_ENV. The log says what to do.";
    expect((await project.waitForEnd(refused)).stacks).toEqual([reason, reason]);
    expect(read("first.env")).toEqual([]);
    const url = { executor: "workers", variables: { URL: "${variables.APP_API_URL}" } };
    const patch = [{ op: "add", path: "/stacks", value: { first: url } }];
    const source = repository.source(newest);
    const { id } = await project.deploy({ patch, source, stack_ids: [stackId] });
    expect(await start(undefined, "--once", "--executor", "workers").exited).toBe(1);
    expect(await fixture.failureReason(String(id))).toBe("stack_failed");
    expect((await project.waitForEnd(String(id))).stacks).toEqual([
      expect.stringContaining("The commit has no configuration of wrangler"),
    ]);
  });

  it("is canceled like a command, with the processes that it started", async (context) => {
    const { project, deploy, start, repository, home, read } = await prepareRepository(context);
    const content = `#!/bin/sh\ntrap 'echo stopped > "${home}/end"; exit 1' TERM\necho > "${home}/begin"\nsleep 600 & wait\n`;
    const sha = await repository.commit({ "wait.sh": content });
    const id = await deploy({ first: script({ path: "wait.sh" }) }, repository.source(sha));
    const runner = start("true", "--once");
    await expect.poll(() => read("begin").length).toBe(1);
    await project.cancel(id);
    expect(await runner.exited).toBe(1);
    expect((await project.read(id)).status).toBe("canceled");
    expect([read("end"), leftBy(runner), runner.runs]).toEqual([["stopped"], [], []]);
  });
});

/** Settings, and what the first stack says of them. Each deployment ends before anything runs. */
interface Refused {
  stacks: Stacks;
  source?: object;
  reason: string;
  failure: string;
}

describe("a runner with executors", () => {
  /** Deploys one after the other, with one runner. */
  async function refuses(
    context: TestContext,
    cases: (setup: Awaited<ReturnType<typeof prepareRepository>>) => Refused[] | Promise<Refused[]>,
    command: { exec?: string; flags?: string[] } = { exec: "true" },
  ) {
    const setup = await prepareRepository(context);
    const { project, deploy, start, home } = setup;
    await project.setVariables({ FLAG: "--force" });
    const all = await cases(setup);
    const ids: string[] = [];
    // No deployment is claimed before all are queued.
    for (const { stacks, source } of all) ids.push(await deploy(stacks, source));
    const runner = start(command.exec, ...(command.flags ?? []));
    for (const [at, { reason, failure }] of all.entries()) {
      const id = ids[at] ?? "";
      const { status, stacks } = await project.waitForEnd(id);
      expect([status, stacks[0]]).toEqual(["failed", expect.stringContaining(reason)]);
      expect([stacks[0], await fixture.failureReason(id)]).toEqual([stacks[0], failure]);
      expect(stacks[1]).toContain("skipped");
    }
    expect([runner.runs, readdirSync(home), leftBy(runner)]).toEqual([[], [], []]);
    return { ...setup, ids };
  }

  const first = (settings: object) => ({ first: { executor: "script", ...settings } });

  it("fails a deployment before anything runs if it does not run the executor of a stack", async (context) => {
    const missing = "executor_missing";
    const { ids } = await refuses(context, () => [
      {
        stacks: { first: script(), second: { executor: "terraform\n" } },
        reason:
          '/stacks/second/executor is "terraform\\n", which this runner does not run. It runs: script. ' +
          "Its operator adds others with --executor.",
        failure: missing,
      },
      {
        stacks: { first: { executor: "x".repeat(5_000) }, second: script() },
        reason: `/stacks/first/executor is "${"x".repeat(100)}…"`,
        failure: missing,
      },
    ]);
    expect(await fixture.log(ids[0] ?? "")).toMatch(/^\/stacks\/second\/executor is .*\n$/);
    const noCommand = [
      {
        stacks: { first: script() },
        reason: "/stacks/second/executor is missing",
        failure: missing,
      },
      {
        stacks: { second: script(), first: { executor: 5 } },
        reason: "/stacks/first/executor is",
        failure: missing,
      },
    ];
    await refuses(context, () => noCommand, {});
  });

  /** hostile-settings.test.ts has all settings of all executors. */
  it("runs nothing with settings that are hostile once their references are replaced", async (context) => {
    const cases: [object, string][] = [
      [{ arguments: ["${variables.FLAG}"] }, "/stacks/first/arguments/0 would become an option"],
      [{ path: "VERSION.txt" }, "The file of the setting path cannot be executed."],
      [{ arguments: ["${source.image}"] }, 'refers to "${source.image}", which has no value'],
    ];
    await refuses(context, () =>
      cases.map(([settings, reason]) => {
        return { stacks: first(script(settings)), reason, failure: "stack_failed" };
      }),
    );
  });

  it("checks out no other repository, and no commit that others can add", async (context) => {
    await refuses(context, async ({ repository, newest }) => {
      const file = first({ path: "deploy.sh" });
      const fork = await commitElsewhere(repository, "refs/pull/1/head");
      const refused = (source: object, reason: string) => {
        return { stacks: file, source, reason, failure: "source_refused" };
      };
      const noRef = "of the source is neither a branch (refs/heads/…) nor a tag";
      return [
        refused(
          repository.source(newest, { ...AT_URL, url: `${repository.url}/other` }),
          `The runner does not check out "${repository.url}/other".`,
        ),
        refused(
          repository.source(newest, { repo: "other" }),
          'The runner does not check out "github:acme/other". Its operator allows a repository with',
        ),
        refused(repository.source(newest, { provider: "gitlab" }), '"gitlab:acme/shop"'),
        refused(
          repository.source(newest, { owner: "--upload-pack=x" }),
          '"github:--upload-pack=x/shop"',
        ),
        refused(repository.source(fork, { ref: "refs/pull/1/head" }), noRef),
        refused(repository.source(newest, { ref: "refs/heads/main:refs/heads/x" }), noRef),
        refused(repository.source(newest, { ref: "--upload-pack=touch x" }), noRef),
        refused(repository.source("main"), 'The commit "main" of the source is not a full hash'),
        refused(
          repository.source("--help"),
          'The commit "--help" of the source is not a full hash',
        ),
        {
          stacks: file,
          source: repository.source(fork),
          reason: `The commit ${fork} is not in refs/heads/main of github:acme/shop.`,
          failure: "stack_failed",
        },
        {
          stacks: file,
          source: repository.source(newest, { ref: "refs/heads/none" }),
          reason: "git fetch: The command ended with 128. The log says why.",
          failure: "stack_failed",
        },
      ];
    });
  });

  it("deploys commits of other branches and tags, and through links in the checkout", async (context) => {
    const { project, deploy, start, repository, newest, oldest } = await prepareRepository(context);
    const other = await commitElsewhere(repository, "refs/heads/release/1");
    await repository.git("tag", "light", oldest);
    const linked = await repository.commit({ "VERSION.txt": "3\n" }, { "linked.sh": "deploy.sh" });
    const cases: [string, string, string, string][] = [
      ["release/1", other, "deploy.sh", "release"],
      ["refs/heads/release/1", newest, "./deploy.sh", "2"],
      ["refs/tags/light", oldest, "deploy.sh", "1"],
      ["main", linked, "linked.sh", "3"],
    ];
    const ids: string[] = [];
    for (const [ref, sha, path] of cases) {
      ids.push(await deploy(first({ path }), repository.source(sha, { ref })));
    }
    const runner = start("true");
    for (const [at, [ref, , , version]] of cases.entries()) {
      const id = ids[at] ?? "";
      expect([ref, await project.waitForEnd(id)]).toEqual([ref, BOTH_SUCCEEDED]);
      expect([ref, await fixture.log(id)]).toEqual([ref, `Says *** from ${version}\n`]);
    }
    expect(leftBy(runner)).toEqual([]);
  });

  it("gives git no variables of the deployment, and runs no hooks", async (context) => {
    const { project, deploy, start, home, read } = await prepareRepository(context);
    const marker = join(home, "hook-has-run");
    const hooks = join(home, "hooks");
    const programs = join(home, "programs");
    for (const folder of [hooks, programs]) mkdirSync(folder);
    writeFileSync(join(hooks, "post-checkout"), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    writeFileSync(join(home, ".gitconfig"), `[core]\n\thooksPath = ${hooks}\n`);
    const path = process.env["PATH"] ?? "";
    const git = `#!/bin/sh\n{ printf '%s ' "$@"; echo; env; } >> ${home}/git.log\nPATH='${path}' exec git "$@"\n`;
    writeFileSync(join(programs, "git"), git, { mode: 0o755 });
    await project.setVariables({ GIT_SSH_COMMAND: "touch x" });
    const id = await deploy(first({ path: "deploy.sh" }));
    const flags = ["--once", "--allow-variable", "GIT_SSH_COMMAND"];
    const runner = start("true", { PATH: `${programs}:${path}` }, ...flags);
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(BOTH_SUCCEEDED);
    const log = read("git.log").join("\n");
    expect(log).toContain("fetch --quiet --no-tags --no-recurse-submodules --depth=1 -- file:///");
    expect(log).toContain("GIT_ALLOW_PROTOCOL=file\n");
    expect(log).not.toMatch(/GREETING|GIT_SSH_COMMAND|LONGSHORE_|lsr_/);
    expect(read("first.env").join("\n")).toContain("GIT_SSH_COMMAND=touch x");
    expect(existsSync(marker)).toBe(false);
  });
});

describe.concurrent("a stack whose commit has files of Git LFS", () => {
  /** Runs `git lfs` with a stand-in that writes what it gets to a file, and the content to the commit's file. */
  async function run(context: TestContext, ...flags: string[]) {
    const { project, repository, home, deploy, start, read } = await prepareRepository(context);
    const programs = join(home, "programs");
    mkdirSync(programs);
    const standIn = `#!/bin/sh\necho "$@" >> ${home}/lfs.log\necho real > VERSION.txt\n`;
    writeFileSync(join(programs, "git-lfs"), standIn, { mode: 0o755 });
    // What git lfs install writes: a checkout with it fails, because the folder has no remote.
    const filter = `[filter "lfs"]\n\tprocess = git-lfs filter-process\n\trequired = true\n`;
    writeFileSync(join(home, ".gitconfig"), filter);
    const sha = await repository.commit({
      ".gitattributes": "VERSION.txt filter=lfs\n",
      "VERSION.txt": `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 5\n`,
    });
    const id = await deploy({ first: script() }, repository.source(sha));
    const path = `${programs}:${process.env["PATH"]}`;
    const runner = start("true", { PATH: path }, "--once", ...flags);
    await runner.exited;
    const { status, stacks } = await project.waitForEnd(id);
    return { status, stacks, log: await fixture.log(id), calls: read("lfs.log"), repository };
  }

  it("gets them with --lfs, from the repository that the operator has named", async (context) => {
    const { status, log, calls, repository } = await run(context, "--lfs");
    expect([status, log]).toEqual(["succeeded", "Says *** from real\n"]);
    expect(calls).toEqual([`pull ${repository.url}`]);
  });
});

/** A commit that is not in `main`. */
async function commitElsewhere(repository: GitRepository, ref: string): Promise<string> {
  await repository.git("checkout", "--quiet", "--detach");
  const sha = await repository.commit({ "VERSION.txt": "release\n" });
  await repository.git("update-ref", ref, sha);
  await repository.git("checkout", "--quiet", "main");
  return sha;
}
