import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Program, runCommand } from "../../../packages/runner/src/command.ts";

const CANARY = "canary-of-the-value";
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longshore-start-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function reasonOf(command: string | Program, variables: Record<string, string> = {}) {
  const signal = new AbortController().signal;
  const env = { PATH: process.env["PATH"], ...variables };
  const options = { stop: signal, force: signal, graceMs: 1_000, onOutput: () => undefined };
  const { ok, reason } = await runCommand(command, env, options);
  expect(ok).toBe(false);
  expect(reason).not.toContain(CANARY);
  return reason;
}

function script(name: string, content: string): Program {
  writeFileSync(join(folder, name), content, { mode: 0o755 });
  return { file: join(folder, name), args: [], folder };
}

const COMMANDS: [string, string | Program][] = [
  ["a command", "true"],
  ["a program", { file: "true", args: [] }],
  ["a program that reads its input", { file: "cat", args: [], input: "{}" }],
];

describe("what cannot be started", () => {
  it.each(COMMANDS)("names the variable with a NUL character: %s", async (_, command) => {
    expect(await reasonOf(command, { FINE: "1", BINARY: `${CANARY}\0` })).toBe(
      "The command could not be started: ERR_INVALID_ARG_VALUE. The variable BINARY has a NUL character, which no " +
        "program can get. Set it again without one.",
    );
  });

  it.each(COMMANDS)("names the largest variables, with their sizes: %s", async (_, command) => {
    const source = CANARY.repeat(10_000);
    const reason = await reasonOf(command, { LONGSHORE_SOURCE: source, B: "b".repeat(2_000) });
    expect(reason).toContain(
      "The command could not be started: E2BIG. Its variables and arguments",
    );
    expect(reason).toContain(
      "Shorten the largest: LONGSHORE_SOURCE (190,000 bytes), B (2,000 bytes)",
    );
  });

  it("names all arguments together, which a system limits, too", async () => {
    const args = Array.from({ length: 400 }, () => "x".repeat(16_384));
    expect(await reasonOf({ file: "true", args })).toContain(
      "Shorten the largest: all arguments (6,553,600 bytes)",
    );
  });

  it("says that a script has CRLF, or an interpreter that is not there", async () => {
    const crlf = script("crlf.sh", "#!/bin/sh\r\necho\r\n");
    expect(await reasonOf(crlf)).toBe(
      "The command could not be started: ENOENT. The first line of its file ends with CRLF, and no interpreter has such " +
        "a name. Commit the file with LF: add * text=auto eol=lf to .gitattributes, and run git add --renormalize.",
    );
    expect(await reasonOf({ ...crlf, file: "./crlf.sh" })).toContain("ends with CRLF");
    expect(await reasonOf(script("none.sh", "#!/no/such/shell\necho\n"))).toContain(
      "The interpreter that the first line of its file names is not on this machine.",
    );
    expect(await reasonOf({ file: join(folder, "no-file"), args: [] })).toBe(
      "The command could not be started: ENOENT.",
    );
    expect(await reasonOf(crlf.file)).toContain("commit the script with LF instead of CRLF");
  });
});
