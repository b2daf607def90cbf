import { describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { invite } from "../support/invited-member.ts";
import { TestProject } from "../support/project.ts";
import { type ApiClient, useService } from "../support/service.ts";

const service = useService();

/** An environment with these rules, and a user who owns its project. */
async function prepare(rules: object) {
  const project = await TestProject.make(service);
  const { projectId, environmentId } = project;
  await service.owner.call("PUT", `/v1/environments/${environmentId}/protection`, rules);
  const user = CliUser.of({ url: service.url, key: project.key });
  await user.link({ project: projectId, environment: "production" });
  return { project, user };
}

const approvals = (required: number) => ({
  approvals: { required, approvers: { role: "owner" }, prevent_self_approval: false },
});

describe("longshore approve", () => {
  it("shows the difference, approves it alone, and lists who has decided", async () => {
    const { project, user } = await prepare(approvals(2));
    const patch = [{ op: "add", path: "/replicas", value: 3 }];
    const git = {
      ...{ provider: "github", installation_id: "1", repo_id: "2", owner: "acme", repo: "shop" },
      ref: "refs/heads/main",
      commit: {
        ...{ author: {}, committer: {} },
        sha: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
        message: "Sell more\n\nMuch",
      },
    };
    const source = { git, registry: { image: "ghcr.io/acme/shop:7" } };
    const { id } = await project.deploy({ patch, source });
    const unsure = await user.run(["approve"]);
    expect(unsure.status).toBe(1);
    expect(unsure.stdout.split("\n")).toEqual([
      `deployment   ${id}`,
      `project      ${project.projectName}`,
      "environment  production",
      "source       acme/shop@main 6dcb09b, ghcr.io/acme/shop:7",
      "message      Sell more",
      "stacks       first, second",
      expect.stringMatching(/^created by {3}\w/),
      expect.stringMatching(/^created {6}2\d{3}-/),
      "reason       -",
      `link         ${service.url.origin}/console/deployments/${id}/approve`,
      "",
      "+ /replicas 3",
      "",
      "",
    ]);
    expect(unsure.stderr).toContain("Add --yes");
    const nobody = await user.run(["approvals", "-e", "production"]);
    expect(nobody.stderr).toContain("Nobody has approved or rejected it.");
    const { stdout, status } = await user.run([
      "approve",
      "--comment",
      "Read it",
      "--yes",
      "--json",
    ]);
    expect([status, JSON.parse(stdout.slice(stdout.indexOf("{")))]).toEqual([
      0,
      expect.objectContaining({ deployment_id: id, decision: "approve", comment: "Read it" }),
    ]);
    const listed = await user.run(["approvals", String(id)]);
    expect(listed.stdout).toMatch(/approve +Read it/);
    expect(listed.stderr).toMatch(/Waiting: .*1 of 2 approvals/);
  });

  it("approves nothing if the changes do not apply any more", async () => {
    const { project, user } = await prepare(approvals(1));
    const { environmentId } = project;
    const replace = (configuration: object) =>
      service.owner.call("PUT", `/v1/environments/${environmentId}`, {
        name: "production",
        configuration,
      });
    await replace({ replicas: 1 });
    const { id } = await project.deploy({ patch: [{ op: "remove", path: "/replicas" }] });
    await replace({});
    const { status, stdout, stderr } = await user.run(["approve", "--yes"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`Nothing was approved. Run: longshore reject ${id}`);
    const rejected = await user.run(["reject"]);
    expect([rejected.status, rejected.stdout]).toEqual([
      0,
      expect.stringMatching(`^deployment +${id}\nproject +${project.projectName}\n`),
    ]);
  });

  it("says if there is nothing to approve", async () => {
    const { user } = await prepare(approvals(1));
    const { status, stderr } = await user.run(["approve", "--yes"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("has no queued deployment")]);
  });
});

describe("longshore approve of what waits for others", () => {
  /** A client of somebody with this role in the project. */
  async function prepareMember(role: "contributor" | "owner", rules: object) {
    const { project, user } = await prepare({ approvals: rules });
    const { projectId } = project;
    const member = await invite(service, "Mona Maker", { projectId, role });
    const deploy = async (by: ApiClient) => {
      const path = `/v1/environments/${project.environmentId}/deployments`;
      return String((await by.call("POST", path, {})).id);
    };
    const approve = async (key = member.client.key) => {
      const changes = { LONGSHORE_API_KEY: key };
      const { status, stdout, stderr } = await user.run(["approve", "-e", "production", "--yes"], {
        changes,
      });
      expect([status, stdout]).toEqual([1, ""]);
      return stderr;
    };
    return { project, member, deploy, approve };
  }

  it("says that nobody approves their own, and whom to ask, before it shows anything", async () => {
    const rules = { required: 1, approvers: { role: "owner" } };
    const { project, member, deploy, approve } = await prepareMember("owner", rules);
    const id = await deploy(member.client);
    expect(await approve()).toBe(
      `Deployment ${id} waits for approval, but you can't approve your own deployment. ` +
        "Ask a project owner or an organization admin.\n",
    );
    expect((await project.read(id)).status).toBe("queued");
  });

  it("names the approvers to those who are none", async () => {
    const asked = { required: 1, approvers: { role: "owner" } };
    const { project, deploy, approve } = await prepareMember("contributor", asked);
    const { projectId, environmentId } = project;
    const id = await deploy(service.owner);
    const refused = `Deployment ${id} waits for approval, but you can't approve it. Ask`;
    expect(await approve()).toBe(`${refused} a project owner or an organization admin.\n`);
    const olga = await invite(service, "Olga Owner", { projectId, role: "owner" });
    const rules = { required: 1, approvers: { membership_ids: [olga.membershipId] } };
    const path = `/v1/environments/${environmentId}/protection`;
    await service.owner.call("PUT", path, { approvals: rules });
    expect(await approve()).toBe(`${refused} Olga Owner.\n`);
  });

  it("leads from a narrow key to the console", async () => {
    const rules = { required: 1, approvers: { role: "owner" } };
    const { member, deploy, approve } = await prepareMember("owner", rules);
    const id = await deploy(member.client);
    const keys = `/v1/orgs/${service.organizationId}/api-keys`;
    const scopes = ["projects:read", "environments:read", "deployments:write"];
    const { key } = await service.owner.call("POST", keys, { name: "narrow", scopes });
    expect(await approve(key)).toBe(
      `Deployment ${id} waits for approval, but this API key can't approve. ` +
        `Sign in and approve it there: ${service.url.origin}/console/deployments/${id}/approve\n`,
    );
  });
});

describe("longshore approvals without a deployment", () => {
  it("lists what waits for the caller's approval in all projects, and nothing that does not", async () => {
    const [one, other, free] = [
      await prepare(approvals(1)),
      await prepare(approvals(2)),
      await prepare({}),
    ];
    const source = { registry: { image: "ghcr.io/acme/shop:7" } };
    const { id } = await one.project.deploy({ source });
    const second = await other.project.deploy();
    await free.project.deploy();
    const listed = (await free.user.run(["approvals", "-q"])).stdout.split("\n");
    expect(listed.filter((each) => each === id || each === second["id"])).toHaveLength(2);
    const { stdout } = await free.user.run(["approvals"]);
    expect(stdout).toMatch(
      new RegExp(
        `^${id} +${one.project.projectName} +production +ghcr.io/acme/shop:7 +0 of 1 approval`,
        "m",
      ),
    );
    expect(stdout).not.toContain(free.project.projectName);
    expect((await one.user.run(["approve", String(id), "--yes"])).status).toBe(0);
    expect((await free.user.run(["approvals", "-q"])).stdout).not.toContain(id);
  });
});

describe("longshore deploy --dry-run", () => {
  it("prints what would change and what it would wait for, and creates nothing", async () => {
    const { project, user } = await prepare(approvals(2));
    const deployment = { patch: [{ op: "add", path: "/region", value: "eu\u202e" }] };
    const { id } = await project.deploy(deployment);
    const dryRun = ["deploy", "--image", "ghcr.io/acme/shop:2", "--set", "replicas=3", "--dry-run"];
    const { stdout, stderr, status } = await user.run(dryRun);
    expect([status, stderr]).toEqual([0, "Nothing was created.\n"]);
    expect(stdout.split("\n")).toEqual([
      `project      ${project.projectName}`,
      "environment  production",
      "source       ghcr.io/acme/shop:2",
      "stacks       first, second",
      `supersedes   ${id}`,
      expect.stringMatching(/^waits for {4}.*0 of 2 approvals/),
      "",
      "+ /replicas 3",
      "",
    ]);
    const json = await user.run([...dryRun, "--json", "--queue", "fifo"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      superseded_ids: [],
      waiting_for: [{ code: "approvals" }, { code: "deployment" }],
    });
    expect((await user.run(["deployments", "ls", "-q"])).stdout).toBe(`${id}\n`);
  });

  it("exits with 1 if the deployment would be refused, and prints what is known", async () => {
    const { user } = await prepare({});
    const patch = ["deploy", "--dry-run", "--patch", "-"];
    const input = '[{"op":"remove","path":"/missing"}]';
    const refused = await user.run(patch, { input });
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain("environment  production\n");
    expect(refused.stderr).toMatch(/^It would be refused: .* \(\w+\)\n$/);
    for (const option of ["--wait", "--quiet"]) {
      const { stderr, status } = await user.run(["deploy", "--dry-run", option]);
      expect([status, stderr]).toEqual([1, expect.stringContaining("omit --wait and --quiet")]);
    }
    expect((await user.run(["deployments", "ls", "-q"])).stdout).toBe("");
  });
});

describe("longshore reject", () => {
  it("ends the deployment, and says why", async () => {
    const { project, user } = await prepare(approvals(1));
    const [kept, rejected] = [
      await project.deploy({ queue: "fifo" }),
      await project.deploy({ queue: "fifo" }),
    ];
    expect((await user.run(["reject", "--comment", "Not today"])).status).toBe(0);
    const read = async (id: unknown) => (await project.read(String(id))).status;
    expect([await read(kept["id"]), await read(rejected["id"])]).toEqual(["queued", "canceled"]);
  });
});

describe("longshore freeze and override", () => {
  it("stop the start of deployments of some environments, with a reason, until somebody overrides it", async () => {
    const { project, user } = await prepare({});
    const { id } = await project.deploy();
    const missing = await user.run(["freeze", "Sale", "--reason", "The busiest day"]);
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining("--until")]);
    const past = ["--from", "2020-01-01", "--until", "2099-12-01"];
    const frozen = await user.run([
      ...["freeze", "Sale", "--reason", "The busiest day", ...past],
      ...["-e", "production", "--json"],
    ]);
    expect(frozen.stderr).toBe("");
    const freeze = JSON.parse(frozen.stdout);
    expect(freeze).toMatchObject({ name: "Sale", environment_ids: [project.environmentId] });
    const shown = await user.run(["deployments", "show"]);
    expect(shown.stdout).toMatch(/waiting +.*The busiest day/);
    const wrong = await user.run(["override", "--reason", "x", "--condition", "nothing", "--yes"]);
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("freeze")]);
    const reason = "Repairs the checkout";
    const args = ["override", "--reason", reason, "--condition", "freeze", "--yes", "--json"];
    const overridden = await user.run(args);
    expect(JSON.parse(overridden.stdout)).toMatchObject({
      id,
      overridden: { conditions: ["freeze"], reason },
    });
    const again = await user.run(args.slice(0, -1));
    expect(again.stdout).toMatch(/^environment +production\n/m);
    expect(again.stdout).toMatch(new RegExp(`^override +${reason}$`, "m"));
    expect(again.stdout).not.toMatch(/[{}[\]]/);
    expect((await user.run(["deployments", "show"])).stdout).not.toContain("The busiest day");
  });

  it("list and end freezes of a project and of the organization", async () => {
    const { user } = await prepare({});
    const create = async (name: string, ...args: string[]) => {
      const until = ["--reason", "why", "--until", "2099-12-01", "--quiet"];
      return (await user.run(["freeze", name, ...until, ...args])).stdout.trim();
    };
    const [ofProject, ofAll] = [await create("one"), await create("all", "--organization")];
    const idsOf = async (...args: string[]) =>
      (await user.run(["freezes", "ls", "--quiet", ...args])).stdout.trim().split("\n");
    expect([await idsOf(), await idsOf("--organization")]).toEqual([[ofProject], [ofAll]]);
    const refused = await user.run([
      "freeze",
      "x",
      "--reason",
      "y",
      "--until",
      "2099-12-01",
      "--organization",
      "-e",
      "production",
    ]);
    expect(refused.stderr).toContain("leave out --environment");
    expect((await user.run(["freezes", "rm", ofAll])).status).toBe(1);
    const ended = await user.run(["freezes", "rm", ofAll, "--yes"]);
    expect([ended.status, ended.stderr]).toEqual([0, "The freeze all has ended.\n"]);
    expect(await idsOf("--organization")).toEqual([""]);
    expect(await idsOf()).toEqual([ofProject]);
  });

  it("end a freeze by its name, and none if several have it or none has", async () => {
    const { user, project } = await prepare({});
    const until = ["--reason", "why", "--until", "2099-12-01"];
    const create = async (name: string) =>
      (await user.run(["freeze", name, ...until, "--quiet"])).stdout.trim();
    const shown = await user.run(["freeze", "Sale", ...until, "-e", "production"]);
    expect(shown.stdout).toMatch(/^environments +production$/m);
    expect(shown.stdout).not.toContain(project.environmentId);
    const twins = [await create("twin"), await create("twin")];
    const idsOf = async () => (await user.run(["freezes", "ls", "-q"])).stdout.trim().split("\n");
    const ambiguous = await user.run(["freezes", "rm", "twin", "--yes"]);
    expect(ambiguous.status).toBe(1);
    for (const id of twins) expect(ambiguous.stderr).toContain(id);
    const missing = await user.run(["freezes", "rm", "Sale", "--organization", "--yes"]);
    expect([missing.status, missing.stderr]).toEqual([
      1,
      'There is no freeze "Sale". Run: longshore freezes ls\n',
    ]);
    expect(await idsOf()).toHaveLength(3);
    expect((await user.run(["freezes", "rm", "Sale", "--yes"])).stderr).toBe(
      "The freeze Sale has ended.\n",
    );
    expect(await idsOf()).toEqual(twins.toReversed());
  });
});
