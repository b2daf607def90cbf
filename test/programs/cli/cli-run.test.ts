import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it } from "vitest";
import { CliUser, cliCommand } from "../support/cli.ts";
import { type ApiClient, newClient, type Parsed, useService } from "../support/service.ts";

/** Prints the arguments and the named variables as JSON. */
const PRINT =
  "const {A, B, C, LONGSHORE_API_KEY: key, LONGSHORE_URL: url} = process.env;" +
  "console.log(JSON.stringify({args: process.argv.slice(1), A, B, C, key, url}))";

const service = useService();
let client: ApiClient;
let user: CliUser;
let environmentId: string;
let projectName: string;
let component: Parsed;

beforeEach(async () => {
  client = await newClient(service);
  projectName = crypto.randomUUID();
  const project = await client.call("POST", "/v1/projects", { name: projectName });
  environmentId = project.default_environment_id;
  const components = `/v1/environments/${environmentId}/components`;
  component = await client.call("POST", components, { name: "web", kind: "service" });
  user = CliUser.of(client);
});

async function put(values: Record<string, string>, path = `/v1/environments/${environmentId}`) {
  const variables = Object.entries(values).map(([name, value]) => {
    return { name, storage_method: "secret", value };
  });
  await client.call("PUT", `${path}/variables`, { mode: "merge", variables });
}

const run = (args: string[], given: Parameters<CliUser["run"]>[1] = {}) =>
  user.runProcess(["run", "-e", environmentId, ...args], given);

/** Without the line that says whose variables the command gets. */
const withoutPlace = (stderr: string) => stderr.replace(/^Using .*\n/, "");

describe("longshore run", () => {
  it("sets the variables of the environment over the own ones, and those of the component over both", async () => {
    await put({ A: "of the environment", B: "of the environment 'quoted'\n$HOME" });
    await put({ A: "of the component" }, `/v1/components/${component.id}`);
    const changes = { A: "own", B: "own", C: "own" };
    const plain = await run(["--", process.execPath, "-e", PRINT], { changes });
    expect(JSON.parse(plain.stdout)).toEqual({
      args: [],
      A: "of the environment",
      B: "of the environment 'quoted'\n$HOME",
      C: "own",
      url: service.url.origin,
    });
    const options = ["--component", "web", "--", process.execPath, "-e", PRINT];
    const ofComponent = await run(options, { changes });
    expect(JSON.parse(ofComponent.stdout)).toMatchObject({ A: "of the component", C: "own" });
    expect([plain.stderr, ofComponent.stderr]).toEqual([
      `Using production of ${projectName}, at ${service.url.origin}\n`,
      `Using the component web in production of ${projectName}, at ${service.url.origin}\n`,
    ]);
    expect(readdirSync(user.folder)).toEqual([]);
  });

  it("passes on all arguments after --, also those that have a meaning for longshore", async () => {
    const args = ["--profile", "x", "-e", "--help", "--", "a b", "$A", ""];
    const { stdout, status } = await run(["--", process.execPath, "-e", PRINT, "--", ...args]);
    expect(JSON.parse(stdout).args).toEqual(args);
    expect(status).toBe(0);
  });

  it("passes on stdin and the exit code", async () => {
    const { stdout, status } = await run(["--", "sh", "-c", "cat; exit 42"], { input: "typed" });
    expect([stdout, status]).toEqual(["typed", 42]);
    const killed = await run(["--", "sh", "-c", "kill -KILL $$"]);
    expect(killed.status).toBe(128 + constants.signals.SIGKILL);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("passes on %s, and waits", async (signal) => {
    const [command, args] = cliCommand(["run", "-e", environmentId, "--"]);
    const script = `trap 'echo got it; exit 7' ${signal.slice(3)}; echo ready; while :; do sleep 0.1; done`;
    const child = spawn(command, [...args, "sh", "-c", script], {
      cwd: user.folder,
      env: user.environment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output = text(child.stdout);
    await once(child.stdout, "data");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([7, null]);
    expect(await output).toMatch(/got it\n$/);
  });

  it.each([
    [["--", "there-is-no-such-command"], 127, "There is no command there-is-no-such-command."],
    [["--", "/"], 126, "/ cannot be executed: EACCES."],
    [["ls"], 1, "Write the command after --"],
    [[], 1, "Write the command after --"],
    [["--"], 1, "Write the command after --"],
  ])("says what is wrong with %j", async (args, exitCode, message) => {
    const { stdout, stderr, status } = await run(args);
    expect(stderr).toContain(message);
    expect(withoutPlace(stderr).split("\n")).toHaveLength(2);
    expect([stdout, status]).toEqual(["", exitCode]);
  });

  it("refuses variables that change how programs run, unless they are allowed", async () => {
    await put({ NODE_OPTIONS: "--secret-canary", PATH: "/nowhere", A: "1" });
    const { stdout, stderr, status } = await run(["--", process.execPath, "-e", PRINT]);
    expect(withoutPlace(stderr)).toBe(
      "These variables could change how programs run: NODE_OPTIONS, PATH. Rename them, or add " +
        "--allow-variable NODE_OPTIONS --allow-variable PATH\n",
    );
    expect([stdout, status]).toEqual(["", 1]);
    const options = ["--allow-variable", "NODE_OPTIONS", "--allow-variable", "PATH"];
    const allowed = await run([...options, "--", "/bin/sh", "-c", 'echo "$PATH $NODE_OPTIONS"']);
    expect(allowed.stdout).toBe("/nowhere --secret-canary\n");
  });

  it("names the variables that are larger than the system allows, and the line ending of a script", async () => {
    const names = Array.from({ length: 31 }, (_, at) => `V${at}`);
    await put(Object.fromEntries(names.map((name) => [name, "canary".repeat(5_450)])));
    const file = join(user.folder, "crlf.sh");
    writeFileSync(file, "#!/bin/sh\r\necho\r\n", { mode: 0o755 });
    const texts = Array.from({ length: 11 }, () => "x".repeat(110_000));
    const tooLarge = await run(["--", "true", ...texts]);
    expect(tooLarge.stderr).toContain(
      "Shorten the largest: all arguments (1,210,000 bytes), V0 (32,700 bytes)",
    );
    expect(tooLarge.stderr).not.toContain("canary");
    const withLineEnds = await run(["--", file]);
    expect(withLineEnds.stderr).toContain("The first line of its file ends with CRLF");
    expect([tooLarge.status, withLineEnds.status]).toEqual([126, 126]);
  });
});

describe("longshore runner", () => {
  const runner = (...args: string[]) => user.runProcess(["runner", ...args]);

  it("reads its options itself", async () => {
    const help = await runner("--help");
    expect(help.stdout).toMatch(/^Usage: longshore runner --url URL/);
    expect([help.stderr, help.status]).toEqual(["", 0]);
    const unknown = await runner("--profile", "x");
    expect(unknown.stderr).toContain("Unknown option '--profile'");
    expect([unknown.stdout, unknown.status]).toEqual(["", 2]);
  });
});
