import { EventEmitter, once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type CommandResult,
  type Program,
  runCommand,
} from "../../../packages/runner/src/command.ts";

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

const GRACE_MS = 30_000;

/**
 * Runs the command, with time that passes only in the test. The command prints `stopping` once it has
 * the signal, and may wait for the file `go`.
 */
async function stopWithFrozenTimers(command: string | Program) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const folder = mkdtempSync(join(tmpdir(), "longshore-command-"));
  onTestFinished(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true });
  });
  const [stop, force] = [new AbortController(), new AbortController()];
  onTestFinished(() => force.abort());
  const printed = new EventEmitter();
  const [started, stopping] = [once(printed, "started"), once(printed, "stopping")];
  const env = { ...process.env, FOLDER: folder };
  let output = "";
  const result = runCommand(command, env, {
    stop: stop.signal,
    force: force.signal,
    graceMs: GRACE_MS,
    onOutput: (chunk) => {
      output += chunk;
      for (const word of ["started", "stopping"]) if (output.includes(word)) printed.emit(word);
    },
  });
  await started;
  stop.abort();
  await Promise.race([stopping, result]);
  const go = () => writeFileSync(join(folder, "go"), "");
  return { result, folder, go, readOutput: () => output };
}

const WAITS = 'until [ -e "$FOLDER/go" ]; do sleep 0.05; done';

describe("a command that is stopped", () => {
  it("has until the end of the grace period to clean up, and then ends by itself", async () => {
    const { result, folder, go } = await stopWithFrozenTimers(
      `trap 'echo stopping; ${WAITS}; echo all > "$FOLDER/cleaned"; exit 0' TERM; echo started; ${WAITS}`,
    );
    vi.advanceTimersByTime(GRACE_MS - 1);
    go();
    expect(await result).toEqual(SUCCEEDED);
    expect(readFileSync(join(folder, "cleaned"), "utf8")).toBe("all\n");
  });

  it.each([
    [false, ["started", "stopping", "tool", "whole"]],
    [true, ["started", "stopping", "whole"]],
  ])("gets SIGTERM alone if it ends its tools (%s)", async (endsItsTools, lines) => {
    const tool = `(trap 'echo tool' TERM; echo started; ${WAITS}; echo whole)`;
    const program = `trap 'echo stopping; wait; exit 0' TERM; ${tool} & wait`;
    const { result, go, readOutput } = await stopWithFrozenTimers({
      file: "/bin/sh",
      args: ["-c", program],
      endsItsTools,
    });
    if (!endsItsTools) await expect.poll(readOutput).toContain("tool");
    go();
    expect(await result).toEqual(SUCCEEDED);
    // Some shells note that SIGTERM has ended their `sleep`.
    const printed = readOutput().replaceAll("Terminated\n", "").trim().split("\n");
    expect(printed.toSorted()).toEqual(lines);
  });

  it("leaves its child processes the rest of the grace period", async () => {
    const child = `trap 'echo stopping; ${WAITS}; echo all > "$FOLDER/cleaned"; exit 0' TERM; echo started; ${WAITS}`;
    const { result, folder, go } = await stopWithFrozenTimers(
      `trap 'exit 3' TERM; (${child}) & wait`,
    );
    vi.advanceTimersByTime(GRACE_MS - 1);
    go();
    expect(await result).toEqual({ ok: false, reason: "The command ended with 3." });
    expect(readFileSync(join(folder, "cleaned"), "utf8")).toBe("all\n");
  });

  it("is killed after the grace period, and not before", async () => {
    const { result } = await stopWithFrozenTimers(
      `trap 'echo stopping' TERM; echo started; while :; do sleep 0.05; done`,
    );
    let hasEnded = false;
    void result.then(() => {
      hasEnded = true;
    });
    vi.advanceTimersByTime(GRACE_MS - 1);
    // Longer than the end of a process takes to arrive.
    await run("true");
    expect(hasEnded).toBe(false);
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBe(0);
    expect(await result).toEqual({ ok: false, reason: "The command was ended by SIGKILL." });
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
