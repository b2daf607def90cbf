import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { newClient, type Parsed, useService } from "../support/service.ts";

const service = useService();
let user: CliUser;

beforeEach(() => {
  user = new CliUser();
});

afterEach(() => user.remove());

/** Each key has its own rate limit. */
async function useNewKey(): Promise<void> {
  user = CliUser.of(await newClient(service));
}

describe("longshore environments order", () => {
  beforeEach(useNewKey);

  const list = async (...options: string[]) =>
    JSON.parse((await user.run(["environments", "ls", "--json", ...options])).stdout).map(
      ({ name }: Parsed) => name,
    );

  it("is the order of lists and choices; environments that it leaves out come last", async () => {
    await user.run(["projects", "create", "ordered"]);
    await user.run(["link", "ordered"]);
    for (const name of ["staging", "dev"]) await user.run(["environments", "create", name]);
    expect(await list()).toEqual(["production", "staging", "dev"]);
    const ordered = await user.run(["environments", "order", "dev", "staging"]);
    expect(ordered).toEqual({
      stdout: "",
      stderr: "Order of the environments: dev, staging, production.\n",
      status: 0,
    });
    expect(await list()).toEqual(["dev", "staging", "production"]);
    expect(await list("--limit", "2")).toEqual(["dev", "staging"]);
    const { stderr } = await user.run(["environments", "ls", "--limit", "2"]);
    expect(stderr).toBe("There are more than 2: add --limit.\n");
    const unknown = await user.run(["environments", "order", "dev", "none"]);
    expect(unknown).toMatchObject({ stdout: "", status: 1 });
    expect(unknown.stderr).toContain('There is no environment "none"');
    expect(await list()).toEqual(["dev", "staging", "production"]);
  });
});

describe("longshore stacks order", () => {
  beforeEach(useNewKey);

  it("is the order of lists and of deployments; stacks that it leaves out come last", async () => {
    await user.run(["projects", "create", "stacked"]);
    await user.run(["link", "stacked", "production"]);
    for (const name of ["web", "api", "infra"]) await user.run(["stacks", "create", name]);
    const list = async () =>
      JSON.parse((await user.run(["stacks", "ls", "--json"])).stdout).map(
        ({ name }: Parsed) => name,
      );
    expect(await list()).toEqual(["web", "api", "infra"]);
    expect(await user.run(["stacks", "order", "infra", "api"])).toEqual({
      stdout: "",
      stderr: "Order of the stacks: infra, api, web.\n",
      status: 0,
    });
    expect(await list()).toEqual(["infra", "api", "web"]);
    const preview = await user.run(["deploy", "--dry-run"]);
    expect(preview.stdout).toMatch(/^stacks +infra, api, web$/m);
    const unknown = await user.run(["stacks", "order", "none"]);
    expect(unknown.stderr).toContain('There is no stack "none"');
  });

  it("gives way to needs, and a dry run shows what references stand for", async () => {
    await user.run(["projects", "create", "needing"]);
    await user.run(["link", "needing", "production"]);
    for (const name of ["web", "infra"]) await user.run(["stacks", "create", name]);
    const set = [
      "--set",
      "stacks.web.executor=any",
      "--set",
      "stacks.web.url=${outputs.infra.url}",
    ];
    const preview = await user.run(["deploy", "--dry-run", ...set]);
    expect(preview.stdout).toMatch(/^stacks +infra, web$/m);
    expect(preview.stdout).toContain(
      '/stacks/web/url: ${outputs.infra.url} = "infra" has no such output yet. This deployment runs "infra" first.\n',
    );
    const alone = await user.run(["deploy", "--stack", "web", ...set]);
    expect(alone).toMatchObject({ status: 1, stdout: "" });
    expect(alone.stderr).toContain('"web" needs "infra", which has never succeeded');
  });
});

