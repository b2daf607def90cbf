import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { CliUser } from "../support/cli.ts";
import { LocalIssuer } from "../support/issuer.ts";
import { TestProject } from "../support/project.ts";
import { ApiClient, type Parsed, useService } from "../support/service.ts";

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let client: ApiClient;
let user: CliUser;
let project: TestProject;
let stagingId: string;

beforeEach(async () => {
  project = await TestProject.make(service);
  client = new ApiClient(service.url, project.key);
  const environments = `/v1/projects/${project.projectId}/environments`;
  stagingId = (await client.call("POST", environments, { name: "staging" })).id;
  user = CliUser.of(client);
});

const protect = (...args: string[]) =>
  user.run(["protect", "production", "-p", project.projectName, ...args]);

const path = () => `/v1/environments/${project.environmentId}/protection`;

/** Without what the service says of itself. */
async function read(): Promise<Parsed> {
  const {
    environment_id: _,
    updated_at: __,
    approvers_verified_by: ___,
    ...rules
  } = await client.call("GET", path());
  return rules;
}

const CONTRIBUTORS = { role: "contributor" };
const OWNERS = { role: "owner" };
const OPEN = { access: { deploy: CONTRIBUTORS, configure: CONTRIBUTORS } };

describe("longshore protect", () => {
  it("sets the rules of its options, and says what has changed", async () => {
    const { stdout, stderr, status } = await protect(
      ...["--approvals", "1", "--by", "owners", "--from", "staging:1h"],
      ...["--window", "mon-thu 09:00-16:00 Europe/Berlin", "--exempt", "rollback"],
    );
    expect([stderr, status]).toEqual(["", 0]);
    expect(await read()).toEqual({
      access: { deploy: CONTRIBUTORS, configure: OWNERS },
      approvals: {
        required: 1,
        approvers: OWNERS,
        prevent_self_approval: true,
        expires_after_seconds: 86_400,
      },
      from: { environment_ids: [stagingId], minimum_seconds: 3_600 },
      windows: {
        time_zone: "Europe/Berlin",
        weekly: [
          { days: ["monday", "tuesday", "wednesday", "thursday"], from: "09:00", to: "16:00" },
        ],
      },
      exempt: ["rollback"],
    });
    expect(stdout).toMatch(
      /^\+ Approvals: Needs 1 approval from a project owner or an organization admin\./m,
    );
    expect(stdout).toMatch(
      /^\+ Must have run in: .* succeeded in staging and run there for 1 hour\.$/m,
    );
    expect(stdout).toMatch(/^\+ Times: .* 09:00 to 16:00 \(Europe\/Berlin\)\.$/m);
    expect(stdout).toMatch(/^\+ Exempt: Rollbacks skip /m);
    expect(stdout).not.toMatch(/[{}[\]]|Deploy:/);
  });

  it("takes members, sources of two hosts and a trust, several times, and each limit of approvals", async () => {
    const { account, membership } = await client.call("GET", "/v1/whoami");
    const issuer = await LocalIssuer.start();
    onTestFinished(() => issuer.stop());
    const trust = await client.call("POST", `/v1/orgs/${service.organizationId}/trusts`, {
      name: `ci:${crypto.randomUUID()}`,
      issuer: issuer.url,
      audience: "longshore",
      conditions: { repository_id: "1" },
      membership_id: membership.id,
    });
    const { stderr, status } = await protect(
      ...["--deploy", membership.id, "--configure", "owners", "--group", "eu"],
      ...["--approvals", "2", "--by", account.name, "--self-approval", "--expires", "90m"],
      ...["--from", "staging", "--same-configuration", "--except", "/replicas"],
      ...["--source", "github:1296269@refs/heads/main", "--source", "gitlab:42@refs/tags/v*"],
      ...["--source", `${trust.name}:7@refs/heads/release/*`, "--protected-refs"],
      ...["--window", "sat-mon,wed 22:00-02:00 Europe/Berlin"],
      ...["--window", "Friday 08:00-09:30 Europe/Berlin", "--exempt", "rollback", "restart"],
    );
    expect([stderr, status]).toEqual(["", 0]);
    const members = { membership_ids: [membership.id] };
    expect(await read()).toEqual({
      access: { deploy: members, configure: OWNERS },
      approvals: {
        required: 2,
        approvers: members,
        prevent_self_approval: false,
        expires_after_seconds: 5_400,
      },
      from: {
        environment_ids: [stagingId],
        minimum_seconds: 0,
        same_configuration: { except: ["/replicas"] },
      },
      sources: [
        {
          issuer: "https://token.actions.githubusercontent.com",
          ...{ repository_id: "1296269", ref: "refs/heads/main", protected_ref: true },
        },
        {
          issuer: "https://gitlab.com",
          ...{ repository_id: "42", ref: "refs/tags/v*", protected_ref: true },
        },
        {
          trust_ids: [trust.id],
          ...{ repository_id: "7", ref: "refs/heads/release/*", protected_ref: true },
        },
      ],
      windows: {
        time_zone: "Europe/Berlin",
        weekly: [
          { days: ["monday", "wednesday", "saturday", "sunday"], from: "22:00", to: "02:00" },
          { days: ["friday"], from: "08:00", to: "09:30" },
        ],
      },
      exempt: ["rollback", "restart"],
      group: "eu",
    });
    const shown = await protect("--show");
    expect(shown.stdout).toMatch(new RegExp(`^Deploy +${account.name}$`, "m"));
    expect(shown.stdout).toMatch(/^Must have run in .* \(except \/replicas\) .* in staging\.$/m);
    const json = await protect("--show", "--json");
    expect(JSON.parse(json.stdout)).toEqual(await client.call("GET", path()));
  });

  it("replaces and removes rules only after a question, and leaves none that it does not name", async () => {
    expect((await protect("--approvals", "1", "--group", "eu")).status).toBe(0);
    const before = await read();
    const unsure = await protect("--exempt", "rollback");
    expect([unsure.stdout, unsure.stderr, unsure.status]).toEqual([
      "",
      "Replace the rules of production: access, approvals, group? Add --yes to do so without a terminal.\n",
      1,
    ]);
    expect(await read()).toEqual(before);
    const replaced = await protect("--exempt", "rollback", "--yes");
    expect(await read()).toEqual({ ...OPEN, exempt: ["rollback"] });
    expect(replaced.stdout).toMatch(
      /^- Approvals: Needs 1 approval .*\n- One at a time: .* eu\.\n\+ /m,
    );
    const same = await protect("--exempt", "rollback", "--yes");
    expect([same.stdout, same.stderr]).toEqual(["", "The rules are the same as before.\n"]);
    expect((await protect("--remove")).stderr).toMatch(/^Remove the rules of production: exempt\?/);
    expect(await read()).toEqual({ ...OPEN, exempt: ["rollback"] });
    const removed = await protect("--remove", "--yes");
    expect([removed.status, removed.stdout]).toEqual([
      0,
      expect.stringMatching(/^- Exempt: .*\n$/),
    ]);
    expect(await read()).toEqual(OPEN);
  });

  it("writes nothing over a change that somebody has made meanwhile", async () => {
    await protect("--group", "eu");
    const asked = await user.runAsked(["protect", project.environmentId, "--approvals", "1"], {
      text: "Replace the rules of production: group?",
      answer: async () => {
        await client.call("PUT", path(), { group: "us" });
        return "y";
      },
    });
    expect(asked.status).toBe(1);
    expect(asked.stderr).toContain("Somebody has changed the rules of production since.");
    expect(await read()).toEqual({ ...OPEN, group: "us" });
  });

  it.each([
    [[], "Name either rules, such as --approvals 1, or --show, or --remove."],
    [["--show", "--remove"], "Name either rules"],
    [["--remove", "--approvals", "1"], "Name either rules"],
    [["--by", "owners"], "--by needs --approvals."],
    [["--self-approval"], "--self-approval needs --approvals."],
    [["--from", "staging", "--except", "/a"], "--except needs --same-configuration."],
    [["--approvals", "1", "--by", "owners", "--by", "Me"], "--by takes either owners or contrib"],
    [["--approvals", "1", "--by", "Nobody"], 'There is no member "Nobody".'],
    [["--approvals", "many"], "It must be a whole number."],
    [["--approvals", "7"], "(bad_input, status 400"],
    [["--from", "nowhere:1h"], 'There is no environment "nowhere".'],
    [["--from", "staging:1h", "--from", "production"], "--from takes one duration."],
    [["--window", "mon-thu 9:00-16:00 Europe/Berlin"], 'Write --window as "mon-thu 09:00-16:00'],
    [["--window", "mon-tue-wed 09:00-16:00 Europe/Berlin"], "Write --window as"],
    [["--window", "someday 09:00-16:00 Europe/Berlin"], "Write --window as"],
    [["--window", "mon 09:00-16:00 Europe/Atlantis"], "(bad_input, status 400"],
    [
      ["--window", "mon 09:00-16:00 Europe/Berlin", "--window", "tue 09:00-16:00 UTC"],
      "--window takes one time zone. Write the same after each, such as Europe/Berlin.",
    ],
    [["--source", "github:acme/shop@main"], "Write --source as github:1296269@refs/heads/main"],
    [["--source", "none:1@refs/heads/main"], 'There is no trust "none".'],
    [["--exempt", "everything"], "Allowed choices are rollback, restart."],
  ])("refuses %j", async (args, message) => {
    const { stdout, stderr, status } = await protect(...args);
    expect(stderr).toContain(message);
    expect([stdout, status]).toEqual(["", 1]);
    expect(await read()).toEqual(OPEN);
  });
});
