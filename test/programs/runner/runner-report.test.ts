import { describe, expect, it, vi } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";
import {
  deployFirst,
  output,
  PATHS,
  POLLING,
  prepare,
  report,
  toStatuses,
} from "../support/reports.ts";
import type { Parsed } from "../support/service.ts";

const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };
const WAITS = "until [ -e go ]; do sleep 0.1; done";
const SECRET = "canary-of-a-report";

/** A command that waits, and runs another one when it is stopped. */
const waitAndTrap = (command: string) =>
  `trap '${command.replaceAll("'", `'\\''`)}; exit 143' TERM; ${PATHS}; sleep 600 & wait`;

const fixture = RunnerFixture.use();

describe.concurrent("what a command reports", () => {
  it("is shown while it runs, and its outputs are in the input of later stacks and deployments", async (context) => {
    const { project, run, stackId, secondId, read, readResources } = await prepare(
      fixture,
      context,
    );
    const { id } = await project.deploy();
    const [a, b] = ["a", "b"].map((template_id) => ({ template_id, status: "CREATE_IN_PROGRESS" }));
    const runner = run(
      `if [ "$LONGSHORE_STACK_NAME" = first ]; then ` +
        `${report({ resources: [{ ...a, resource_type: "Bucket", physical_id: "bucket-1" }, b] })}; ` +
        `${output("url", "http://wrong.example.com")}; ${output("url", "https://shop.example.com")}; ` +
        `${WAITS}; ${report({ resource: { ...a, status: "CREATE_COMPLETE" } })}; ` +
        `${report({ resource: { template_id: "c", status: "CREATE_FAILED", status_reason: "No." } })}; ` +
        `else ${output("port", "8080")}; fi; cat "$LONGSHORE_INPUT_FILE" >> inputs; echo >> inputs`,
    );
    await vi.waitUntil(async () => (await readResources()).length === 2, POLLING);
    expect(toStatuses(await readResources())).toEqual([
      "a: CREATE_IN_PROGRESS",
      "b: CREATE_IN_PROGRESS",
    ]);
    expect((await read(stackId)).outputs ?? {}).toEqual({});
    runner.make("go");
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    const resources = await readResources();
    expect(toStatuses(resources)).toEqual([
      "a: CREATE_COMPLETE",
      "b: CREATE_IN_PROGRESS",
      "c: CREATE_FAILED",
    ]);
    // What the later line does not have is that of the earlier one, or a default.
    expect(resources).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ physical_id: "bucket-1", resource_type: "Bucket" }),
        expect.objectContaining({
          physical_id: "",
          resource_type: "Resource",
          status_reason: "No.",
        }),
      ]),
    );
    const url = { url: "https://shop.example.com" };
    expect((await read(stackId)).outputs).toEqual(url);
    const { id: next } = await project.deploy();
    expect(await project.waitForEnd(next)).toEqual(SUCCEEDED);
    const outputs = runner
      .read("inputs")
      .map((line) => JSON.parse(line).stacks.map((each: Parsed) => each.outputs));
    const port = { port: "8080" };
    expect(outputs).toEqual([
      [{}, {}],
      [url, {}],
      [url, port],
      [url, port],
    ]);
    expect((await read(secondId)).outputs).toEqual(port);
  });

  it("arrives although replies are lost, and in at most one report in a second", async (context) => {
    let requests = 0;
    const setup = await prepare(fixture, context, (verb, times) => {
      if (verb === "stacks") requests += 1;
      return verb === "stacks" && times % 2 === 1;
    });
    const { project, run, stackId, read, readResources } = setup;
    const { id } = await deployFirst(setup);
    const lines = Array.from({ length: 20 }, (_, at) => {
      const resource = { template_id: `r${at}`, status: "CREATE_COMPLETE" };
      return `${report({ resource })}; sleep 0.1`;
    });
    const startedAt = performance.now();
    const runner = run(`${lines.join("; ")}; ${WAITS}; ${output("n", "20")}`, "--once");
    await vi.waitUntil(async () => (await readResources()).length === 20, POLLING);
    runner.make("go");
    expect(await runner.exited).toBe(0);
    expect((await project.read(id)).status).toBe("succeeded");
    expect((await read(stackId)).outputs).toEqual({ n: "20" });
    // Each is sent twice. Besides, there are those of the start and the end.
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
    expect(requests).toBeLessThanOrEqual(2 * (seconds + 2));
    expect(requests).toBeGreaterThan(2 * 2);
  });

  it("gives the reason of a failure, and of a failure alone", async (context) => {
    const { project, run } = await prepare(fixture, context);
    const { id } = await project.deploy();
    const reason = report({ status_reason: "The bucket exists already." });
    const [first, last] = [report({ status_reason: "Creating." }), reason];
    const runner = run(`${first}; ${last}; [ -e go ]`);
    const stacks = [
      "failed: The bucket exists already.",
      'skipped: Not started because "first" failed.',
    ];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    runner.make("go");
    expect(await project.waitForEnd((await project.deploy()).id)).toEqual(SUCCEEDED);
  });

  it("has no secret of the deployment", async (context) => {
    const setup = await prepare(fixture, context);
    const { project, run, stackId, read, readResources } = setup;
    await project.setVariables({ SECRET });
    const { id } = await deployFirst(setup);
    const encoded = Buffer.from(SECRET).toString("base64");
    const resource = { template_id: SECRET, physical_id: encoded, resource_type: `T ${SECRET}` };
    const runner = run(
      [
        report({ resource: { ...resource, status: "CREATE_FAILED", status_reason: SECRET } }),
        output("token", `Bearer ${SECRET}`),
        output("url", `https://example.com/?token=${SECRET}`),
        output(SECRET, "1"),
        report({ [SECRET]: 1 }),
        report({ status_reason: `It is ${SECRET}.` }),
        "exit 1",
      ].join("; "),
      "--once",
    );
    expect(await runner.exited).toBe(1);
    expect(runner.output).not.toContain(SECRET);
    const stacks = ["failed: It is ***."];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    expect(await readResources()).toEqual([
      expect.objectContaining({
        template_id: "***",
        physical_id: "***",
        resource_type: "T ***",
        status_reason: "***",
      }),
    ]);
    expect(await fixture.log(id)).toBe(
      "Report, line 4: output.name has a secret.\n" +
        "Report, line 5: Write resource, resources, output or status_reason.\n",
    );
    const { id: next } = await deployFirst(setup);
    expect(await run(output("token", `Bearer ${SECRET}`), "--once").exited).toBe(0);
    expect((await project.read(next)).status).toBe("succeeded");
    expect((await read(stackId)).outputs).toEqual({ token: "Bearer ***" });
  });

  it("is in the log where it is wrong, with the number of the line, between lines of the command", async (context) => {
    const setup = await prepare(fixture, context);
    const { project, run, stackId, read } = setup;
    const { id } = await deployFirst(setup);
    const runner = run(
      `printf half; ${output("url", "https://mona:secret@example.com")}; ${output("url", "javascript:alert(1)")}; ` +
        `echo >> "$LONGSHORE_REPORT_FILE"; echo nonsense >> "$LONGSHORE_REPORT_FILE"; sleep 2; ` +
        `printf ' a line'; ${output("good", "1")}`,
      "--once",
    );
    expect(await runner.exited).toBe(0);
    expect((await project.read(id)).status).toBe("succeeded");
    const url = "The output url must be an http or https URL without credentials.";
    expect(await fixture.log(id)).toBe(
      `half a line\nReport, line 1: ${url}\nReport, line 2: ${url}\nReport, line 4: It is not JSON.\n`,
    );
    expect((await read(stackId)).outputs).toEqual({ good: "1" });
  });

  it("that the server refuses fails nothing, and is in the log", async (context) => {
    const setup = await prepare(fixture, context);
    const { project, run, readResources } = setup;
    const { id } = await deployFirst(setup);
    // Each is accepted, but together they exceed the size of a request.
    const resources = `const status_reason = "x".repeat(2_000);
      for (let at = 0; at < 500; at += 1) {
        const resource = { template_id: "r" + at, resource_type: "T".repeat(255), status: "CREATE_COMPLETE", status_reason };
        console.log(JSON.stringify({ resource }));
      }`;
    const runner = run(
      `"${process.execPath}" -e '${resources}' >> "$LONGSHORE_REPORT_FILE"; ${WAITS}`,
      "--once",
    );
    await runner.waitForOutput("The body is over 1 MiB");
    runner.make("go");
    expect(await runner.exited).toBe(0);
    expect((await project.read(id)).status).toBe("succeeded");
    // An earlier report may have had a part of them.
    expect((await readResources()).length).toBeLessThan(500);
    expect(await fixture.log(id)).toMatch(/^(Report: the server does not accept it: .+\n){2,}$/);
  });

  it("is sent during a cancellation too", async (context) => {
    const setup = await prepare(fixture, context);
    const { project, run, stackId, read, readResources } = setup;
    const { id } = await deployFirst(setup);
    const deleted = { template_id: "a", status: "DELETE_COMPLETE" };
    const created = report({ resource: { ...deleted, status: "CREATE_COMPLETE" } });
    const cleans = waitAndTrap(report({ resource: deleted }));
    const runner = run(`${created}; ${output("a", "1")}; ${cleans}`, "--once");
    await runner.waitForLines("paths", 1);
    await vi.waitUntil(async () => (await readResources()).length === 1, POLLING);
    await project.cancel(id);
    expect(await runner.exited).toBe(1);
    expect((await project.read(id)).status).toBe("canceled");
    expect(toStatuses(await readResources())).toEqual(["a: DELETE_COMPLETE"]);
    expect((await read(stackId)).outputs ?? {}).toEqual({});
  });
});
