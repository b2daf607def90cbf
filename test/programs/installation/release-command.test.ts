import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DOCUMENTED_VERSION, readRelease } from "../../../scripts/lib/release.ts";
import { describeAddresses } from "../../../scripts/lib/release-message.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";

/** The checkout has it, and the changelog of these tests describes it as not released. */
const FIRST = readRelease();
const [MAJOR = "", MINOR = ""] = FIRST.split(".");
const LATER = `${MAJOR}.${Number(MINOR) + 10}.0`;
const BETWEEN = `${MAJOR}.${Number(MINOR) + 9}.0`;

const CHANGELOG = `# Changelog

What people can do.

## Unreleased

## ${FIRST} (not released)

The first release.
`;
const FIX = "### Fixed\n\n- It works.";
/** The user who runs the tests may have a configuration of git, with hooks and signatures. */
const GIT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

describe("npm run release", () => {
  const checkout = new Checkout({ hasAssets: false });
  let first = "";

  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: checkout.folder, env: GIT, encoding: "utf8" }).trim();
  const run = (script: string, ...args: string[]) => {
    const file = checkout.path(`scripts/${script}.ts`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
      cwd: checkout.folder,
      env: GIT,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const release = (...args: string[]) => run("release", ...args);
  const refused = (stderr: string) => ({ status: 1, stdout: "", stderr: `${stderr}\n` });
  const write = (path: string, text: string) => writeFileSync(checkout.path(path), text);
  const commit = (changelog?: string) => {
    if (changelog !== undefined) write("CHANGELOG.md", changelog);
    git("add", "--all");
    git("commit", "--quiet", "--message", "Change");
  };
  const today = () => new Date().toISOString().slice(0, 10);
  const dated = (version: string) =>
    new RegExp(`^## ${version.replaceAll(".", "\\.")} \\((.*)\\)$`, "m");

  beforeAll(() => {
    cpSync(join(ROOT, ".gitignore"), checkout.path(".gitignore"));
    git("init", "--quiet", "--initial-branch=main");
    commit(CHANGELOG);
    first = git("rev-parse", "HEAD");
  });

  beforeEach(() => {
    git("checkout", "--quiet", "--force", "-B", "main", first);
    git("clean", "--quiet", "--force");
    for (const tag of git("tag").split("\n").filter(Boolean)) git("tag", "--delete", tag);
  });

  afterAll(() => checkout.remove());

  it("lists the addresses that somebody has to own, and changes nothing", () => {
    write("notes.txt", "not committed");
    expect(release()).toEqual({ status: 0, stdout: `${describeAddresses()}\n`, stderr: "" });
    expect(git("status", "--porcelain")).toBe("?? notes.txt");
  });

  it("dates the first release, and prints what a person still does", () => {
    const before = today();
    const { status, stdout, stderr } = release(FIRST);
    expect([status, stderr]).toEqual([0, ""]);
    expect(git("status", "--porcelain")).toBe("M CHANGELOG.md");
    const [, date = ""] = dated(FIRST).exec(checkout.read("CHANGELOG.md")) ?? [];
    expect([before, today()]).toContain(date);
    expect(checkout.read("CHANGELOG.md")).toBe(CHANGELOG.replace("not released", date));
    expect(stdout).toContain(describeAddresses());
    expect(stdout).toContain("git commit --all");
    expect(stdout).toContain(`git push origin v${FIRST}`);
    expect([git("tag"), git("rev-parse", "HEAD")]).toEqual(["", first]);
    expect(run("release-notes", `v${FIRST}`).stdout).toBe("The first release.\n");
  });

  it("adds what is below Unreleased to the first release", () => {
    commit(CHANGELOG.replace("## Unreleased\n", `## Unreleased\n\n${FIX}\n`));
    expect(release(FIRST).status).toBe(0);
    expect(run("release-notes", `v${FIRST}`).stdout).toBe(`The first release.\n\n${FIX}\n`);
    expect(checkout.read("CHANGELOG.md")).toContain(`## Unreleased\n\n## ${FIRST} (`);
  });

  it("gives a later release to every package, the lockfile and the docs", () => {
    release(FIRST);
    commit(checkout.read("CHANGELOG.md").replace("## Unreleased\n", `## Unreleased\n\n${FIX}\n`));
    git("tag", `v${FIRST}`);
    expect(release(LATER)).toMatchObject({ status: 0, stderr: "" });
    const manifests = globSync("{package.json,packages/**/package.json}", {
      cwd: checkout.folder,
      exclude: (path) => path.endsWith("node_modules"),
    });
    const changed = git("diff", "--name-only").split("\n");
    expect(changed).toEqual(
      [
        ...manifests,
        "CHANGELOG.md",
        "docs/ci.md",
        "docs/runners.md",
        "package-lock.json",
        "src/lib/version.ts",
      ].toSorted(),
    );
    for (const path of manifests) expect(JSON.parse(checkout.read(path)).version).toBe(LATER);
    expect(checkout.read("src/lib/version.ts")).toContain(`VERSION = "${LATER}"`);
    // No line of a dependency.
    expect(git("diff", "--numstat", "package-lock.json")).toMatch(
      new RegExp(`^${manifests.length + 1}\t${manifests.length + 1}\t`),
    );
    const versions = changed
      .filter((path) => path.startsWith("docs/"))
      .flatMap((path) => checkout.read(path).match(DOCUMENTED_VERSION) ?? []);
    expect(new Set(versions)).toEqual(new Set([LATER]));
    // The commits of actions of others keep their versions.
    expect(checkout.read("docs/ci.md")).toContain("# v7.0.1\n");
    expect(run("release-notes", `v${LATER}`).stdout).toBe(`${FIX}\n`);
    expect(run("release-notes", `v${FIRST}`).stdout).toBe("The first release.\n");
    commit();
    expect(release(BETWEEN).stderr).toContain(`The version is ${LATER} already.`);
  });

  it("refuses another branch, and changes that are not committed", () => {
    git("switch", "--quiet", "--create", "other");
    expect(release(FIRST)).toEqual(
      refused("A release is made on main, and this is other: git switch main."),
    );
    git("switch", "--quiet", "main");
    write("notes.txt", "not committed");
    expect(release(FIRST)).toEqual(refused("Commit or remove these changes first:\n?? notes.txt"));
    expect(checkout.read("CHANGELOG.md")).toBe(CHANGELOG);
  });

  it("refuses a version that is released, dated or older", () => {
    const already = `The version is ${FIRST} already. Use a later one, or tag this commit if it is`;
    expect(release("0.9.9")).toEqual(refused(`${already} 0.9.9.`));
    git("tag", `v${FIRST}`);
    expect(release(FIRST)).toEqual(
      refused(`${FIRST} is released: the tag v${FIRST} exists. Use a later version.`),
    );
    git("tag", "--delete", `v${FIRST}`);
    release(FIRST);
    commit();
    expect(release(FIRST)).toEqual(refused(`${already} ${FIRST}.`));
  });

  it("refuses a release about which the changelog says nothing", () => {
    release(FIRST);
    commit();
    expect(release(LATER)).toEqual(
      refused(`CHANGELOG.md has nothing for ${LATER}: write what changed below "## Unreleased".`),
    );
    expect(git("status", "--porcelain")).toBe("");
  });

  it.each(["1.0", "v1.0.0", "1.0.0-rc.1", "01.0.0", ""])("refuses %j as a version", (version) => {
    const usage = "Usage: npm run release [-- VERSION], where VERSION is like 1.2.0\n";
    expect(release(version)).toEqual({ status: 2, stdout: "", stderr: usage });
    expect(release(FIRST, LATER)).toEqual({ status: 2, stdout: "", stderr: usage });
  });

  it("has no notes for a tag whose version has no date", () => {
    const hint = `run npm run release -- ${FIRST}, commit, and tag that commit.`;
    expect(run("release-notes", `v${FIRST}`)).toEqual(
      refused(`CHANGELOG.md has no date for ${FIRST}: ${hint}`),
    );
    expect(run("release-notes", FIRST).status).toBe(2);
  });
});

describe("CHANGELOG.md", () => {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);

  it("begins with what is not released, and has each release with its date", () => {
    const [unreleased, ...releases] = titles;
    expect(unreleased).toBe("Unreleased");
    expect(releases.length).toBeGreaterThan(0);
    for (const each of releases) {
      expect(each).toMatch(/^\d+\.\d+\.\d+ \((?:not released|\d{4}-\d{2}-\d{2})\)$/);
    }
    expect(releases.at(-1)).toMatch(/^1\.0\.0 /);
  });

  it("links only to pages that exist", () => {
    const links = [...text.matchAll(/\]\(((?:docs|packages)\/[^)#]*)/g)].map(
      ([, path = ""]) => path,
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("has changes in the usual sections", () => {
    const sections = [...text.matchAll(/^### (.*)$/gm)].map(([, title]) => title);
    const usual = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    expect(sections.filter((title) => !usual.includes(title ?? ""))).toEqual([]);
  });
});
