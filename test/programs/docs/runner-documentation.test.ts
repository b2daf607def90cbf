import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { REFUSED_CLASSES } from "../../../packages/runner/src/environment.ts";
import { HELP, OPTIONS } from "../../../packages/runner/src/options.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import {
  INHERITED_NAMES,
  INHERITED_ON_WINDOWS,
  REFUSAL_REASONS,
  REFUSED_NAMES,
} from "../../../src/lib/refused-variables.ts";

const PAGE = readFileSync(join(ROOT, "docs/runners.md"), "utf8");

const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");

/** The first block of code in this language that contains the text. */
function findBlock(language: string, contained: string): string {
  const blocks = PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  return (
    [...blocks].map(([, content = ""]) => content).find((content) => content.includes(contained)) ??
    ""
  );
}

describe("longshore runner --help", () => {
  it("describes each option, as docs/runners.md does", () => {
    const described = [...HELP.matchAll(/^ +(--[a-z-]+)/gm)].map(([, option]) => option);
    expect(described).toEqual(
      expect.arrayContaining(Object.keys(OPTIONS).map((name) => `--${name}`)),
    );
    for (const name of Object.keys(OPTIONS)) expect(PAGE).toContain(`\n| \`--${name}\` | `);
    for (const name of REFUSED_CLASSES) expect(HELP).toContain(name);
    for (const line of HELP.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });
});

describe("docs/runners.md", () => {
  it("lists the names that are refused, of which class, and why", () => {
    const rows = REFUSED_NAMES.map(
      ({ class: name, names, anyCase }) =>
        `| ${name === undefined ? "" : `\`${name}\``} | ${REFUSAL_REASONS[name ?? ""]} | ${list(names)}${anyCase ? ", in upper and lower case" : ""} |`,
    );
    expect(PAGE).toContain(`\n${rows.join("\n")}\n\n`);
  });

  it("lists the names that the command inherits", () => {
    const inherited = `${list(INHERITED_NAMES)}; on Windows also ${list(INHERITED_ON_WINDOWS)}.`;
    expect(PAGE.replaceAll("\n", " ")).toContain(inherited);
  });

  it.each(["sh", "bash"])("has lines for %s that leave no file with the token", async (shell) => {
    const folder = mkdtempSync(join(tmpdir(), "longshore-runner-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const token = join(folder, "runner.token");
    writeFileSync(token, "lsr_canary\n", { mode: 0o600 });
    const commands = findBlock("sh", "exec 3<")
      .replace("longshore-runner", join(ROOT, "packages/runner/dist/longshore-runner.js"))
      .replace("localhost:8787", "127.0.0.1:1");
    const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
    const runner = spawn(shell, ["-c", commands], {
      cwd: folder,
      env: { ...process.env, PATH: path },
      stdio: ["ignore", "pipe", "pipe"],
    });
    runner.stdout.once("data", () => runner.kill());
    const [output, errors] = await Promise.all([text(runner.stdout), text(runner.stderr)]);
    expect(output).toContain("Waiting for deployments of http://127.0.0.1:1");
    expect(errors).not.toContain("token");
    expect(existsSync(token)).toBe(false);
  });
});