describe("longshore environments update", () => {
  beforeEach(useNewKey);

  it("chooses the stack whose URL is the environment's, or none", async () => {
    await user.run(["projects", "create", "linking"]);
    await user.run(["link", "linking", "production"]);
    await user.run(["stacks", "create", "web"]);
    const chosen = await user.run([
      "environments",
      "update",
      "production",
      "--url-stack",
      "web",
      "--json",
    ]);
    const { url_stack_id } = JSON.parse(chosen.stdout);
    const stack = JSON.parse((await user.run(["stacks", "show", "web", "--json"])).stdout);
    expect(url_stack_id).toBe(stack.id);
    const update = ["environments", "update", "production"];
    const cleared = await user.run([...update, "--no-url-stack", "--json"]);
    expect(JSON.parse(cleared.stdout)).not.toHaveProperty("url_stack_id");
    expect((await user.run(update)).status).toBe(1);
    const unknown = await user.run([...update, "--url-stack", "none"]);
    expect(unknown.stderr).toContain('There is no stack "none"');
  });
});

describe("longshore link", () => {
  beforeEach(useNewKey);

  it("names the project and the environment of a folder and those below it", async () => {
    await user.run(["projects", "create", "linked"]);
    await user.run(["environments", "create", "staging", "-p", "linked"]);
    expect((await user.run(["link", "linked", "staging"])).status).toBe(0);
    const file = join(user.folder, ".longshore.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      project: "linked",
      environment: "staging",
    });
    const status = JSON.parse((await user.run(["status", "--json"])).stdout);
    expect(status).toMatchObject({
      project: { name: "linked" },
      environments: [{ name: "production" }, { name: "staging" }],
    });
    const other = await user.run(["status", "-p", "link"]);
    expect(other.stderr).toContain('There is no project "link"');
    await user.run(["components", "create", "web", "--kind", "service"]);
    const listed = await user.run(["components", "ls", "--json", "-e", "staging"]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "web", kind: "service" }]);
    const elsewhere = await user.run([
      "components",
      "ls",
      "--json",
      "-p",
      "linked",
      "-e",
      "production",
    ]);
    expect(JSON.parse(elsewhere.stdout)).toEqual([]);
  });

  it.each([
    ["{", "is not a JSON object. Correct it, or delete it."],
    ['{"project": 1}', "must have a project and an environment. Run: longshore link"],
    ['{"project": "no such project", "environment": "x"}', 'There is no project "no such project"'],
  ])("states what is wrong with the file %s", async (content, message) => {
    writeFileSync(join(user.folder, ".longshore.json"), content);
    await user.run(["link", "--confirm"]);
    const { stdout, stderr, status } = await user.run(["status"]);
    expect(stderr).toContain(message);
    expect([stdout, stderr.trim().split("\n").length, status]).toEqual(["", 1, 1]);
  });

  it("says to what a project is connected, and nothing of one that needs no connection", async () => {
    const names = ["connected", "plain"].map((kind) => `${kind}-${crypto.randomUUID()}`);
    const shown: string[] = [];
    for (const name of names) {
      const { stdout } = await user.run(["projects", "create", name, "--quiet"]);
      const id = stdout.trim();
      const connect = ["projects", "connect", id, "--provider", "other", "--place", "a shelf"];
      if (name === names[0]) expect((await user.run(connect)).status).toBe(0);
      const status = await user.run(["status", "-p", id, "-e", "production"]);
      shown.push(status.stdout.replace(id, "ID"));
    }
    expect(shown[0]).toMatch(/^project +connected-[\w-]+ \(ID\), connected$/m);
    expect(shown[1]).toMatch(/^project +plain-[\w-]+ \(ID\)$/m);
  });

  it("states what to name in a folder without a link", async () => {
    const status = await user.run(["status"]);
    expect(status.stderr).toMatch(/^Name the project with --project, or link this folder:/);
    const link = await user.run(["link"]);
    expect(link.stderr).toMatch(/^Name the project: longshore link PROJECT ENVIRONMENT$/m);
    expect([status.status, link.status]).toEqual([1, 1]);
  });
});

