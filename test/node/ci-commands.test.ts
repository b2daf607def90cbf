import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Job } from "../../packages/action/src/job.ts";
import { DeploymentReport } from "../../packages/action/src/report.ts";
import { LogPrinter } from "../../packages/cli/src/deployments/display.ts";
import { StackNames } from "../../packages/cli/src/deployments/stack-names.ts";
import { toInertJson, toInertText } from "../../packages/cli/src/inert-text.ts";
import { Output } from "../../packages/cli/src/output.ts";
import { renderTable } from "../../packages/cli/src/table.ts";
import { CI_COMMANDS } from "./support/ci-commands.ts";

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
    const names = new StackNames(new Map([[STACK, "web"]]));
    for (const name of ["web", ""]) {
      const lines = printed((output) => {
        const shown = name === "" ? new StackNames(new Map([[STACK, command]])) : names;
        const log = new LogPrinter(shown, false, (line) => output.print(line));
        log.push(toLogLine(name === "" ? "text" : command));
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
