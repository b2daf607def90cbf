import { describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { useService } from "../support/service.ts";

const service = useService();

async function prepare(configuration: object = {}) {
  const environment = await DeployedEnvironment.make(service, configuration);
  return { environment, user: await CliUser.in(environment, service.url) };
}

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
    const user = await CliUser.in(environment, new URL(proxy.url));
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
