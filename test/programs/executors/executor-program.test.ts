import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { toLowerId } from "../../../packages/executors/program/src/names.ts";
import { Report } from "../../../packages/executors/program/src/report.ts";
import { parseDuration, wait } from "../../../packages/executors/program/src/time.ts";
import { parseReportLine, REPORT_LIMITS } from "../../../packages/runner/src/report-lines.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const LIBRARY = join(ROOT, "packages/executors/program/src/index.ts");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longshore-program-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

const readLines = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => parseReportLine(Buffer.from(line)));

/** Runs a program whose body is `body`, as a runner would. */
function runBody(body: string) {
  const path = (name: string) => join(folder, name);
  const report = path("report.jsonl");
  writeFileSync(report, "");
  writeFileSync(path("input.json"), JSON.stringify({ stack: { id: "7", name: "api" } }));
  writeFileSync(path("settings.json"), JSON.stringify({ path: "/srv/a" }));
  const program = `import { ProgramError, readTool, runProgram, runTool } from ${JSON.stringify(LIBRARY)};
await runProgram(async ({ input, settings, report, folder, stop }) => { ${body} });
`;
  writeFileSync(path("main.ts"), program);
  const args = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, path("main.ts")], {
    encoding: "utf8",
    env: {
      ...process.env,
      LONGSHORE_INPUT_FILE: path("input.json"),
      LONGSHORE_SETTINGS_FILE: path("settings.json"),
      LONGSHORE_REPORT_FILE: report,
    },
  });
  return { status, stdout, stderr, lines: readLines(report) };
}

describe("the program of an executor", () => {
  it("gets the input and the settings, and succeeds when it returns", () => {
    const body = `console.log(input.stack.name, settings.path, folder); report.output("url", "https://example.com");`;
    expect(runBody(body)).toEqual({
      status: 0,
      stdout: `api /srv/a ${folder}\n`,
      stderr: "",
      lines: [{ output: { name: "url", value: "https://example.com" } }],
    });
  });

  it("fails with the message of a ProgramError as the reason, and without a reason for a bug", () => {
    const failed = runBody(`throw new ProgramError("The plan fails.\\nMend it.");`);
    expect([failed.status, failed.stderr]).toEqual([1, "The plan fails.\nMend it.\n"]);
    expect(failed.lines).toEqual([{ status_reason: "The plan fails. Mend it." }]);
    const broken = runBody("undefined.member;");
    expect([broken.status, broken.lines]).toEqual([1, []]);
    expect(broken.stderr).toContain("TypeError");
  });

  it("learns that it should stop, and still reports", () => {
    const body = `
      setTimeout(() => process.kill(process.pid, "SIGTERM"), 10);
      const alive = setInterval(() => undefined, 1_000);
      await new Promise((resolve) => stop.addEventListener("abort", resolve));
      clearInterval(alive);
      report.resource({ template_id: "a", status: "UPDATE_FAILED" });
      throw new ProgramError("Stopped.");`;
    const { status, lines } = runBody(body);
    expect([status, lines]).toEqual([
      1,
      [{ resource: { template_id: "a", status: "UPDATE_FAILED" } }, { status_reason: "Stopped." }],
    ]);
  });

  it("learns that it should stop before a tool that the same signal has ended is a failure", () => {
    const tool = `(sleep 0.2; kill -TERM "$PPID") & kill -TERM $$`;
    const body = `
      const { code } = await runTool("/bin/sh", ["-c", ${JSON.stringify(tool)}]);
      console.log(code, stop.aborted);`;
    expect(runBody(body).stdout).toBe("null true\n");
  });

  it("interrupts a tool once, and reads what it prints to standard error", () => {
    const tool = `trap 'echo interrupted >&2; exit 4' INT; echo ready; i=0
      while [ $i -lt 1000 ]; do sleep 0.02; i=$((i+1)); done`;
    const body = `
      const interrupt = new AbortController();
      const errors = [];
      const { code } = await runTool("/bin/sh", ["-c", ${JSON.stringify(tool)}], {
        onLine: () => interrupt.abort(), onErrorLine: (line) => errors.push(line), interrupt: interrupt.signal });
      console.log(JSON.stringify({ code, errors }));`;
    const { stdout, stderr } = runBody(body);
    expect(JSON.parse(stdout)).toEqual({ code: 4, errors: ["interrupted"] });
    expect(stderr).toBe("");
  });

  it("names the variable that no tool can get, and not its value", () => {
    const body = `
      for (const value of ["canary\\0", "canary".repeat(30_000)]) {
        await runTool("true", [], { variables: { TF_VAR_a: value } }).catch(({ message }) => console.log(message));
      }`;
    const [withNull, large] = runBody(body).stdout.split("\n");
    expect(withNull).toBe(
      "true could not be started: ERR_INVALID_ARG_VALUE. The variable TF_VAR_a has a NUL character, which no program " +
        "can get. Set it again without one.",
    );
    expect(large).toContain("true could not be started: E2BIG.");
    expect(large).toContain("Shorten the largest: TF_VAR_a (180,000 bytes)");
  });

  it("runs tools without a shell, and says which one is missing", () => {
    const arg = "$(touch x); a 'b'";
    const body = `
      const lines = [];
      const { code } = await runTool("/bin/sh", ["-c", 'echo "$1"; echo two; echo "$NAME" >&2; exit 3', "sh", ${JSON.stringify(arg)}],
        { onLine: (line) => lines.push(line), variables: { NAME: "given" } });
      console.log(JSON.stringify({ lines, code }));
      await runTool("/bin/sh", ["-c", "echo hidden >&2"], { hidesErrors: true });
      console.log(await readTool("echo", ["-n", "text"], { problem: "none" }));
      await readTool("false", [], { problem: "It ended with an error." }).catch(({ message }) => console.log(message));
      await runTool("no-such-tool", []);`;
    const { status, stdout, stderr, lines } = runBody(body);
    const message = "no-such-tool could not be started: ENOENT. Install it on the runner's PATH.";
    expect(stdout.split("\n")).toEqual([
      JSON.stringify({ lines: [arg, "two"], code: 3 }),
      "text",
      "It ended with an error.",
      "",
    ]);
    expect([status, stderr]).toEqual([1, `given\n${message}\n`]);
    expect(lines).toEqual([{ status_reason: message }]);
  });
});

