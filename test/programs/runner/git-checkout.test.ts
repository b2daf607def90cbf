import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished, type TestContext } from "vitest";
import { CommandEnvironment } from "../../../packages/runner/src/environment.ts";
import { Checkout } from "../../../packages/runner/src/executors/checkout.ts";
import { pullSettings } from "../../../packages/runner/src/executors/large-files.ts";
import { GitRepository } from "../support/git-repository.ts";
import { listen } from "../support/listen.ts";

const SHA = "0123456789012345678901234567890123456789";
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 13\n`;
const PATH = process.env["PATH"] ?? "";

/** A repository, and the home of the runner's user. */
async function prepare(context: TestContext, gitconfig = "") {
  const repository = await GitRepository.create();
  const home = mkdtempSync(join(tmpdir(), "longshore-home-"));
  context.onTestFinished(() => {
    repository.remove();
    rmSync(home, { recursive: true });
  });
  writeFileSync(join(home, ".gitconfig"), gitconfig);
  const programs = join(home, "programs");
  mkdirSync(programs);
  return {
    repository,
    home,
    path: (name: string) => join(home, name),
    /** Puts a shell script in front of a program of the machine. */
    install: (name: string, script: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}`, { mode: 0o755 }),
    fill: async (sha: string, { hasLfs = false, url = repository.url } = {}) => {
      const variables = { HOME: home, PATH: `${programs}${delimiter}${PATH}` };
      const environment = new CommandEnvironment(variables, { passed: [], allowed: [] });
      const { signal } = new AbortController();
      const log: Buffer[] = [];
      const commit = { repository: { name: "github:acme/shop", url }, ref: "refs/heads/main", sha };
      const checkout = new Checkout(commit, environment, {
        ...{ stop: signal, force: signal, graceMs: 0, hasLfs },
        onOutput: (chunk) => log.push(chunk),
      });
      context.onTestFinished(() => checkout.remove());
      const result = await checkout.fill();
      return { ...result, log: Buffer.concat(log).toString(), folder: checkout.folder };
    },
  };
}

