import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeVariables } from "../../../packages/cli/src/deployments/changed-variables.ts";
import { CliUser, cliCommand } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { useService } from "../support/service.ts";

const SLOW = { timeout: 300_000 };
const POLLING = { interval: 50, timeout: 300_000 };

const service = useService();

/** A user whose link is the environment. */
async function userOf({ apiKey, projectId }: DeployedEnvironment, url = service.url) {
  const user = CliUser.of({ url, key: apiKey });
  await user.link({ project: projectId, environment: "staging" });
  return user;
}

async function prepare(configuration: object = {}) {
  const environment = await DeployedEnvironment.make(service, configuration);
  return { environment, user: await userOf(environment) };
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

describe("longshore deployments", () => {
  it("lists, filters and shows deployments, the patch as a diff", async () => {
    const { environment, user } = await prepare({ replicas: 1, beta: true });
    const first = await environment.deploy({
      source: { registry: { image: "ghcr.io/acme/shop:1" } },
    });
    await environment.run("failed");
    const second = await environment.deploy({
      patch: [
        { op: "replace", path: "/replicas", value: [3] },
        { op: "remove", path: "/beta" },
        { op: "add", path: "/region", value: "eu" },
      ],
    });
    const all = await user.run(["deployments", "ls", "--limit", "1"]);
    expect(all.stdout).toMatch(new RegExp(`^ID .*STATUS .*\n${second.id}  queued  -  .*\n$`));
    expect(all.stderr).toBe("There are more than 1: add --limit.\n");
    const failed = ["deployments", "ls", "--status", "failed", "canceled", "-q"];
    expect((await user.run(failed)).stdout).toBe(`${first.id}\n`);
    const shown = await user.run(["deployments", "show"]);
    expect(shown.stdout).toContain(`deployment   ${second.id}\nstatus       queued\n`);
    expect(shown.stdout).toMatch(/\nSTACK +STATUS .*\nweb +pending .*\nworker +pending /);
    const diff = ["- /replicas 1", "+ /replicas [3]", "- /beta true", '+ /region "eu"', ""];
    expect(shown.stdout.endsWith(`\n\n${diff.join("\n")}`)).toBe(true);
    const json = await user.run(["deployments", "show", first.id, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ id: first.id, status: "failed" });
    const named = await user.run(["deployments", "show", "newest"]);
    expect(named.stderr).toContain('"newest" is not the ID of a deployment.');
    expect(named.status).toBe(1);
  });

  it("marks the newest success alone, which is live, also among some of them", async () => {
    const { environment, user } = await prepare();
    const ids: string[] = [];
    for (const outcome of ["succeeded", "succeeded", "failed"] as const) {
      ids.unshift((await environment.deploy()).id);
      await environment.run(outcome);
    }
    const list = async (...options: string[]) => {
      const { stdout } = await user.run(["deployments", "ls", ...options]);
      return stdout
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((line) => line.split(/ {2,}/).slice(0, 2));
    };
    const [failed, live, before] = ids;
    const successes = [
      [live, "succeeded (live)"],
      [before, "succeeded"],
    ];
    expect(await list()).toEqual([[failed, "failed"], ...successes]);
    expect(await list("--status", "succeeded")).toEqual(successes);
    expect(await list("--limit", "1")).toEqual([[failed, "failed"]]);
  });

  it("lists and shows who has made each, why, and how long it took", async () => {
    const { environment, user } = await prepare();
    const first = await environment.deploy({ reason: "More\u202e traffic" });
    const started = await environment.start();
    await started.report(0, "succeeded");
    await started.complete("succeeded");
    await environment.deploy();
    const { stdout } = await user.run(["deployments", "redeploy", first.id, "--json"]);
    const second = JSON.parse(stdout);
    const { account } = JSON.parse((await user.run(["whoami", "--json"])).stdout);
    const table = (await user.run(["deployments", "ls"])).stdout.split("\n");
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
    const row = (start: string, end: string) =>
      expect.stringMatching(new RegExp(`^${start} +- +${account.name} +${end}$`));
    expect(table).toEqual([
      expect.stringMatching(/^ID +STATUS +SOURCE +WHO +WHY +CREATED +WAITED +TOOK$/),
      row(`${second.id} +queued`, `redeployment +${time} +- +-`),
      row("\\w{22} +superseded", `- +${time} +\\d+s +-`),
      row(`${first.id} +succeeded \\(live\\)`, `More\\\\u202e traffic +${time} +\\d+s +\\d+s`),
      "",
    ]);
    const shown = (await user.run(["deployments", "show", first.id])).stdout;
    expect(shown).toMatch(new RegExp(`^created by +${account.name}$`, "m"));
    expect(shown).toMatch(/^reason +More\\u202e traffic$/m);
    expect(shown).toMatch(/^waited +\d+s$/m);
    expect(shown).toMatch(/^took +\d+s$/m);
    expect(shown).toMatch(new RegExp(`^finished +${time}$`, "m"));
    expect(shown).toMatch(new RegExp(`^web +succeeded +${time} +\\d+s +-$`, "m"));
    const again = (await user.run(["deployments", "show", second.id])).stdout;
    expect(again).toMatch(new RegExp(`^trigger +redeployment of ${first.id}$`, "m"));
    expect(again).toMatch(new RegExp(`^link +http://.*/console/deployments/${second.id}$`, "m"));
    expect(again).not.toMatch(/^(reason|runner|took|waited|ended with)/m);
  });

  it("cancels the newest active deployment, or the one of the ID", async () => {
    const { environment, user } = await prepare();
    const { id } = await environment.deploy();
    const unsure = await user.run(["deployments", "cancel", "--wait"]);
    expect([unsure.stdout, unsure.stderr, unsure.status]).toEqual([
      "",
      `Cancel the deployment ${id}? Add --yes to do so without a terminal.\n`,
      1,
    ]);
    expect((await environment.list())[0]?.status).toBe("queued");
    const canceled = await user.run(["deployments", "cancel", "--wait", "--yes"]);
    expect([canceled.stderr, canceled.status]).toEqual([
      expect.stringContaining("The deployment is canceled.\n"),
      3,
    ]);
    const again = await user.run(["deployments", "cancel", id, "-q", "--yes"]);
    expect([again.stdout, again.status]).toEqual([`${id}\n`, 0]);
    const none = await user.run(["deployments", "cancel"]);
    expect(none.stderr).toContain("The environment staging has no deployment that could be cancel");
    expect(none.status).toBe(1);
    await environment.deploy();
    await environment.run("succeeded");
    const [ended] = await environment.list();
    const late = await user.run(["deployments", "cancel", String(ended?.id), "--yes"]);
    expect(late.stderr).toContain("The deployment has ended: it is succeeded.");
    expect(late.status).toBe(1);
  });

  it("rolls back to the last success while a newer deployment is queued", async () => {
    const { environment, user } = await prepare({ replicas: 1 });
    const { id } = await environment.deploy();
    await environment.run("succeeded");
    await environment.deploy();
    const dry = await user.run(["rollback", "--dry-run"]);
    expect(dry.stderr).toMatch(new RegExp(`^It would roll back to the deployment ${id} of .*\\n`));
    expect(dry.stdout).toMatch(/^stacks +web, worker$/m);
    expect([dry.status, (await environment.list()).length]).toEqual([0, 2]);
    const { stderr, status } = await user.run(["rollback", "--yes"]);
    expect(stderr).toContain(`Rolling back to the deployment ${id} of`);
    expect(status).toBe(0);
  });

  it("says before it redeploys which variables have changed since, if the key may read them", async () => {
    const { environment, user } = await prepare();
    await user.run(["vars", "set", "KEPT=canary-1", "LEVEL=canary-2", "GONE=canary-3", "--secret"]);
    const { id } = await environment.deploy();
    await environment.run("succeeded");
    await user.run(["vars", "set", "LEVEL=canary-4", "NEW=canary-5", "--secret"]);
    await user.run(["vars", "rm", "GONE", "--yes"]);
    const changed =
      "It uses the variables as they are now. Changed since that deployment: GONE, LEVEL, NEW.";
    const rollback = ["rollback", "--to", id];
    const unasked = await user.run(rollback);
    expect([unasked.status, unasked.stderr.split("\n")[0]]).toEqual([1, changed]);
    for (const command of [
      [...rollback, "--yes"],
      ["deployments", "redeploy", id, "--dry-run"],
      ["deployments", "redeploy", id],
    ]) {
      const { stdout, stderr, status } = await user.run(command);
      expect([status, stderr.split("\n")[0]]).toEqual([0, changed]);
      expect(stdout + stderr).not.toContain("canary");
    }
    const keys = `/v1/orgs/${service.organizationId}/api-keys`;
    for (const scopes of [["environments:read", "deployments:write"], ["deployments:write"]]) {
      const { key } = await service.owner.call("POST", keys, { name: "narrow", scopes });
      const redeploy = ["deployments", "redeploy", id];
      const { stderr, status } = await user.run(redeploy, { changes: { LONGSHORE_API_KEY: key } });
      expect([status, stderr.split("\n")[0]]).toEqual([
        0,
        "It uses the variables as they are now.",
      ]);
    }
  });

  it("redeploys, promotes to an environment by name, and rolls back to the last success", async () => {
    const { environment, user } = await prepare({ replicas: 1 });
    const none = await user.run(["rollback", "--yes"]);
    expect(none.stderr).toContain("has no successful deployment before its current one");
    const source = (tag: number) => ({ registry: { image: `ghcr.io/acme/shop:${tag}` } });
    const ids: string[] = [];
    for (const tag of [1, 2]) {
      ids.push((await environment.deploy({ source: source(tag) })).id);
      await environment.run("succeeded");
    }
    const [first = "", second = ""] = ids;
    const unasked = await user.run(["rollback"]);
    expect(unasked.stderr).toContain("Add --yes to do so without a terminal.");
    expect([unasked.status, (await environment.list()).length]).toEqual([1, 2]);
    const back = user.run(["rollback", "--yes", "--wait", "--json"]);
    await environment.run("failed");
    const rolledBack = await back;
    expect(rolledBack.stderr).toMatch(
      new RegExp(
        `^Rolling back to the deployment ${first} of .* \\(ghcr.io/acme/shop:1, 2 st`,
        "m",
      ),
    );
    expect(JSON.parse(rolledBack.stdout).data.source).toEqual(source(1));
    expect(rolledBack.status).toBe(2);
    // The failed rollback is the current one now.
    const again = await user.run(["rollback", "--yes"]);
    expect(again.stderr).toContain(`Rolling back to the deployment ${second} of`);
    const toFailed = (await environment.list()).find(({ status }) => status === "failed");
    const failed = await user.run(["rollback", "--to", String(toFailed?.id), "--yes"]);
    expect(failed.stderr).toContain("is failed. Roll back to one that has succeeded");
    const redeployed = await user.run(["deployments", "redeploy", first, "--json"]);
    expect(JSON.parse(redeployed.stdout).data.source).toEqual(source(1));
    expect(redeployed.stderr).toContain("as they are now: none has changed since that deployment.");
    const promote = ["deployments", "promote", second, "--json", "--to"];
    const dry = await user.run([...promote, "production", "--dry-run"]);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      source: source(2),
      waiting_for: [{ code: "pool" }],
    });
    const promoted = await user.run([...promote, "production"]);
    expect(JSON.parse(promoted.stdout)).toMatchObject({
      status: "queued",
      data: { source: source(2) },
    });
    expect(JSON.parse(promoted.stdout).environment_id).not.toBe(environment.id);
    const newest = await user.run(["deployments", "promote", "--to", "production", "--json"]);
    expect(JSON.parse(newest.stdout)).toMatchObject({
      from_deployment_id: second,
      data: { source: source(2) },
    });
    const there = ["deployments", "promote", "-e", "production", "--to", "staging"];
    expect((await user.run(there)).stderr).toBe(
      "The environment production has no successful deployment to promote.\n",
    );
    const some = ["production", "--stack", "web", "--reason", "Release 4"];
    const dryRun = await user.run([...promote, ...some, "--dry-run"]);
    const part = JSON.parse((await user.run([...promote, ...some])).stdout);
    expect(part).toMatchObject({ reason: "Release 4", stack_ids: [expect.any(String)] });
    expect(JSON.parse(dryRun.stdout).stack_ids).toEqual(part.stack_ids);
    const nowhere = await user.run([...promote, "production", "--stack", "worker"]);
    expect([nowhere.status, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('There is no stack "worker".'),
    ]);
    const unknown = await user.run([...promote, "preview"]);
    expect(unknown.stderr).toContain('There is no environment "preview".');
    expect(unknown.status).toBe(1);
  });
});