describe("the report of a program", () => {
  it("has a line for each change of a resource, and none for the same again", () => {
    const path = join(folder, "changes.jsonl");
    const report = new Report(path);
    const first = { template_id: "a", status: "CREATE_IN_PROGRESS", physical_id: "i-1" };
    const other = { ...first, template_id: "b" };
    for (const each of [first, other, first, { ...first, status: "CREATE_COMPLETE" }, other]) {
      report.resource(each);
    }
    report.allResources([other]);
    report.resource(other);
    expect(readLines(path)).toEqual([
      { resource: first },
      { resource: other },
      { resource: { ...first, status: "CREATE_COMPLETE" } },
      { resources: [other] },
    ]);
  });

  it("has as many resources as the server accepts, without the deleted ones, and says once that there are more", (context) => {
    const path = join(folder, "many.jsonl");
    const report = new Report(path);
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    context.onTestFinished(() => log.mockRestore());
    const many = Array.from({ length: REPORT_LIMITS.resources + 2 }, (_, index) => ({
      template_id: `r${index}`,
      status: "CREATE_COMPLETE",
    }));
    report.resource({ template_id: "gone", status: "DELETE_COMPLETE" });
    for (const each of many.slice(0, REPORT_LIMITS.resources)) report.resource(each);
    expect([readLines(path).length, log.mock.calls.length]).toEqual([501, 0]);
    for (const each of many) report.resource(each);
    expect([readLines(path).length, log.mock.calls]).toEqual([
      501,
      [["Only 500 resources of the stack are reported."]],
    ]);
    report.resource({ template_id: "r7", status: "DELETE_COMPLETE" });
    report.resource({ template_id: "new", status: "CREATE_COMPLETE" });
    report.allResources(many);
    const [deleted, added, all] = readLines(path).slice(-3);
    expect([deleted, added]).toMatchObject([
      { resource: { template_id: "r7" } },
      { resource: { template_id: "new" } },
    ]);
    expect(all).toEqual({ resources: many.slice(0, REPORT_LIMITS.resources) });
    expect(log).toHaveBeenCalledTimes(1);
  });

  it("shortens reasons to what the server accepts, in one line", () => {
    const path = join(folder, "reasons.jsonl");
    const report = new Report(path);
    const long = `\u001b[31mError:\n${"👩‍🚀".repeat(1_000)}`;
    report.statusReason(long);
    report.resource({ template_id: "a", status: "CREATE_FAILED", status_reason: long });
    report.statusReason("x".repeat(2_000));
    const [reason, resource, whole] = readLines(path);
    const expected = expect.stringMatching(/^\[31mError: \S{1,1990}…$/u);
    expect(reason).toEqual({ status_reason: expected });
    expect(resource).toMatchObject({ resource: { status_reason: expected } });
    expect(whole).toEqual({ status_reason: "x".repeat(2_000) });
  });
});

describe("what programs share", () => {
  it("keeps IDs apart that differ in case", () => {
    expect(["aBc", "abc", "ABC", "a1B"].map(toLowerId)).toEqual(["a0bc", "abc", "0a0b0c", "a10b"]);
  });

  it("reads durations", () => {
    const texts = ["1s", "90s", "10m", "999999h"];
    expect(texts.map((text) => parseDuration("timeout", text))).toEqual([
      1, 90, 600, 3_599_996_400,
    ]);
    for (const text of ["", "0s", "01s", "1", "s", "1d", "-1s", "1.5m", "1s ", "1000000s"]) {
      expect(() => parseDuration("timeout", text)).toThrow(
        "The setting timeout must be a duration",
      );
    }
  });

  it("waits, and no longer after a stop", async () => {
    const stop = new AbortController();
    await wait(1, stop.signal);
    const waiting = wait(600_000, stop.signal);
    stop.abort();
    await waiting;
    await wait(600_000, stop.signal);
  });
});
