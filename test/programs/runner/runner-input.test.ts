import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Schema, Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { stackEnvironment } from "../../../packages/runner/src/stack-environment.ts";
import { INPUT_SCHEMA_FILES, renderInputSchema } from "../../../scripts/lib/input-schema.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { deployFirst, output, PATHS, prepare, toStatuses } from "../support/reports.ts";
import { stackInput } from "../support/stack-input.ts";

const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };
/** Of a program in the page. */
const MAXIMUM_LINES = 40;

const fixture = RunnerFixture.use();

describe.concurrent("what a command gets", () => {
  it("is in files that only its user can read, for one stack, and gone afterwards", async (context) => {
    const { project, run, client, stackId, secondId } = await prepare(fixture, context);
    const environment = `/v1/environments/${project.environmentId}`;
    await client.call("PUT", environment, { name: "staging", configuration: { replicas: 2 } });
    const patch = [{ op: "replace", path: "/replicas", value: 3 }];
    const source = {
      registry: { image: "ghcr.io/acme/shop:1.4.2" },
    };
    const { id } = await project.deploy({ patch, source });
    const runner = run(
      `${PATHS}; cat "$LONGSHORE_INPUT_FILE" >> inputs; echo >> inputs; ` +
        'cat "$LONGSHORE_CONFIGURATION_FILE" >> configurations; echo >> configurations; ' +
        'ls -l "$(dirname "$LONGSHORE_INPUT_FILE")" | grep json | cut -c1-10 >> modes; ' +
        'ls -ld "$(dirname "$LONGSHORE_INPUT_FILE")" | cut -c1-10 >> modes; env > environment',
      "--once",
    );
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    const modes = [...Array(3).fill("-rw-------"), "drwx------"];
    expect(runner.read("modes")).toEqual([...modes, ...modes]);
    expect(runner.read("configurations").map((line) => JSON.parse(line))).toEqual([
      { replicas: 3 },
      { replicas: 3 },
    ]);
    const [first, second] = runner.read("inputs").map((line) => JSON.parse(line));
    const stacks = [
      { id: stackId, name: "first", outputs: {} },
      { id: secondId, name: "second", outputs: {} },
    ];
    expect(first).toMatchObject({
      deployment: { id, source, trigger: "api", continue_on_failure: false },
      project: { id: project.projectId, name: project.projectName },
      environment: { id: project.environmentId, name: "staging" },
      stacks,
      configuration: { replicas: 3 },
      connection: { provider: "aws", account_id: "123456789012" },
    });
    expect([first.stack, second.stack]).toEqual(stacks);
    const schema = JSON.parse(await renderInputSchema());
    const validator = new Validator(schema as Schema, "2020-12", false);
    // Only where a stack needs another one that is not deployed.
    const all = [...Object.keys(first), "needed_stacks"];
    expect(all.toSorted()).toEqual(Object.keys(schema.properties).toSorted());
    expect([first, second].flatMap((each) => validator.validate(each).errors)).toEqual([]);
    expect(validator.validate({ ...first, project: {} }).valid).toBe(false);
    expect(runner.read("environment")).toEqual(
      expect.arrayContaining([
        `LONGSHORE_STACK=${secondId}`,
        `LONGSHORE_STACK_ID=${secondId}`,
        "LONGSHORE_STACK_NAME=second",
        `LONGSHORE_PROJECT_ID=${project.projectId}`,
        `LONGSHORE_PROJECT_NAME=${project.projectName}`,
        `LONGSHORE_ENVIRONMENT_ID=${project.environmentId}`,
        "LONGSHORE_ENVIRONMENT_NAME=staging",
        "LONGSHORE_IMAGE=ghcr.io/acme/shop:1.4.2",
      ]),
    );
    const folders = runner.read("paths").map(dirname);
    expect(new Set(folders).size).toBe(2);
    expect(folders.filter(existsSync)).toEqual([]);
  });

  it("names the component of the stack", async (context) => {
    const { project, run } = await prepare(fixture, context);
    const component = await project.addComponent("api", {});
    const stack_ids = [await project.addStack("of-api", component)];
    await project.deploy({ stack_ids });
    const runner = run("env > environment", "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.read("environment")).toEqual(
      expect.arrayContaining([
        "LONGSHORE_COMPONENT_NAME=api",
        `LONGSHORE_COMPONENT_ID=${component}`,
      ]),
    );
    expect(runner.output).toContain(`Stack of-api (${stack_ids[0]}): succeeded.`);
  });

  it("is gone after a kill of the command", async (context) => {
    const { project, run } = await prepare(fixture, context);
    const { id } = await project.deploy();
    const ignores = `trap '' TERM; ${PATHS}; exec sleep 600`;
    const runner = run(ignores, "--once", "--grace", "0");
    await runner.waitForLines("paths", 1);
    await project.cancel(id);
    expect(await runner.exited).toBe(1);
    expect((await project.read(id)).status).toBe("canceled");
    const [path = ""] = runner.read("paths");
    expect(existsSync(dirname(path))).toBe(false);
  });
});

