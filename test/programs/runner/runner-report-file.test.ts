import { describe, expect, it } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import { deployFirst, output, prepare } from "../support/reports.ts";

const fixture = RunnerFixture.use();

const REPLACED =
  "Report: The file was replaced, and the new one is not read. Append to the file.\n";
const STOLEN = JSON.stringify({ output: { name: "stolen", value: "1" } });
/** In the working directory, outside of the folder of the stack. */
const OUTSIDE = `mkdir outside; echo '${STOLEN}' > outside/report.jsonl`;

describe.concurrent("a report file that is hostile", () => {
  it.for([
    ["a pipe", 'rm "$R"; mkfifo "$R"', REPLACED],
    ["a folder", 'rm "$R"; mkdir "$R"', REPLACED],
    ["gone", 'rm -r "$(dirname "$R")"', ""],
    ["a link to another file", `${OUTSIDE}; ln -sf "$PWD/outside/report.jsonl" "$R"`, REPLACED],
    [
      "in a folder that is a link",
      `${OUTSIDE}; D=$(dirname "$R"); rm -r "$D"; ln -s "$PWD/outside" "$D"`,
      REPLACED,
    ],
    [
      "larger than its limit",
      'head -c 11000000 /dev/zero >> "$R"',
      "Report: The report has more than 10485760 bytes. The rest is not read.\n",
    ],
    [
      "of a size that no disk has",
      'truncate -s 1T "$R"',
      "Report: The report has more than 10485760 bytes. The rest is not read.\n",
    ],
    [
      "one long line",
      'head -c 1048577 /dev/zero | tr "\\0" " " >> "$R"; echo >> "$R"',
      "Report, line 2: The line has more than 1048576 bytes.\n",
    ],
    [
      "binary",
      'printf "\\377\\376\\n\\0\\n" >> "$R"',
      "Report, line 2: It is not UTF-8.\nReport, line 3: It is not JSON.\n",
    ],
    [
      "full of nonsense",
      'yes | head -n 200000 >> "$R"',
      `${Array.from({ length: 100 }, (_, at) => `Report, line ${at + 2}: It is not JSON.\n`).join("")}` +
        "Report: 100 lines are ignored. The rest is not read.\n",
    ],
  ] as const)(
    "that is %s changes nothing about the deployment",
    async ([_, hostile, log], context) => {
      const setup = await prepare(fixture, context);
      const { project, run, stackId, read } = setup;
      const { id } = await deployFirst(setup);
      const runner = run(
        `R=$LONGSHORE_REPORT_FILE; ${output("good", "1")}; sleep 1.5; ${hostile}`,
        "--once",
      );
      expect(await runner.exited).toBe(0);
      expect((await project.read(id)).status).toBe("succeeded");
      expect(await fixture.log(id)).toBe(log);
      expect((await read(stackId)).outputs).toEqual({ good: "1" });
    },
  );

  it("is read to its end, although a process keeps it open, or it is written anew", async (context) => {
    const setup = await prepare(fixture, context);
    const { project, run, stackId, read } = setup;
    const { id } = await deployFirst(setup);
    const long = JSON.stringify({ output: { name: "long", value: "x".repeat(1_000) } });
    const unended = `printf '%s' '${JSON.stringify({ output: { name: "unended", value: "1" } })}'`;
    const runner = run(
      `R=$LONGSHORE_REPORT_FILE; echo '${long}' > "$R"; sleep 2; echo '${STOLEN}' > "$R"; ` +
        `sleep 600 >> "$R" & ${unended} >> "$R"`,
      "--once",
    );
    expect(await runner.exited).toBe(0);
    expect((await project.read(id)).status).toBe("succeeded");
    const { outputs } = await read(stackId);
    expect(outputs).toEqual({ long: "x".repeat(1_000), stolen: "1", unended: "1" });
    expect(await fixture.log(id)).toBe("");
  });
});