describe("names", () => {
  beforeEach(useNewKey);

  it("work wherever IDs do, and an ID is tried first", async () => {
    const { stdout } = await user.run(["projects", "create", "by-name", "--quiet"]);
    const id = stdout.trim();
    await service.owner.call("POST", "/v1/projects", { name: id });
    for (const text of [id, "by-name"]) {
      const shown = await user.run(["projects", "show", text, "--json"]);
      expect(JSON.parse(shown.stdout)).toMatchObject({ id, name: "by-name" });
    }
  });

  it("that match two records are refused with their IDs", async () => {
    const ids: string[] = [];
    for (const _ of [1, 2]) {
      const body = { name: "twin", role: "member" };
      const path = `/v1/orgs/${service.organizationId}/api-keys`;
      ids.push((await service.owner.call("POST", path, body)).id);
    }
    const { stderr, status } = await user.run(["keys", "show", "twin"]);
    expect(stderr).toMatch(/^"twin" is the name of two API keys\. Use an ID: /);
    for (const id of ids) expect(stderr).toContain(id);
    expect(status).toBe(1);
  });

  it("of other records do not match", async () => {
    await user.run(["projects", "create", "Nearly"]);
    for (const name of ["nearly", "Nearl", "Nearly "]) {
      const { stderr, status } = await user.run(["projects", "show", name]);
      expect(stderr).toBe(`There is no project "${name}". Run: longshore projects ls\n`);
      expect(status).toBe(1);
    }
  });

  it("are deleted only with consent, which --yes gives", async () => {
    await user.run(["projects", "create", "doomed"]);
    const refused = await user.run(["projects", "rm", "doomed"]);
    expect(refused.stderr).toContain("Add --yes to do so without a terminal.");
    expect(refused.status).toBe(1);
    expect((await user.run(["projects", "show", "doomed"])).status).toBe(0);
    expect((await user.run(["projects", "rm", "doomed", "--yes"])).status).toBe(0);
    expect((await user.run(["projects", "show", "doomed"])).status).toBe(1);
  });

  it("do not reach a record of another owner than the named one", async () => {
    await user.run(["projects", "create", "owner"]);
    await user.run(["environments", "create", "staging", "-p", "owner"]);
    const create = ["components", "create", "web", "--kind", "service", "-p", "owner"];
    const { stdout } = await user.run([...create, "-e", "production", "--quiet"]);
    const id = stdout.trim();
    const elsewhere = ["components", "rm", id, "-p", "owner", "-e", "staging", "--yes"];
    expect((await user.run(elsewhere)).stderr).toContain(`There is no component "${id}"`);
    const there = ["components", "show", id, "-p", "owner", "-e", "production", "--json"];
    expect(JSON.parse((await user.run(there)).stdout)).toMatchObject({ id });
    expect((await user.run(["components", "rm", id, "--yes"])).status).toBe(0);
  });

  it("of a member get the role in the organization only with consent for an owner", async () => {
    await user.run(["members", "add", "grace@example.com", "--name", "Grace"]);
    await user.run(["projects", "create", "roles"]);
    await user.run(["link", "roles"]);
    const refused = await user.run(["members", "set-role", "Grace", "owner"]);
    expect(refused.stderr).toMatch(/^Make Grace an owner of the organization, .* Add --yes/);
    const roleOf = async (...options: string[]) => {
      const { stdout } = await user.run(["members", "ls", "--json", ...options]);
      const members: { name: string; role: string }[] = JSON.parse(stdout);
      return members.find(({ name }) => name === "Grace")?.role;
    };
    expect(await roleOf()).toBe("member");
    await user.run(["members", "set-role", "Grace", "owner", "-p", "roles"]);
    expect([await roleOf(), await roleOf("-p", "roles")]).toEqual(["member", "owner"]);
  });
});

