import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readTime, toLocalTime } from "../../../packages/cli/src/local-time.ts";
import { CliUser } from "../support/cli.ts";
import { LocalIssuer } from "../support/issuer.ts";
import { listen } from "../support/listen.ts";
import { type ApiClient, newClient, type Parsed, useService } from "../support/service.ts";

const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let client: ApiClient;
let user: CliUser;
let project: Parsed;

beforeEach(async () => {
  client = await newClient(service);
  project = await client.call("POST", "/v1/projects", { name: crypto.randomUUID() });
  user = CliUser.of(client);
});

async function createVariable(name: string): Promise<Parsed> {
  const path = `/v1/environments/${project.default_environment_id}/variables`;
  return client.call("POST", path, { name, storage_method: "secret", value: "canary" });
}

describe("longshore audit", () => {
  it("lists who did what, and filters", async () => {
    const variable = await createVariable("FIRST");
    await createVariable("SECOND");
    await client.call("GET", `/v1/variables/${variable.id}/value`);
    const args = ["audit", "-p", project.id, "--action", "variable.revealed"];
    const shown = await user.runProcess(args);
    expect([shown.stderr, shown.status]).toEqual(["", 0]);
    expect(shown.stdout).toMatch(
      new RegExp(`^TIME .*\n${TIME} +variable\\.revealed +success +variable FIRST +api_key `),
    );
    expect(shown.stdout.trim().split("\n")).toHaveLength(2);
    const json = await user.run(["audit", "--target", variable.id, "--json"]);
    const records: Parsed[] = JSON.parse(json.stdout);
    expect(records.map(({ action }) => action)).toEqual(["variable.revealed", "variable.created"]);
    expect(records[0].created_at).toMatch(/Z$/);
    const quiet = await user.run(["audit", "--target", variable.id, "-q"]);
    expect(quiet.stdout).toBe(records.map(({ id }) => `${id}\n`).join(""));
    const { actor } = records[0];
    const count = async (...args: string[]) => {
      const { stdout } = await user.run(["audit", "--target", variable.id, "--json", ...args]);
      return JSON.parse(stdout).length;
    };
    const byName = await user.run(["audit", "-p", project.id, "--target", "FIRST", "--json"]);
    expect(JSON.parse(byName.stdout).map(({ id }: Parsed) => id)).toEqual(
      records.map(({ id }) => id),
    );
    expect(await count("--actor", actor.membership_id)).toBe(2);
    expect(await count("--actor", variable.id)).toBe(0);
    expect(await count("--from", "2999-01-01")).toBe(0);
    expect(await count("--to", "2999-01-01 10:00", "--from", "2001-01-01")).toBe(2);
  });

  it("says that there are more, and what is wrong with an option", async () => {
    await createVariable("FIRST");
    await createVariable("SECOND");
    const first = await user.run(["audit", "-p", project.id, "--limit", "1"]);
    expect(first.stdout.trim().split("\n")).toHaveLength(2);
    expect(first.stderr).toBe("There are more than 1: add --limit.\n");
    const time = await user.run(["audit", "--from", "yesterday"]);
    expect([time.stdout, time.status]).toEqual(["", 1]);
    expect(time.stderr).toMatch(/^"yesterday" is not a time\. Write it as 2026-11-21/);
    const action = await user.run(["audit", "--action", "variable.read"]);
    expect(action.stderr).toMatch(/\(bad_input, status 400/);
    const member = await user.run(["audit", "--actor", "nobody"]);
    expect(member.stderr).toMatch(/^There is no member "nobody"\. Run: longshore members ls\n$/);
  });
});

describe("longshore changelog", () => {
  it("lists the changes to one project, and escapes hostile names", async () => {
    await client.call("POST", "/v1/projects", { name: crypto.randomUUID() });
    await createVariable("FIRST");
    // The service accepts no such names. What it sends is escaped nevertheless.
    await service.d1
      .prepare("UPDATE changelog_entries SET record_name = ? WHERE record_name = ?")
      .bind("a\u202eb", "FIRST")
      .run();
    const { stdout, stderr, status } = await user.runProcess(["changelog", "-p", project.id]);
    expect([stderr, status]).toEqual(["", 0]);
    expect(stdout).toMatch(new RegExp(`^${TIME} +created +variable a\\\\u202eb `, "m"));
    expect(stdout).not.toContain("other");
    const json = await user.run(["changelog", "-p", project.id, "--json"]);
    expect(JSON.parse(json.stdout).at(-1)).toMatchObject({
      action: "created",
      record: { type: "project", id: project.id },
    });
    const [{ actor }] = JSON.parse(json.stdout);
    const filtered = async (...args: string[]) => {
      const { stdout: lines } = await user.run(["changelog", "-p", project.id, "--json", ...args]);
      return JSON.parse(lines).map(({ record }: Parsed) => record.name);
    };
    expect(await filtered("--actor", actor.name, "--record", project.name)).toEqual([project.name]);
    expect(await filtered("--actor", "Nobody")).toEqual([]);
    const unnamed = await user.run(["changelog"]);
    expect(unnamed.stderr).toMatch(/^Name the project with --project, or link this folder/);
    expect(unnamed.status).toBe(1);
  });
});

describe("longshore deliveries, ping and redeliver", () => {
  it("pings an integration, lists what was sent, and sends it again", async () => {
    const types: string[] = [];
    const receiver = await listen(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      types.push(JSON.parse(body).type);
      response.end();
    });
    const integrations = `/v1/projects/${project.id}/notification-integrations`;
    const body = { type: "webhook", url: `${receiver}/hook`, configuration: {} };
    const { id } = await client.call("POST", integrations, body);
    const own = (...args: string[]) => user.run([...args, "-p", project.id]);
    const empty = await own("deliveries", id);
    expect([empty.stdout, empty.stderr]).toEqual(["", "There are no deliveries.\n"]);
    const pinged = await own("ping", id, "--quiet");
    const deliveryId = pinged.stdout.trim();
    const path = `${integrations}/${id}/deliveries/${deliveryId}`;
    await expect
      .poll(async () => (await client.call("GET", path)).status, {
        interval: 250,
        timeout: 300_000,
      })
      .toBe("succeeded");
    const again = await own("redeliver", id, deliveryId, "--json");
    const copy = JSON.parse(again.stdout);
    expect(copy).toMatchObject({ type: "ping", integration_id: id });
    expect(copy.id).not.toBe(deliveryId);
    const listed = await own("deliveries", id);
    expect(listed.stdout).toMatch(
      new RegExp(
        `^TIME .*\n${TIME} +${copy.id} +ping .*\n${TIME} +${deliveryId} +ping +succeeded +1`,
      ),
    );
    const failed = await own("deliveries", id, "--status", "failed");
    expect(failed.stdout).toBe("");
    const succeeded = await own("deliveries", id, "--status", "succeeded", "-q");
    expect(succeeded.stdout).toContain(deliveryId);
    expect(types[0]).toBe("ping");
  });

  it("shows what the receiver of a failed delivery has answered, in the list and of each attempt", async () => {
    const receiver = await listen((_, response) =>
      response.writeHead(500).end("Out of order\u202e\nSee the status page"),
    );
    const integrations = `/v1/projects/${project.id}/notification-integrations`;
    const body = { type: "webhook", url: `${receiver}/hook`, configuration: {} };
    await client.call("POST", integrations, body);
    const { id } = await client.call("POST", integrations, body);
    const own = (...args: string[]) => user.run([...args, "-p", project.id]);
    const deliveryId = (await own("ping", id, "--quiet")).stdout.trim();
    const read = () => client.call("GET", `${integrations}/${id}/deliveries/${deliveryId}`);
    await expect
      .poll(async () => (await read()).attempts.length, { interval: 250, timeout: 300_000 })
      .toBe(1);
    const listed = await own("deliveries", id);
    expect(listed.stdout).toMatch(/ pending +1 +answered 500: Out of order\\u202e\n$/);
    expect(listed.stdout).not.toContain("status page");
    const shown = await own("deliveries", "show", deliveryId);
    expect([shown.stderr, shown.status]).toEqual(["", 0]);
    expect(shown.stdout).toMatch(
      new RegExp(`^delivery +${deliveryId}\nintegration +${id}\nevent +ping\nstatus +pending\n`),
    );
    expect(shown.stdout).toMatch(
      new RegExp(`\nATTEMPT .*\n1 +${TIME} +\\S+ +500 +answered 500\n\nThe last response:\n`),
    );
    expect(shown.stdout.endsWith(":\nOut of order\\u202e\nSee the status page\n")).toBe(true);
    const json = await own("deliveries", "show", deliveryId, "--json");
    expect(JSON.parse(json.stdout)).toEqual(await read());
    for (const missing of [id, "newest"]) {
      const { stdout, stderr, status } = await own("deliveries", "show", missing);
      expect([stdout, status]).toEqual(["", 1]);
      expect(stderr).toBe(
        `The project ${project.name} has no delivery "${missing}". Run: longshore deliveries INTEGRATION\n`,
      );
    }
  });

  it("creates one that is sent several kinds, and refuses an unknown kind", async () => {
    const create = (...kinds: string[]) =>
      user.run([
        ...["integrations", "create", "http://127.0.0.1:9/hook", "-p", project.id],
        ...kinds.flatMap((kind) => ["--event", kind]),
      ]);
    const refused = await create("services_ok", "service_ok");
    expect(refused.stderr).toContain("argument 'service_ok' is invalid. Allowed choices are");
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    const integrations = `/v1/projects/${project.id}/notification-integrations`;
    expect((await client.call("GET", integrations)).data).toEqual([]);
    expect((await create("services_ok", "promotions")).status).toBe(0);
    const { data } = await client.call("GET", integrations);
    const sent = Object.entries(data[0].configuration).filter(([, isSent]) => isSent === true);
    expect(sent.map(([kind]) => kind).toSorted()).toEqual(["promotions", "services_ok"]);
  });

  it("updates and resumes one and rotates its secret, and shows what it sends without JSON", async () => {
    const integrations = `/v1/projects/${project.id}/notification-integrations`;
    const url = "http://127.0.0.1:9/hook";
    const { id, secret } = await client.call("POST", integrations, {
      type: "webhook",
      url,
      configuration: { changelog: true, promotions: true },
    });
    const environmentId = project.default_environment_id;
    const environment = `/v1/environments/${environmentId}`;
    const { name } = await client.call("GET", environment);
    const stack = await client.call("POST", `${environment}/stacks`, { name: "web" });
    const run = (...args: string[]) => user.run(["integrations", ...args, "-p", project.id]);
    const shown = await run("show", id);
    expect(shown.stdout).toMatch(/^sends +changelog, promotions$/m);
    expect(shown.stdout).not.toMatch(/[{}[\]]/);
    const updated = await run(
      ...["update", id, "--event", "services_ok", "--without-event", "changelog"],
      ...["-e", name, "--stack", "web", "--url", "http://127.0.0.1:8/other"],
    );
    expect([updated.stderr, updated.status]).toEqual(["", 0]);
    expect(updated.stdout).toMatch(/^sends +promotions, services_ok$/m);
    const read = () => client.call("GET", `${integrations}/${id}`);
    const filtered = await read();
    expect(filtered).toMatchObject({
      url: "http://127.0.0.1:8/***",
      environment_ids: [environmentId],
      stack_ids: [stack.id],
    });
    await run("update", id, "--all-environments", "--all-stacks");
    const { environment_ids: _, stack_ids: __, ...all } = filtered;
    expect(await read()).toEqual({ ...all, updated_at: expect.any(String) });
    const missing = await run("update", id, "-e", name, "--stack", "none");
    expect(missing.stderr).toMatch(/^There is no stack "none" in the given environments\./);
    const both = await run("update", id, "-e", name, "--all-environments");
    expect([both.status, both.stderr]).toEqual([1, expect.stringContaining("cannot be used with")]);
    expect(await read()).toEqual({ ...all, updated_at: expect.any(String) });
    const resumed = await run("resume", id);
    expect([resumed.status, resumed.stdout]).toEqual([0, expect.stringContaining("sends ")]);
    const unsure = await run("rotate-secret", id, "--output", "secret");
    expect([unsure.status, unsure.stderr]).toEqual([1, expect.stringContaining("Add --yes")]);
    const rotated = await run("rotate-secret", id, "--yes");
    expect(rotated.stdout).toMatch(/^secret +whsec_\S+$/m);
    expect(rotated.stdout).toMatch(new RegExp(`^previous_secret_until +${TIME}$`, "m"));
    expect(rotated.stdout).not.toContain(secret);
    expect(rotated.stderr).toBe("The secret is shown only now.\n");
  });

  it.each([
    [
      ["ping", "webhook"],
      '"webhook" is not the ID of an integration. Run: longshore integrations ls',
    ],
    [["deliveries", "webhook"], '"webhook" is not the ID of an integration'],
    [["redeliver", "1Cg8yK6FQpG43h8EDMqZ3E"], "missing required argument 'delivery'"],
    [["deliveries", "1Cg8yK6FQpG43h8EDMqZ3E", "--status", "lost"], "Allowed choices are"],
    [["ping", "1Cg8yK6FQpG43h8EDMqZ3E"], "(not_found, status 404"],
  ])("refuses %j", async (args, message) => {
    const { stdout, stderr, status } = await user.run([...args, "-p", project.id]);
    expect(stderr).toContain(message);
    expect([stdout, status]).toEqual(["", 1]);
  });
});

