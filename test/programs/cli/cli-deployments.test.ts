import { describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { useService } from "../support/service.ts";

const service = useService();

async function prepare(configuration: object = {}) {
  const environment = await DeployedEnvironment.make(service, configuration);
  return { environment, user: await CliUser.in(environment, service.url) };
}

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