describe("longshore pools", () => {
  it("adds and removes environments, each once, and leaves the others", async () => {
    await useNewKey();
    const pool = async (...args: string[]) =>
      JSON.parse((await user.run(["pools", ...args, "--json"])).stdout);
    for (const name of ["pool-shop", "pool-other"]) await user.run(["projects", "create", name]);
    for (const name of ["staging", "preview"]) {
      await user.run(["environments", "create", name, "--project", "pool-shop"]);
    }
    const inShop = ["--project", "pool-shop"];
    const { environment_ids: first } = await pool("create", "eu", "-e", "staging", ...inShop);
    const { environment_ids: two } = await pool("add-environment", "eu", "preview", ...inShop);
    expect(two).toEqual([...first, expect.any(String)]);
    expect((await pool("add-environment", "eu", "preview", ...inShop)).environment_ids).toEqual(
      two,
    );
    const left = await pool("remove-environment", "eu", "staging", ...inShop);
    expect(left.environment_ids).toEqual(two.slice(1));
    expect((await pool("show", "eu")).environment_ids).toEqual(two.slice(1));
    const missing = await user.run([
      "pools",
      "add-environment",
      "eu",
      "staging",
      "-p",
      "pool-other",
    ]);
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining("staging")]);
  });

  it("lists the runners of a pool that are online", async () => {
    await useNewKey();
    await user.run(["projects", "create", "pool-runners"]);
    await user.run(["environments", "create", "staging", "--project", "pool-runners"]);
    for (const name of ["busy", "empty"]) {
      await user.run(["pools", "create", name, "-e", "staging", "-p", "pool-runners"]);
    }
    const none = await user.run(["pools", "runners", "busy"]);
    expect([none.stdout, none.stderr]).toEqual(["", "There are no runners.\n"]);
    const token = await user.run(["pools", "tokens", "create", "busy", "laptop", "--json"]);
    const claim = (runner?: object) =>
      fetch(new URL("/v1/runner/claims", service.url), {
        method: "POST",
        headers: {
          "x-api-key": JSON.parse(token.stdout).token,
          "content-type": "application/json",
        },
        body: JSON.stringify({ request_id: crypto.randomUUID(), runner }),
      });
    await claim({ name: "builder-1", version: "1.4.0\u202e" });
    await claim();
    const { stdout } = await user.run(["pools", "runners", "busy"]);
    const [titles, ...lines] = stdout.trim().split("\n");
    expect(titles).toMatch(/^NAME +VERSION +STATE +DEPLOYMENT +LAST SEEN$/);
    expect(lines).toEqual([
      expect.stringMatching(/^laptop +- +idle +- +20[-\d]+ [:\d]+$/),
      expect.stringMatching(/^builder-1 +1\.4\.0\\u202e +idle +- +20[-\d]+ [:\d]+$/),
    ]);
    expect(stdout).not.toContain("\u202e");
    const json = await user.run(["pools", "runners", "busy", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { state: "idle", token: { name: "laptop" } },
      { version: "1.4.0\u202e" },
    ]);
    expect((await user.run(["pools", "runners", "empty"])).stdout).toBe("");
  });

  it("finds a token by its name, although the list of tokens has no filter for it", async () => {
    await useNewKey();
    await user.run(["projects", "create", "pool-tokens"]);
    await user.run(["environments", "create", "staging", "-p", "pool-tokens"]);
    await user.run(["pools", "create", "tokens", "-e", "staging", "-p", "pool-tokens"]);
    const tokens = (...args: string[]) => user.run(["pools", "tokens", ...args]);
    for (const name of ["first", "second"]) await tokens("create", "tokens", name, "--json");
    const revoked = await tokens("revoke", "tokens", "first", "--yes");
    expect([revoked.stderr, revoked.status]).toEqual(["Revoked the token first.\n", 0]);
    const { stdout } = await tokens("ls", "tokens", "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ name: "second" }]);
    const missing = await tokens("revoke", "tokens", "first", "--yes");
    expect(missing.stderr).toContain('There is no runner token "first".');
  });
});

describe("longshore invitations", () => {
  beforeEach(useNewKey);

  it("creates a link that is shown once, lists without it, and revokes", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const file = ["--output", "link.txt"];
    const created = await user.run(["invitations", "create", email, "--name", "Grace", ...file]);
    expect([created.status, created.stdout]).toEqual([0, expect.not.stringContaining("lsi_")]);
    expect(readFileSync(join(user.folder, "link.txt"), "utf8")).toMatch(/^http.*lsi_\w+\n$/);
    const listed = await user.run(["invitations", "ls"]);
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
    expect(listed.stdout).toMatch(new RegExp(`^${email} +\\w{22} +Grace +member +${time}$`, "m"));
    expect(listed.stdout).not.toContain("lsi_");
    expect((await user.run(["invitations", "create", "a@example.com", "-q"])).stderr).toContain(
      "--quiet would lose the url",
    );
    const owner = await user.run(["invitations", "create", "a@example.com", "--role", "owner"]);
    expect([owner.status, owner.stderr]).toEqual([1, expect.stringContaining("who may do every")]);
    expect((await user.run(["invitations", "rm", email])).stderr).toContain("Add --yes");
    const removed = await user.run(["invitations", "rm", email.toUpperCase(), "--yes"]);
    expect([removed.status, removed.stderr]).toEqual([0, `Revoked the invitation of ${email}.\n`]);
    const none = await user.run(["invitations", "rm", email, "--yes"]);
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining("no invitation")]);
  });
});