describe("times", () => {
  it("are local for people, and are read as local without a zone", () => {
    expect(readTime(toLocalTime("2026-11-21T09:30:05.000Z"))).toBe("2026-11-21T09:30:05.000Z");
    expect(toLocalTime(readTime("2026-11-21"))).toBe("2026-11-21 00:00:00");
    expect(readTime("2026-11-21T09:30:00+02:00")).toBe("2026-11-21T07:30:00.000Z");
    expect(toLocalTime("never")).toBe("never");
  });
});

describe("longshore service-accounts and trusts", () => {
  it("create, change and delete a service account, and the trusts that act for it", async () => {
    const name = `ci-${crypto.randomUUID()}`;
    const json = async (...args: string[]) => {
      const { stdout, stderr, status } = await user.run([...args, "--json"]);
      expect([stderr, status]).toEqual(["", 0]);
      return JSON.parse(stdout);
    };
    const account = await json("service-accounts", "create", name);
    expect(account).toMatchObject({ name, role: "member" });
    const renamed = await json("service-accounts", "update", name, "--name", `${name}-2`);
    expect(renamed).toEqual({ ...account, name: `${name}-2`, updated_at: renamed.updated_at });
    const promoted = ["service-accounts", "update", account.membership_id, "--role", "admin"];
    expect(await json(...promoted)).toMatchObject({ name: `${name}-2`, role: "admin" });
    await user.run(["projects", "create", name]);
    const issuer = await LocalIssuer.start();
    onTestFinished(() => issuer.stop());
    const of = ["--issuer", issuer.url, "--audience", "longshore"];
    const trust = ["trusts", "create", "main", ...of];
    const conditions = ["repository_id=1296269", "ref=refs/heads/main", "ref=refs/tags/v=1"];
    const given = conditions.flatMap((each) => ["--condition", each]);
    const created = await json(
      ...[...trust, ...given, "--member", `${name}-2`, "--ttl", "10m"],
      ...["--project", name, "--scope", "deployments:write"],
    );
    expect(created).toMatchObject({
      membership_id: account.membership_id,
      conditions: { repository_id: "1296269", ref: ["refs/heads/main", "refs/tags/v=1"] },
      ttl_seconds: 600,
      scopes: ["deployments:write"],
      project_ids: [expect.stringMatching(/^\w{22}$/)],
    });
    const shown = await user.run(["trusts", "show", created.id]);
    expect(shown.stdout).toMatch(/^audience +longshore$/m);
    expect(shown.stdout).toMatch(
      /^conditions\.repository_id +1296269\nconditions\.ref +refs\/heads\/main, refs\/tags\/v=1$/m,
    );
    const listed = await user.run(["trusts", "ls"]);
    expect(listed.stdout).toContain(` ${conditions.join(", ")} `);
    expect(shown.stdout + listed.stdout).not.toMatch(/[{}[\]]/);
    for (const [args, message] of [
      [[], "Name either --member, or --pool."],
      [["--member", "a", "--pool", "b"], "Name either --member, or --pool."],
      [["--member", name], "There is no member"],
      [["--condition", "=x", "--member", name], 'claim=value; "=x" is not'],
    ] as const) {
      const { stderr, status } = await user.run([...trust, ...given, ...args]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    expect((await user.run(["trusts", "rm", created.id, "--yes"])).status).toBe(0);
    expect((await user.run(["trusts", "ls", "-q"])).stdout).not.toContain(created.id);
    const removed = await user.run(["service-accounts", "rm", `${name}-2`, "--yes"]);
    expect(removed.stderr).toBe(`Deleted the service account ${name}-2.\n`);
    expect((await user.run(["service-accounts", "ls"])).stdout).not.toContain(name);
  });
});
