import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { DOCUMENTED_VERSION, readRelease } from "../../../scripts/lib/release.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { NPM_SCOPE } from "../../../src/lib/addresses.ts";
import { Checkout } from "../support/checkout.ts";
import { readShownTexts } from "../support/shown-texts.ts";

/** What a command of a package manager downloads or runs. */
const PACKAGE =
  /\b(?:npx|bunx|(?:npm|pnpm|yarn|bun)[ \t]+(?:exec|x|dlx|create|install|i|add))(?:[ \t]+-[-\w=]*)*[ \t]+["'`]?((?:@longshore\/|longshore)[\w-]*)(?![\w./-]*\.tgz)/g;

/** `npx @longshore/cli` is not among them: in a checkout, it is the checkout's own. */
const INSTALL = new RegExp(`\\bnpm (?:i|install|pack|exec|view)\\b.* ${NPM_SCOPE}/`);

const CLONE = /\bgit (?:clone|fetch|pull|ls-remote)\b[^\n`]*longshore/;
const BLOCK = /^```sh\b[\s\S]*?^```$/gm;

const packageJsonOf = (name: string) =>
  JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));

const packagesIn = (text: string) => [...text.matchAll(PACKAGE)].map(([, name = ""]) => name);

describe("the commands that docs, messages and pages show", () => {
  const texts = readShownTexts();
  const published = readdirSync(join(ROOT, "packages"))
    .filter((name) => existsSync(join(ROOT, "packages", name, "package.json")))
    .map(packageJsonOf)
    .filter((each) => each.private !== true)
    .map((each) => each.name);

  it("run and install only packages of Longshore that are published", () => {
    const shown = texts.flatMap(({ file, text }) =>
      packagesIn(text).map((name) => ({ file, name })),
    );
    expect(shown.filter(({ name }) => !published.includes(name))).toEqual([]);
    const inFolders = new Set(shown.map(({ file }) => file.split("/")[0]));
    expect([...inFolders]).toEqual(
      expect.arrayContaining(["README.md", "docs", "examples", "packages"]),
    );
  });

  it("name the version of this checkout, if they name one", () => {
    const versions = texts.flatMap(({ file, text }) =>
      [...text.matchAll(DOCUMENTED_VERSION)].map(([version]) => ({ file, version })),
    );
    expect(versions.length).toBeGreaterThan(7);
    expect(versions.filter(({ version }) => version !== readRelease())).toEqual([]);
  });

  it("start in a checkout: they clone nothing, and pages install no package from npm", () => {
    const fetches = texts.filter(({ file, text }) => {
      const blocks = file.endsWith(".md") ? (text.match(BLOCK) ?? []) : [];
      return CLONE.test(text) || blocks.some((each) => INSTALL.test(each));
    });
    expect(fetches.map(({ file }) => file)).toEqual([]);
  });

  it("are recognized in each form", () => {
    const unscoped = [
      "npx longshore login",
      "`npx --yes longshore@latest`",
      "npm exec -- longshore whoami",
      "npm install --global longshore",
      "pnpm dlx longshore-runner",
      "npx -p longshore longshore",
    ];
    for (const command of unscoped) expect(packagesIn(command)[0]).toMatch(/^longshore/);
    expect(packagesIn("npx -y @longshore/cli deploy && npm i -g @longshore/runner")).toEqual([
      "@longshore/cli",
      "@longshore/runner",
    ]);
    expect(packagesIn("npm install ./longshore-cli-0.1.0.tgz; longshore login")).toEqual([]);
  });
});

describe("npx @longshore/cli", () => {
  const checkout = new Checkout();
  /** Has no cache of npm, from which it could install another. */
  const home = mkdtempSync(join(tmpdir(), "longshore-npx-"));

  afterAll(() => {
    checkout.remove();
    rmSync(home, { recursive: true, force: true });
  });

  it.each(["", "docs"])(
    "runs the checkout's own, without a download and a question: in %j",
    async (folder) => {
      const { stdout, stderr } = await promisify(execFile)("npx", ["@longshore/cli", "--version"], {
        cwd: checkout.path(folder),
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          npm_config_offline: "true",
        } as unknown as NodeJS.ProcessEnv,
      });
      expect({ stdout, stderr }).toEqual({
        stdout: `${packageJsonOf("cli").version}\n`,
        stderr: "",
      });
    },
  );
});
