import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeVariables } from "../../../packages/cli/src/deployments/changed-variables.ts";
import { CliUser, cliCommand } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { useService } from "../support/service.ts";

const SLOW = { timeout: 300_000 };
const POLLING = { interval: 50, timeout: 300_000 };

const service = useService();

async function prepare(configuration: object = {}) {
  const environment = await DeployedEnvironment.make(service, configuration);
  return { environment, user: await CliUser.in(environment, service.url) };
}

/** The command is running, and has no terminal. */
function begin(user: CliUser, args: readonly string[]) {
  const [command, all] = cliCommand(args);
  const child = spawn(command, all, {
    cwd: user.folder,
    env: user.environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
    });
  }
  const ended = once(child, "close").then(([status]) => ({ ...printed, status }));
  return { child, printed, ended };
}

describe("the sentence about variables", () => {
  it("counts the names that are too many to read", () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `V${at}`);
    expect(describeVariables(names(20))).toMatch(/: V0, .*, V19\.$/);
    expect(describeVariables(names(22))).toMatch(/, V19 and 2 more\.$/);
  });
});

describe("longshore deploy", () => {
  it("deploys to stacks by name, with a source, and the patch of --patch and --set", async () => {
    const { environment, user } = await prepare({ replicas: 1, hosts: ["a", "b"] });
    const patch = JSON.stringify([{ op: "add", path: "/limits", value: {} }]);
    const sets = ["replicas=3", "hosts.1=c", "limits.cpu=half", "feature\\.x/y.__proto__.on=true"];
    const { stdout, stderr, status } = await user.runProcess(
      [
        ...["deploy", "--image", "ghcr.io/acme/shop:1.4.2", "--patch", "-", "--json"],
        ...["--stack", "worker", "--reason", "More traffic", "--queue", "fifo"],
        ...sets.flatMap((set) => ["--set", set]),
      ],
      { input: patch },
    );
    expect([stderr, status]).toEqual(["", 0]);
    const created = JSON.parse(stdout);
    expect(created).toMatchObject({
      status: "queued",
      environment_id: environment.id,
      data: { source: { registry: { image: "ghcr.io/acme/shop:1.4.2" } } },
    });
    expect(created.stack_ids).toHaveLength(1);
    expect(created.data.patch).toEqual([
      { op: "add", path: "/limits", value: {} },
      { op: "replace", path: "/replicas", value: 3, old_value: 1 },
      { op: "replace", path: "/hosts/1", value: "c", old_value: "b" },
      { op: "add", path: "/limits/cpu", value: "half" },
      { op: "add", path: "/feature.x~1y", value: JSON.parse('{"__proto__":{"on":true}}') },
    ]);
    const quiet = await user.run(["deploy", "--quiet"]);
    expect(quiet.stdout).toMatch(/^[1-9A-HJ-NP-Za-km-z]{22}\n$/);
    const table = await user.run(["deploy"]);
    expect(table.stdout).toMatch(/^id {10}\w{22}\nstatus {6}queued\ncreated_at {2}2/);
  });

  it("follows the log without a terminal, and exits with the outcome", async () => {
    const { environment, user } = await prepare();
    const { ended } = begin(user, ["deploy", "--wait"]);
    const started = await environment.start();
    await started.print(0, "Crea");
    await started.print(1, "\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b[2Jend\r\n");
    await started.print(0, "ting\nno end");
    await started.report(1, "failed", "The bucket is taken");
    await started.complete("failed");
    const { stdout, stderr, status } = await ended;
    expect(stdout.split("\n").toSorted()).toEqual([
      "",
      "web | Creating",
      "web | no end",
      "worker | red \\x1b]0;title\\x07\\x1b[2Jend",
    ]);
    const page = `${service.url.origin}/console/deployments/${started.id}`;
    expect(stderr.split("\n")[0]).toBe(`Deployment ${started.id}: ${page}`);
    expect(stderr).toContain("The stack worker is failed.\n");
    expect(stderr.trimEnd().split("\n").slice(-2)).toEqual([
      "The stack worker: The bucket is taken",
      "The deployment is failed.",
    ]);
    expect(status).toBe(2);
  });

  it("says at its end why it was not deployed: each stack's own reason, or that of all once", async () => {
    const { environment, user } = await prepare();
    const endOf = async (
      end: (started: Awaited<ReturnType<typeof environment.start>>) => Promise<unknown>,
    ) => {
      const waiting = user.run(["deploy", "--wait"]);
      await end(await environment.start());
      const lines = (await waiting).stderr.trimEnd().split("\n");
      return [...lines.filter((line) => /^The (stack \w+|deployment): /.test(line)), lines.at(-1)];
    };
    expect(
      await endOf(async (started) => {
        await started.report(0, "failed", "The bucket\u202e is taken");
        await started.end({
          outcome: "failed",
          failure_reason: "stack_failed",
          message: "The bucket is taken",
        });
      }),
    ).toEqual([
      "The stack web: The bucket\\u202e is taken",
      'The stack worker: Not started because "web" failed.',
      "The deployment is failed.",
    ]);
    const shown = await user.run(["deployments", "show"]);
    expect(shown.stdout).toMatch(/\nworker +skipped .* Not started because "web" failed\.\n/);
    expect(
      await endOf(async (started) => {
        await started.report(1, "skipped", "Nothing has changed");
        await started.report(0, "failed", "The bucket is taken");
        await started.end({
          outcome: "failed",
          failure_reason: "stack_failed",
          message: "The bucket is taken",
        });
      }),
    ).toEqual([
      "The stack web: The bucket is taken",
      "The stack worker: Nothing has changed",
      "The deployment is failed.",
    ]);
    const message = "Refused variables: HOME.";
    expect(
      await endOf((started) =>
        started.end({ outcome: "failed", failure_reason: "variable_refused", message }),
      ),
    ).toEqual([`The deployment: ${message}`, "The deployment is failed."]);
    const refused = await user.run(["deployments", "show"]);
    expect(refused.stdout.split(message)).toHaveLength(2);
    expect(refused.stdout).toMatch(/^ended with +Refused variables: HOME\.$/m);
  });

  it("ends with the outputs of its stacks, which longshore outputs prints too", async () => {
    const { environment, user } = await prepare();
    const nothing = await user.run(["outputs"]);
    expect(nothing).toEqual({ stdout: "", stderr: "There are no outputs.\n", status: 0 });
    const { ended } = begin(user, ["deploy", "--wait"]);
    const started = await environment.start();
    await started.print(0, "one\n");
    const ofWeb = { "bucket-name": "\u202ea", url: "https://shop.example.com" };
    await started.report(0, "succeeded", undefined, ofWeb);
    await started.report(1, "succeeded", undefined, { queue: "jobs" });
    await started.complete("succeeded");
    const printed = await ended;
    expect([printed.stdout, printed.status]).toEqual([
      "web | one\nweb     url          https://shop.example.com\n" +
        "web     bucket-name  \\u202ea\nworker  queue        jobs\n",
      0,
    ]);
    const run = async (...args: string[]) => (await user.run(["outputs", ...args])).stdout;
    expect(await run()).toMatch(/^STACK +NAME +VALUE\nweb +url +https.*\n\w+ +.*\n\w+ +.*\n$/);
    expect(JSON.parse(await run("--json"))).toEqual({ web: ofWeb, worker: { queue: "jobs" } });
    expect(await run("worker")).toBe("NAME   VALUE\nqueue  jobs\n");
    expect(JSON.parse(await run("web", "--json"))).toEqual(ofWeb);
    const one = begin(user, ["deploy", "--wait", "--stack", "worker"]).ended;
    const second = await environment.start();
    await second.report(0, "succeeded", undefined, { queue: "jobs-2" });
    await second.complete("succeeded");
    expect((await one).stdout).toBe("queue  jobs-2\n");
    const failed = begin(user, ["deploy", "--wait"]).ended;
    await environment.run("failed", "three\n");
    expect((await failed).stdout).not.toContain("jobs");
  });

  it("exits with the outcome also if the readers of its output are gone", async () => {
    const { environment, user } = await prepare();
    const { child, ended } = begin(user, ["deploy", "--wait"]);
    child.stdout.destroy();
    child.stderr.destroy();
    const started = await environment.start();
    for (const line of ["one\n", "two\n", "three\n"]) await started.print(0, line);
    await started.complete("failed");
    expect((await ended).status).toBe(2);
  });

  it("prints only the final deployment on stdout with --json, and only its ID with --quiet", async () => {
    const { environment, user } = await prepare();
    const json = user.run(["deploy", "--wait", "--json"]);
    await environment.run("succeeded", "one\n");
    const first = await json;
    expect(JSON.parse(first.stdout)).toMatchObject({ status: "succeeded" });
    expect(first.stderr).toContain("web | one\n");
    expect(first.status).toBe(0);
    const quiet = user.run(["deploy", "--wait", "--quiet"]);
    await environment.run("canceled", "two\n");
    const second = await quiet;
    const [newest] = await environment.list();
    expect(second).toEqual({ stdout: `${newest?.id}\n`, stderr: "", status: 3 });
  });

  it("exits with 5 when the deployment has not ended in time, and leaves it running", async () => {
    const { environment, user } = await prepare();
    const { stderr, status } = await user.runProcess(["deploy", "--wait", "--timeout", "1500ms"]);
    const [deployment] = await environment.list();
    expect(stderr).toContain(
      `The deployment ${deployment?.id} has not ended within 1s: it is queued, and continues. Run: longshore logs --follow ${deployment?.id}\n`,
    );
    expect([status, deployment?.status]).toEqual([5, "queued"]);
  });

  it("says what a deployment waits for: at once, live when it changes, and in its details", async () => {
    const { environment, user } = await prepare();
    const none = expect.stringMatching(
      /^Waiting: No runner of the pool "[^"]+" has asked for work in the last 5 minutes: start one\.$/,
    );
    const first = await user.run(["deploy", "--queue", "fifo"]);
    expect(first.stderr.trimEnd()).toEqual(none);
    const [oldest] = await environment.list();
    const after = `It starts after the deployment ${oldest?.id} of its environment has ended.`;
    const { printed, ended } = begin(user, ["deploy", "--wait", "--queue", "fifo"]);
    const waits = () => printed.stderr.split("\n").filter((line) => line.startsWith("Waiting: "));
    await vi.waitUntil(() => waits().length >= 2, POLLING);
    expect((await user.run(["deployments", "show"])).stdout).toContain(`waiting      ${after}\n`);
    await environment.run("succeeded");
    const next = expect.stringMatching(
      /^Waiting: A runner of the pool "[^"]+" takes it once its pool has no older deployment waiting\.$/,
    );
    await vi.waitUntil(() => waits().length >= 3, POLLING);
    await environment.run("succeeded");
    expect((await ended).status).toBe(0);
    expect(waits()).toEqual([`Waiting: ${after}`, none, next]);
    const json = await user.run(["deploy", "--json"]);
    expect([JSON.parse(json.stdout).waiting_for[0].code, json.stderr]).toEqual(["runner", ""]);
  });

  it("leaves with 130 on Ctrl-C without a terminal, and says how to cancel", async () => {
    const { environment, user } = await prepare();
    const { child, printed, ended } = begin(user, ["deploy", "--wait"]);
    const started = await environment.start();
    await started.print(0, "one\n");
    await expect.poll(() => printed.stdout, SLOW).toBe("web | one\n");
    child.kill("SIGINT");
    const { stderr, status } = await ended;
    expect(stderr).toContain(`longshore deployments cancel ${started.id}\n`);
    expect(status).toBe(130);
    expect((await environment.read(started.id)).status).toBe("in_progress");
  });

  it.each([
    [["--set", "replicas"], "Write --set as path=value"],
    [["--stack", "db"], 'There is no stack "db". Run: longshore stacks ls'],
    [["--patch", "missing.json"], "Cannot read missing.json: ENOENT"],
    [["--patch", "-"], "stdin is not JSON"],
    [["--patch", "object.json"], "--patch needs a JSON Patch"],
    [["--source", "-", "--patch", "-"], "Only one of --source and --patch can read stdin."],
    [["--source", "object.json", "--image", "a"], "--source has an image: omit --image."],
    [["--wait", "--timeout", "10 minutes"], '"10 minutes" is not a duration'],
    [["--timeout", "10m"], "--timeout needs --wait."],
    [["--queue", "lifo"], "argument 'lifo' is invalid. Allowed choices are supersede, fifo."],
    [["-e", "preview"], 'There is no environment "preview"'],
  ])("refuses %j before it deploys", async (args, message) => {
    const { stdout, stderr, status } = await refusing.user.run(["deploy", ...args], {
      input: "[{]",
    });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
    expect([stdout, status]).toEqual(["", 1]);
    expect(await refusing.environment.list()).toEqual([]);
  });

  let refusing: Awaited<ReturnType<typeof prepare>>;
  beforeAll(async () => {
    const environment = await DeployedEnvironment.make(service, { replicas: 1, hosts: ["a"] });
    const user = new CliUser({
      LONGSHORE_URL: service.url.origin,
      LONGSHORE_API_KEY: environment.apiKey,
    });
    await user.link({ project: environment.projectId, environment: "staging" });
    writeFileSync(join(user.folder, "object.json"), '{"registry":{"image":"b"}}');
    refusing = { environment, user };
  });
  afterAll(() => refusing.user.remove());

  it("needs an environment", async () => {
    const { stderr, status } = await CliUser.of(service.owner).run(["deploy"]);
    expect(stderr).toContain("Name the environment with --environment, or link this folder");
    expect(status).toBe(1);
  });
});
