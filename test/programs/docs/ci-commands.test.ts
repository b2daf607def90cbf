import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Job } from "../../../packages/action/src/job.ts";
import { DeploymentReport } from "../../../packages/action/src/report.ts";
import { LogPrinter } from "../../../packages/cli/src/deployments/display.ts";
import { StackNames } from "../../../packages/cli/src/deployments/stack-names.ts";
import { Output } from "../../../packages/cli/src/output.ts";
import { toPlainText } from "../../../packages/cli/src/plain-text.ts";
import { renderTable } from "../../../packages/cli/src/table.ts";
import { toInertJson, toInertText } from "../../../packages/runner/src/inert-text.ts";
import { CI_COMMANDS, CI_SYSTEMS } from "../support/ci-commands.ts";
import { RunnerFixture } from "../support/fixture.ts";

const STACK = "1CgMoo6Wfj9u5hu6v1REVC";
const CASES = CI_COMMANDS.map((each) => [each.name, JSON.stringify(each.command), each] as const);

function toLogLine(text: string) {
  return { stack_id: STACK, text: `${text}\n`, offset: 0, time: "2026-11-21T09:30:01.113Z" };
}

/** What the command line prints without a terminal. */
function printed(print: (output: Output) => void): string[] {
  const stream = new PassThrough({ encoding: "utf8" });
  const output = new Output({ env: {}, stdout: stream, stderr: stream, exit: () => undefined });
  print(output);
  return String(stream.read() ?? "").split("\n");
}

describe("what a CI system obeys", () => {
  it.each(CASES)("%s: %s is a command as it is", (_, __, { command, obeys }) => {
    expect(obeys(command)).toBe(true);
  });

  it.each(CASES)("%s: %s is none in a log of the command line", (_, __, { command, obeys }) => {
    const named = (name: string) => new StackNames(new Map([[STACK, name]]));
    for (const [names, text] of [
      [named("web"), command],
      [named(toPlainText(command)), "text"],
    ] as const) {
      const lines = printed((output) => {
        new LogPrinter(names, false, (line) => output.print(line)).push(toLogLine(text));
      });
      expect(lines.filter(obeys)).toEqual([]);
    }
  });

  it.each(CASES)("%s: %s is none in a remark, a table and JSON", (_, __, { command, obeys }) => {
    const lines = printed((output) => {
      output.note(command);
      output.note(`Title\n${command}`);
      output.print(renderTable([{ title: "name", value: (name: string) => name }], [command]));
      output.json({ message: command, list: [command] });
      output.jsonLine({ message: command });
    });
    expect(lines.filter(obeys)).toEqual([]);
    expect(JSON.parse(lines.at(-2) ?? "")).toEqual({ message: command });
  });

  it.each(CASES)("%s: %s is none in the log of the action", (_, __, { command, obeys }) => {
    const lines: string[] = [];
    const job = new Job({}, (line) => lines.push(...line.split("\n")));
    const deployment = { id: STACK, status: "queued", data: {} };
    const report = new DeploymentReport(
      job,
      deployment as ConstructorParameters<typeof DeploymentReport>[1],
      { environment: "production", names: new Map([[STACK, "web"]]), link: "" },
    );
    job.print(command);
    report.showLine(toLogLine(command));
    report.flushLog();
    expect(lines).toHaveLength(2);
    expect(lines.filter(obeys)).toEqual([]);
  });
});

describe("the output of a runner in a CI job", () => {
  const fixture = RunnerFixture.use();

  it("has no commands, in whatever parts they are printed, and its log has every byte", async (context) => {
    const { project, run } = await fixture.prepare(context);
    // Only the command line and the action show control characters instead.
    const cases = CI_COMMANDS.filter(({ command }) => !/\p{Cc}/u.test(command));
    const text = cases.map(({ command }) => `half\r${command}\n${command}\n`).join("");
    const { id } = await project.deploy();
    const print = (part: string) => `printf %s ${Buffer.from(part).toString("base64")} | base64 -d`;
    // The second stack goes on with what the first one has begun.
    const parts = [
      ":error::canary\n##v",
      "so[task.complete]canary\n",
      text,
      "##[error]canary\n##vso",
      "[",
    ];
    const runner = run(parts.map(print).join("; sleep 0.1; "), "--once");
    expect(await runner.exited).toBe(0);
    const lines = runner.output.split(/\r?\n|\r/);
    expect(lines.filter((line) => CI_SYSTEMS.some(({ obeys }) => obeys(line)))).toEqual([]);
    expect(lines.filter((line) => line === "half").length).toBeGreaterThan(10);
    expect(await fixture.log(id)).toBe(parts.join("").repeat(2));
  });
});

describe("an inert text", () => {
  it("keeps what is no command", () => {
    const text = "#[a] # [b] :a: a::b -- + ++ a --- b {}[0] ## Title\n  ** a [b](c) ##\n";
    expect(toInertText(text)).toBe(text);
    expect(toInertJson(JSON.stringify(text))).toBe(JSON.stringify(text));
  });

  it("shows what was written", () => {
    expect(toInertText("a ##[b] ##vso[c]\n ::d::")).toBe("a ## [b] ##vso [c]\n \\::d::");
    expect(toInertText(toInertText("##[a]\n--- b"))).toBe("## [a]\n\\--- b");
  });

  it("takes linear time for hostile lines", () => {
    for (const text of ["#", "##", "#\u00ad", "##vso", ":", " :", "\u00ad"]) {
      const line = text.repeat(200_000);
      const from = performance.now();
      toInertText(line);
      expect(performance.now() - from).toBeLessThan(5_000);
    }
  });
});