describe("docs/executors.md", () => {
  const page = readFileSync(join(ROOT, "docs/executors.md"), "utf8");

  /** The first program of the page in this language. */
  const findProgram = (language: string): string => {
    const [, text = ""] =
      new RegExp(`^\`\`\`${language}\\n(#![^]*?)^\`\`\`$`, "m").exec(page) ?? [];
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(MAXIMUM_LINES);
    return text;
  };

  it("has a script that deploys", async (context) => {
    const setup = await prepare(fixture, context);
    const { project, runWith, client, stackId, read, readResources } = setup;
    const environment = `/v1/environments/${project.environmentId}`;
    const write = (title: string) =>
      client.call("PUT", environment, { name: "staging", configuration: { title } });
    const folder = mkdtempSync(join(tmpdir(), "longshore-home-"));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = join(folder, "deploy.sh");
    writeFileSync(script, findProgram("sh"), { mode: 0o700 });
    runWith({ HOME: folder }, script);
    const deploy = async (): Promise<[status: string, resources: string[], log: string]> => {
      const { id } = await deployFirst(setup);
      const { status } = await project.waitForEnd(id);
      return [status, toStatuses(await readResources()), await fixture.log(id)];
    };
    const sites = join(folder, "sites");
    writeFileSync(sites, "");
    const [status, resources] = await deploy();
    expect([status, resources]).toEqual(["failed", ["site: CREATE_FAILED"]]);
    rmSync(sites);
    for (const [title, status] of [
      ["Shop", "CREATE_COMPLETE"],
      ["Other shop", "UPDATE_COMPLETE"],
    ] as const) {
      await write(title);
      expect(await deploy()).toEqual(["succeeded", [`site: ${status}`], ""]);
      const written = readFileSync(join(sites, stackId, "configuration.json"), "utf8");
      expect(JSON.parse(written)).toEqual({ title });
    }
    expect((await read(stackId)).outputs).toEqual({ url: "http://localhost:8080" });
  });

  it("has a program in Python that deploys", async (context) => {
    const { error } = spawnSync("python3", ["--version"]);
    if (error) {
      console.log("Skipped: the program in Python needs python3 on the PATH.");
      context.skip();
    }
    const { project, run, client, read } = await prepare(fixture, context);
    const network = await project.addStack("network");
    const server = await project.addStack("server");
    const given = `if [ "$LONGSHORE_STACK_NAME" = network ]; then ${output("subnet_id", "subnet-9")}`;
    const runner = run(`${given}; else ./deploy.py; fi`);
    const write = (name: string, content: string) =>
      writeFileSync(join(runner.folder, name), content, { mode: 0o700 });
    write("deploy.py", findProgram("python"));
    const update = (end: string) =>
      write(
        "update-server",
        `#!/bin/sh
echo "$@" >> updates
${end}
`,
      );
    const end = async (id: string) => {
      const { status, stacks } = await project.waitForEnd(id);
      const { data } = await client.call("GET", `/v1/stacks/${server}/resources`);
      return [status, toStatuses(data), stacks.at(-1)];
    };
    const deploy = async () => (await project.deploy({ stack_ids: [network, server] })).id;

    update("");
    expect(await end(await deploy())).toEqual([
      "succeeded",
      ["server: CREATE_COMPLETE"],
      "succeeded",
    ]);
    expect((await read(server)).outputs).toEqual({ url: "https://production.example.com" });
    expect(runner.read("updates")).toEqual([`server-${server} subnet-9 1`]);

    update("exit 3");
    const reason = "failed: update-server ended with 3.";
    expect(await end(await deploy())).toEqual(["failed", ["server: UPDATE_FAILED"], reason]);

    update("sleep 600");
    const canceled = await deploy();
    await runner.waitForLines("updates", 3);
    await project.cancel(canceled);
    expect((await end(canceled)).slice(0, 2)).toEqual(["canceled", ["server: UPDATE_FAILED"]]);

    // What a killed run has left has the lock.
    const lock = join(runner.folder, `server-${server}.lock`);
    const code = `import fcntl, time; f = open("${lock}", "w"); fcntl.flock(f, 2); print(1, flush=True); time.sleep(600)`;
    const left = spawn("python3", ["-c", code], { stdio: ["ignore", "pipe", "inherit"] });
    context.onTestFinished(() => void left.kill("SIGKILL"));
    await once(left.stdout, "data");
    update("");
    const waiting = await deploy();
    await expect
      .poll(async () => (await project.read(waiting)).data.stacks[1].status)
      .toBe("in_progress");
    expect(runner.read("updates")).toHaveLength(3);
    left.kill("SIGKILL");
    expect((await end(waiting))[0]).toBe("succeeded");
    expect(runner.read("updates")).toHaveLength(4);
  });

  it("lists the variables that the runner sets", () => {
    const source = { git: { commit: { sha: "1" } }, registry: { image: "a" } };
    const input = stackInput("a", { source });
    const component = { id: "1", name: "a" };
    const files = { inputPath: "i", configurationPath: "c", reportPath: "r" };
    const names = stackEnvironment(
      { ...input, stack: { ...input.stack, component } },
      "p",
      files,
    ).map(({ name }) => name);
    const rows = page.split("\n").filter((line) => line.startsWith("| `LONGSHORE_"));
    const listed = rows.flatMap((row) => row.split(" | ")[0]?.match(/LONGSHORE_\w+/g) ?? []);
    // Of an executor's program, from `runPlan`.
    const all = [...names, "LONGSHORE_SETTINGS_FILE"];
    expect(listed.toSorted()).toEqual(all.toSorted());
  });

  it("promises variables in one line, whatever a name has", () => {
    const input = stackInput("a\nPATH=/x\0\u0085b\u007f");
    const files = { inputPath: "i", configurationPath: "c", reportPath: "r" };
    const variables = stackEnvironment(input, "p", files);
    expect(variables).toContainEqual({ name: "LONGSHORE_STACK_NAME", value: "a PATH=/x  b " });
  });
});

describe("the JSON Schema of the input", () => {
  it.each(INPUT_SCHEMA_FILES)(
    "is up to date: npm run input:schema writes it to %s",
    async (file) => {
      expect(readFileSync(file, "utf8") === (await renderInputSchema())).toBe(true);
    },
  );
});