describe("the checkout of a commit", () => {
  it("runs no filter of the runner's user, and uses no attributes, hooks and URLs of theirs", async (context) => {
    const { repository, home, path, fill } = await prepare(context);
    const marker = path("has-run");
    const program = path("program");
    writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> ${marker}\ncat\n`, { mode: 0o755 });
    const attributes = path("attributes");
    writeFileSync(attributes, "*.txt filter=every\n");
    const settings = [
      ...["one", "every"].map((name) => `[filter "${name}"]\nsmudge = ${program} ${name}`),
      `[core]\nattributesFile = ${attributes}\nfsmonitor = ${program}\nhooksPath = ${home}`,
      `[url "file://${home}/elsewhere"]\ninsteadOf = ${repository.url}`,
      `[include]\npath = ${path("included")}`,
    ];
    writeFileSync(path("included"), `[filter "two"]\nprocess = ${program} two\n`);
    writeFileSync(path(".gitconfig"), settings.join("\n"));
    writeFileSync(path("post-checkout"), `#!/bin/sh\necho hook >> ${marker}\n`, { mode: 0o755 });
    const sha = await repository.commit({
      ".gitattributes": "a.bin filter=one\nb.bin filter=two\n",
      "a.bin": "a",
      "b.bin": "b",
      "c.txt": "c",
    });
    const { folder, ...ended } = await fill(sha);
    expect(ended).toEqual({ ok: true, log: "" });
    expect(readFileSync(join(folder, "a.bin"), "utf8")).toBe("a");
    expect(existsSync(marker) ? readFileSync(marker, "utf8") : "").toBe("");
  });

  it("keeps the credential helpers of the runner's user, and what other users' folders they trust, until it has ended", async (context) => {
    const { repository, path, install, fill } = await prepare(
      context,
      [
        '[credential]\n\thelper = "!f() { echo \\"password=a\\\\\\\\b\\"; }; f"\n\tuseHttpPath',
        '[credential "https://git.example.com"]\n\thelper =\n\thelper = store --file /x # no',
        "[safe]\n\tdirectory = *\n[user]\n\tname = Ada\n[http]\n\tproxy = http://127.0.0.1:9\n",
      ].join("\n"),
    );
    const record = `case "$*" in *fetch*) git config --global --list; ls -l "$GIT_CONFIG_GLOBAL"; env;; esac >> ${path("log")}`;
    install("git", `export PATH='${PATH}'\n${record}\nexec git "$@"\n`);
    expect((await fill(await repository.commit({ "a.txt": "a" }))).ok).toBe(true);
    const lines = readFileSync(path("log"), "utf8").split("\n");
    const at = lines.findIndex((line) => line.startsWith("-rw"));
    // The settings of the machine come first.
    expect(lines.slice(0, at).filter((line) => !/^(credential|safe)\./.test(line))).toEqual([]);
    expect(lines.slice(at - 5, at)).toEqual([
      'credential.helper=!f() { echo "password=a\\\\b"; }; f',
      "credential.usehttppath",
      "credential.https://git.example.com.helper=",
      "credential.https://git.example.com.helper=store --file /x",
      "safe.directory=*",
    ]);
    expect(lines[at]).toMatch(/^-rw------- /);
    const values = { GIT_LFS_SKIP_SMUDGE: "1", GIT_CONFIG_NOSYSTEM: "1", GIT_ATTR_NOSYSTEM: "1" };
    for (const [name, value] of Object.entries(values)) expect(lines).toContain(`${name}=${value}`);
    const file = lines.find((line) => line.startsWith("GIT_CONFIG_GLOBAL="))?.split("=")[1] ?? "";
    expect([file, existsSync(file)]).toEqual([expect.stringMatching(/^\//), false]);
  });

  it("asks a credential helper for the password of a private repository", async (context) => {
    const seen: (string | undefined)[] = [];
    const server = await listen(({ headers }, response) => {
      seen.push(headers.authorization);
      const isKnown = headers.authorization !== undefined;
      response.writeHead(isKnown ? 404 : 401, { "www-authenticate": "Basic" }).end();
    });
    const url = `${server}/shop.git`;
    const helper = "!f() { echo username=ada; echo password=canary; }; f";
    const { fill } = await prepare(context, `[credential "${url}"]\n\thelper = "${helper}"\n`);
    const { ok, reason, log } = await fill(SHA, { url });
    expect([ok, reason]).toEqual([
      false,
      "git fetch: The command ended with 128. The log says why.",
    ]);
    expect(seen).toEqual([undefined, `Basic ${Buffer.from("ada:canary").toString("base64")}`]);
    expect(log).toContain("not found");
    expect(log).not.toContain("canary");
  });

  it.each([
    ["git version 2.31.9", "git 2.31.9 is too old for the runner, which needs 2.32 or newer"],
    ["git version 1.40.0", "git 1.40.0 is too old"],
    ["git version 2.32.0.windows.1", undefined],
    ["git version 3.0.0", undefined],
  ])("needs a git that can do without the user's configuration: %s", async (version, message) => {
    const context = { onTestFinished } as TestContext;
    const { repository, install, fill } = await prepare(context);
    const sha = await repository.commit({ "a.txt": "a" });
    install(
      "git",
      `export PATH='${PATH}'\n[ "$1" = version ] && { echo '${version}'; exit; }\nexec git "$@"\n`,
    );
    if (message === undefined) expect((await fill(sha)).ok).toBe(true);
    else await expect(fill(sha)).rejects.toThrow(message);
  });

  it("says that it cannot read the configuration of the runner's user", async (context) => {
    const { repository, fill } = await prepare(context, "[credential\n");
    const sha = await repository.commit({ "a.txt": "a" });
    await expect(fill(sha)).rejects.toThrow(
      "The git configuration of the runner's user cannot be read.",
    );
  });
});

describe("a commit with files of Git LFS", () => {
  const files = { ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n" };

  it("fails without --lfs, and names a file", async (context) => {
    const { repository, fill } = await prepare(context);
    const sha = await repository.commit({ ...files, "a.bin": "a", "b/ä.bin": POINTER });
    expect(await fill(sha)).toMatchObject({
      ok: false,
      reason:
        'The commit has files of Git LFS, such as "b/ä.bin", and the runner does not fetch them. ' +
        "Its operator adds --lfs, and installs git-lfs.",
      log: "",
    });
  });

  it.each([
    ["is no pointer", { ...files, "a.bin": "version https://git-lfs.github.com/spec/v2\n" }],
    ["is shorter than one", { ...files, "a.bin": "version" }],
    ["is not one of Git LFS", { ".gitattributes": "*.bin text\n", "a.bin": POINTER }],
  ])("passes if a file %s", async (_, content) => {
    const { repository, fill } = await prepare({ onTestFinished } as TestContext);
    expect((await fill(await repository.commit(content))).ok).toBe(true);
  });

  it("passes over a link", async (context) => {
    const { repository, fill } = await prepare(context);
    const sha = await repository.commit({ ...files, "p.txt": POINTER }, { "a.bin": "p.txt" });
    expect((await fill(sha)).ok).toBe(true);
  });

  it("gets them with --lfs from the server of the repository, whatever its .lfsconfig says", async (context) => {
    const { repository, path, install, fill } = await prepare(context);
    const record = `printf '%s ' "$@"; git config lfs.url; git config filter.lfs.clean; cat a.bin`;
    install("git-lfs", `{ ${record}; } > ${path("log")}; echo fetched > a.bin\n`);
    const lfsconfig = "[lfs]\n\turl = https://evil.example.com\n";
    const content = { ...files, ".lfsconfig": lfsconfig, "a.bin": POINTER };
    const ended = await fill(await repository.commit(content), { hasLfs: true });
    expect(ended.ok).toBe(true);
    expect(readFileSync(join(ended.folder, "a.bin"), "utf8")).toBe("fetched\n");
    const url = repository.url;
    expect(readFileSync(path("log"), "utf8")).toBe(
      `pull ${url} ${url}\ngit-lfs clean -- %f\n${POINTER}`,
    );
  });

  it("fails if git-lfs does", async (context) => {
    const { repository, install, fill } = await prepare(context);
    const sha = await repository.commit({ ...files, "a.bin": POINTER });
    install("git-lfs", "echo no such object; exit 2\n");
    expect(await fill(sha, { hasLfs: true })).toMatchObject({
      ok: false,
      reason: "git lfs: The command ended with 2. The log says why.",
      log: "no such object\n",
    });
  });
});

describe("the server of Git LFS", () => {
  it.each([
    ["https://github.com/acme/shop.git", "https://github.com/acme/shop.git/info/lfs"],
    ["https://git.example.com/shop", "https://git.example.com/shop.git/info/lfs"],
    ["https://git.example.com/shop/", "https://git.example.com/shop.git/info/lfs"],
    ["file:///srv/git/shop.git", "file:///srv/git/shop.git"],
  ])("of %s is %s", (url, expected) => {
    expect(pullSettings(url)).toContain(`lfs.url=${expected}`);
  });
});
