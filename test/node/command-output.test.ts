import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type CommandResult, runCommand } from "../../packages/runner/src/command.ts";

const SUCCEEDED: CommandResult = { ok: true };

async function run(command: string) {
  let output = "";
  const never = new AbortController().signal;
  const onOutput = (chunk: Buffer) => {
    output += chunk;
  };
  const options = { stop: never, force: never, graceMs: 0, onOutput };
  const result = await runCommand(command, process.env, options);
  return { result, output };
}

describe.concurrent("the output of a command", () => {
  it("has the lines of both outputs in the order in which they are printed", async () => {
    const { result, output } = await run(
      "i=0; while [ $i -lt 500 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done",
    );
    const lines = Array.from({ length: 500 }, (_, index) => `out ${index}\nerr ${index}\n`);
    expect(output).toBe(lines.join(""));
    expect(result).toEqual(SUCCEEDED);
  });

  it("includes what a command writes to /dev/stdout and /dev/stderr", async () => {
    const { result, output } = await run("echo one; echo two > /dev/stderr; echo 3 >/dev/stdout");
    expect(output).toBe("one\ntwo\n3\n");
    expect(result).toEqual(SUCCEEDED);
  });

  it("includes the shell's own messages, and does not change how the command ends", async () => {
    const syntax = await run("if true; then echo never");
    expect(syntax.output).toMatch(/syntax error/i);
    expect(syntax.result.ok).toBe(false);
    const failed = await run("echo last words; exit 7 # a comment");
    expect(failed).toEqual({
      output: "last words\n",
      result: { ok: false, reason: "The command ended with 7." },
    });
    const killed = await run("kill -TERM $$");
    expect(killed.result.reason).toBe("The command was ended by SIGTERM.");
  });

  it("includes that of every line, and of all bytes of a large file", async () => {
    const { output } = await run('echo "$0"\n\nif true\nthen\n  echo "two # words"\nfi\n# the end');
    expect(output).toBe("/bin/sh\ntwo # words\n");
    const large = await run("head -c 3000000 /dev/zero");
    expect(large.output.length).toBe(3_000_000);
  });

  it("ends soon after the command, although a process outside its group keeps the pipe open", async () => {
    const { result, output } = await run(
      "setsid sh -c 'echo $$; exec sleep 600' & sleep 0.5; echo done",
    );
    const [pid = "", ...rest] = output.split("\n");
    expect(rest).toEqual(["done", ""]);
    expect(result).toEqual(SUCCEEDED);
    // It still runs, and would have kept the pipe open.
    expect(process.kill(Number(pid), "SIGKILL")).toBe(true);
  });
});

describe("the output of a command without mkfifo", () => {
  it("has the lines of both outputs", async () => {
    vi.stubEnv("PATH", "/nonexistent");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { result, output } = await run("echo out; echo err >&2");
    expect(output.split("\n").toSorted()).toEqual(["", "err", "out"]);
    expect(result).toEqual(SUCCEEDED);
  });
});
