import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { EXECUTORS } from "../../../packages/runner/src/executors/list.ts";
import { planStacks } from "../../../packages/runner/src/executors/stack-plans.ts";
import { readOptions } from "../../../packages/runner/src/options.ts";
import { stackInput } from "../support/stack-input.ts";

const script = (settings: object = {}) => ({ executor: "script", path: "deploy.sh", ...settings });

describe("the options of executors", () => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-options-"));
  const token = join(folder, "runner.token");
  writeFileSync(token, "lsr_canary\n", { mode: 0o600 });
  afterAll(() => rmSync(folder, { recursive: true }));

  const read = (...args: string[]) =>
    readOptions(["--url", "http://localhost:8787", "--token-file", token, ...args], {});
  const script = ["--executor", "script"];

  it("name what the runner runs, and which repositories", () => {
    const names = [
      "github:Acme/Shop",
      "gitlab:a/b/c",
      "bitbucket:a/b=https://git.example.com/b.git",
      "github:a/c=ssh://git@git.example.com/c.git",
      "https://Git.example.com/Team/Shop.git/",
      "ssh://git@git.example.com:22/shop.git",
      "file:///srv/git/shop.git",
    ];
    const { command, executors, repositories, hasLfs } = read(
      ...script,
      ...names.flatMap((each) => ["--repository", each]),
    );
    expect([command, executors.map(({ name }) => name)]).toEqual([undefined, ["script"]]);
    expect(repositories).toEqual([
      { name: "github:acme/shop", url: "https://github.com/Acme/Shop.git" },
      { name: "gitlab:a/b/c", url: "https://gitlab.com/a/b/c.git" },
      { name: "bitbucket:a/b", url: "https://git.example.com/b.git" },
      { name: "github:a/c", url: "ssh://git@git.example.com/c.git" },
      {
        name: "https://git.example.com/Team/Shop.git",
        url: "https://git.example.com/Team/Shop.git",
      },
      { name: "ssh://git.example.com/shop.git", url: "ssh://git@git.example.com/shop.git" },
      { name: "file:///srv/git/shop.git", url: "file:///srv/git/shop.git" },
    ]);
    expect(hasLfs).toBe(false);
    const withLfs = read(...script, "--repository", "github:acme/shop", "--lfs");
    expect(withLfs.hasLfs).toBe(true);
    expect(read("--exec", "true")).toMatchObject({ executors: [], repositories: [] });
  });

  it.each([
    [[], "Set --exec to the command that deploys a stack, or --executor"],
    [
      ["--executor", "none"],
      `There is no executor "none". Set --executor to one of: ${EXECUTORS.map(({ name }) => name).join(", ")}.`,
    ],
    [script, "Add --repository NAME: --executor runs files of the repositories that you name."],
    ...["acme/shop", "github:shop", "other:a/b", "github:a/b=", "github:-/../b c"].map(
      (name) =>
        [
          [...script, "--repository", name],
          `"${name}" is none. If one of these is on another host`,
        ] as const,
    ),
    ...["ext::sh -c x", "/srv/a.git", "http://example.com/a", "https://example.com"].map(
      (url) => [[...script, "--repository", `github:a/b=${url}`], `"${url}" is none.`] as const,
    ),
    ...[
      "github:a/b=https://ada:secret@example.com/a",
      "https://ada@example.com/a",
      "ssh://git:secret@example.com/a",
    ].map(
      (repository) =>
        [
          [...script, "--repository", repository],
          "Leave out the user name and the password in the URL of --repository",
        ] as const,
    ),
  ] as const)("refuse %o", (args, message) => {
    expect(() => read(...args)).toThrow(message);
  });
});

describe("a stack that an executor deploys", () => {
  it("is refused without a commit, which the service may have lost at the start", () => {
    const configuration = { stacks: { first: script() } };
    const options = { command: undefined, executors: EXECUTORS, repositories: [] };
    const source = { registry: { image: "shop" } };
    const input = stackInput("first", { configuration, source });
    expect(planStacks([input], options)).toMatchObject({
      failure_reason: "source_refused",
      message: expect.stringContaining("The source of the deployment has no git commit"),
    });
  });
});