describe("longshore status", () => {
  it("prints the pipeline: what runs since when and by whom, health, and what waits", async () => {
    const { environment, user } = await prepare();
    const { client, projectId } = environment;
    const image = (tag: number) => ({ registry: { image: `ghcr.io/acme/shop:${tag}` } });
    await environment.deploy({ source: image(1) });
    const started = await environment.start();
    const url = "https://shop.example.com";
    await started.report(0, "succeeded", undefined, { url });
    await started.complete("succeeded");
    const failed = await environment.deploy({ source: image(2) });
    await environment.run("failed");
    const alarm = { state: "alarm", reason: "5 % of\u202e requests" } as const;
    await client.put("/v1/stacks/{stack_id}/alarms/{name}", {
      path: { stack_id: String(started.stackIds[1]), name: "5xx" },
      body: alarm,
    });
    await client.put("/v1/environments/{environment_id}/protection", {
      path: { environment_id: environment.id },
      body: { approvals: { required: 1, approvers: { role: "owner" } } },
    });
    const waiting = await environment.deploy({ source: image(3) });
    const account = JSON.parse((await user.run(["whoami", "--json"])).stdout).account.name;
    const read = async (...args: string[]) => {
      const { stdout, stderr, status } = await user.run(["status", ...args]);
      expect([stderr, status]).toEqual(["", 0]);
      const [head = "", table = "", remarks = ""] = stdout.split("\n\n");
      return { head, table: table.split("\n"), remarks: remarks.trimEnd().split("\n") };
    };
    const before = await read();
    expect(before.head).toMatch(/^url +http.*\nproject +shop-.*, connected\nlink +\//);
    const titles = "ENVIRONMENT +RUNS +SINCE +BY +HEALTH +DEPLOYMENT +WAITING +URL";
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
    const runs = `ghcr.io/acme/shop:1 +${time} +${account}`;
    const lines = {
      titles: expect.stringMatching(new RegExp(`^${titles}$`)),
      production: expect.stringMatching(/^ {2}production +- +- +- +- +- +0 +-$/),
      staging: expect.stringMatching(
        new RegExp(`^\\* staging +${runs} +alarm +queued +1 +${url}$`),
      ),
    };
    expect(before.table).toEqual([lines.titles, lines.production, lines.staging]);
    expect(before.remarks).toEqual([
      "staging  The alarm 5xx of worker: 5 % of\\u202e requests",
      `staging  The deployment ${waiting.id} waits for approvals.`,
      `staging  The deployment ${failed.id} has failed.`,
    ]);
    const { data } = await client.get("/v1/projects/{project_id}/environments", {
      path: { project_id: projectId },
    });
    const ids = data.map(({ id }) => id).toSorted((one) => (one === environment.id ? -1 : 1));
    await service.owner.call("PUT", `/v1/projects/${projectId}/environment-order`, {
      environment_ids: ids,
    });
    expect((await read()).table).toEqual([lines.titles, lines.staging, lines.production]);
    const one = await read("-e", "production");
    expect([one.table, one.remarks]).toEqual([
      [expect.stringMatching(/^ENV/), expect.stringMatching(/^ {2}production/), ""],
      [""],
    ]);
    const json = JSON.parse((await user.run(["status", "--json", "-e", "staging"])).stdout);
    expect(json.environments).toMatchObject([{ id: environment.id, queue: [{ id: waiting.id }] }]);
    const deploy = () => environment.deploy({ queue: "fifo" });
    for (let queued = 1; queued < 5; queued += 1) await deploy();
    const counted = (count: number) => new RegExp(` queued +${count} +${url}$`);
    expect((await read()).table[1]).toMatch(counted(5));
    await deploy();
    expect((await read()).table[1]).toMatch(counted(6));
  });
});

describe("longshore status of more environments than it prints", () => {
  it("says so", async (context) => {
    const { environment } = await prepare();
    const proxy = await ScriptedProxy.start(service.url);
    context.onTestFinished(() => proxy.close());
    const user = await userOf(environment, new URL(proxy.url));
    const pageAt = (at: number, count: number, isLast: boolean) => ({
      reply: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        data: Array.from({ length: count }, (_, index) => ({
          ...{ id: `${at}-${index}`, name: `copy-${at}-${index}`, alarms: [], queue: [] },
        })),
        ...(isLast ? { has_more: false } : { has_more: true, next_page: `after-${at}` }),
      }),
    });
    const read = async (pages: readonly number[]) => {
      proxy.reset("none", ...pages.map((count, at) => pageAt(at, count, at === pages.length - 1)));
      const { stdout, stderr } = await user.run(["status"]);
      return { rows: stdout.match(/^ {2}copy-/gm)?.length, stderr };
    };
    const full = Array.from({ length: 10 }, () => 100);
    expect(await read(full)).toEqual({ rows: 1_000, stderr: "" });
    expect(await read([...full, 1])).toEqual({
      rows: 1_000,
      stderr: expect.stringContaining("more than 1000 environments"),
    });
  });
});

describe("longshore logs", () => {
  it("prints what there is, of all stacks or of one", async () => {
    const { environment, user } = await prepare();
    const empty = await user.run(["logs"]);
    expect(empty.stderr).toContain("The environment staging has no deployments.");
    const { id } = await environment.deploy();
    const started = await environment.start();
    await started.print(0, "one\n");
    await started.print(1, "two\n");
    await started.print(0, "three");
    const all = await user.run(["logs"]);
    expect(all).toEqual({
      stdout: "web | one\nworker | two\nweb | three\n",
      stderr: "",
      status: 0,
    });
    const one = await user.run(["logs", id, "--stack", "worker"]);
    expect(one.stdout).toBe("worker | two\n");
    const json = await user.run(["logs", id, "--json"]);
    const texts = json.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).text);
    expect(texts).toEqual(["one\n", "two\n", "three"]);
    const unknown = await user.run(["logs", id, "--stack", "db"]);
    expect(unknown.stderr).toContain('There is no stack "db".');
    const early = await user.run(["logs", "--exit-status"]);
    expect(early.stderr).toContain("--exit-status and --timeout need --follow.");
  });

  it("follows to the end, with the outcome only as --exit-status", async () => {
    const { environment, user } = await prepare();
    const { id } = await environment.deploy();
    const follow = ["logs", "--follow", id];
    const both = [user.run(follow), user.runProcess([...follow, "--exit-status"])];
    await environment.run("failed", "one\n");
    const outcomes = await Promise.all(both);
    expect(outcomes.map((each) => each.stdout)).toEqual(Array(2).fill("web | one\n"));
    expect(outcomes.map((each) => each.status)).toEqual([0, 2]);
    expect(outcomes[0]?.stderr).toContain("The deployment is failed.\n");
  });
});
