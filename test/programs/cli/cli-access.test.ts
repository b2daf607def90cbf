import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { explain } from "../../../packages/cli/src/errors.ts";
import { ConnectionError } from "../../../packages/client/src/index.ts";
import { CliUser, cliCommand } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { ApiClient, newClient, type Parsed, type Service, useService } from "../support/service.ts";

const POLLING = { interval: 100, timeout: 300_000 };

const service = useService();
const other = useService({ ALLOW_NEW_ORGANIZATIONS: "true" });
let user: CliUser;

beforeEach(() => {
  user = new CliUser();
});

afterEach(() => user.remove());

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal must not get.
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

const profilesFile = () => join(user.folder, "config/profiles.json");

function login({ url, owner }: Service, ...options: string[]) {
  return user.run(["login", "--url", url.origin, ...options], { input: `${owner.key}\n` });
}

/** Each key has its own rate limit. */
async function useNewKey(): Promise<void> {
  user = CliUser.of(await newClient(service));
}

describe("longshore login", () => {
  it("stores the key for its owner only, and commands use it", async () => {
    const args = ["login", "--url", service.url.origin];
    const { stdout, stderr, status } = await user.runProcess(args, {
      input: `${service.owner.key}\n`,
    });
    expect([stdout, status]).toEqual(["", 0]);
    expect(stderr).toMatch(/^Logged in to My organization at http:\S+ as owner\./);
    expect(stderr).not.toContain(service.owner.key);
    expect(statSync(profilesFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(profilesFile(), "..")).mode & 0o777).toBe(0o700);
    const whoAmI = await user.runProcess(["whoami", "--json"]);
    expect(JSON.parse(whoAmI.stdout)).toMatchObject({
      url: service.url.origin,
      organization: { id: service.organizationId },
      membership: { role: "owner" },
    });
  });

  it("keeps a profile for each address, and switches between them", async () => {
    await login(service, "--profile", "first");
    await login(other, "--profile", "second");
    const organization = async (...options: string[]) => {
      const { stdout } = await user.run(["whoami", "--json", ...options]);
      return JSON.parse(stdout).organization.id;
    };
    expect(await organization()).toBe(other.organizationId);
    expect(await organization("--profile", "first")).toBe(service.organizationId);
    await user.run(["profiles", "use", "first"]);
    expect(await organization()).toBe(service.organizationId);
    const profiles = await user.run(["profiles", "ls", "--json"]);
    expect(profiles.stdout).not.toContain("lsh_");
    expect(JSON.parse(profiles.stdout)).toEqual([
      { name: "first", url: `${service.url.origin}/`, current: true },
      { name: "second", url: `${other.url.origin}/`, current: false },
    ]);
    expect((await user.run(["logout"])).status).toBe(0);
    expect((await user.run(["whoami"])).stderr).toMatch(
      /^You are not logged in\. Run: longshore login/,
    );
    expect(await organization("--profile", "second")).toBe(other.organizationId);
    expect((await user.run(["logout"])).stderr).toBe(
      "You are not logged in. Nothing was changed.\n",
    );
  });

  it("sends a stored key only to the address that it was stored for", async () => {
    await login(service);
    const keys: unknown[] = [];
    const LONGSHORE_URL = await listen(({ headers }, response) => {
      keys.push(headers["x-api-key"]);
      response.end("{}");
    });
    const { stderr, status } = await user.run(["whoami"], { changes: { LONGSHORE_URL } });
    expect(stderr).toMatch(/^There is no API key for http:\S+ Run: longshore login --url http:/);
    expect([keys, status]).toEqual([[], 1]);
    const changes = { LONGSHORE_URL: other.url.origin, LONGSHORE_API_KEY: other.owner.key };
    const two = await user.run(["whoami", "--profile", "x"], { changes });
    expect(two.stderr).toBe("--profile and LONGSHORE_API_KEY name two keys. Omit one of them.\n");
    const { stdout } = await user.run(["whoami", "--json"], { changes });
    expect(JSON.parse(stdout).organization.id).toBe(other.organizationId);
  });

  it("sends each of two keys of one host to the deployment at its own path only", async () => {
    const requests: string[] = [];
    const host = await listen(({ headers, url }, response) => {
      requests.push(`${headers["x-api-key"]} to ${url}`);
      response.setHeader("content-type", "application/json");
      response.end('{"organization": {"id": "o"}}');
    });
    const profiles = {
      first: { url: `${host}/a`, api_key: "lsh_a" },
      second: { url: `${host}/b`, api_key: "lsh_b" },
    };
    mkdirSync(join(profilesFile(), ".."), { recursive: true });
    writeFileSync(profilesFile(), JSON.stringify({ current: "first", profiles }));
    const read = async (LONGSHORE_URL: string, ...options: string[]) => {
      const args = ["api", "GET", "/v1/whoami", ...options];
      const { stderr, status } = await user.run(args, { changes: { LONGSHORE_URL } });
      return [stderr, status];
    };
    for (const path of ["/b", "", "/a/b", "/A"]) {
      const refused = [expect.stringMatching(/^There is no API key for http:/), 1];
      expect(await read(host + path)).toEqual(refused);
    }
    const other = "LONGSHORE_URL is not the address of the profile second. Omit one of them.\n";
    expect(await read(`${host}/a`, "--profile", "second")).toEqual([other, 1]);
    expect(requests).toEqual([]);
    expect(await read(`${host}/a`)).toEqual(["", 0]);
    expect(await read(`${host}/b`, "--profile", "second")).toEqual(["", 0]);
    expect(requests).toEqual(["lsh_a to /a/v1/whoami", "lsh_b to /b/v1/whoami"]);
  });

  it("stores nothing if the service refuses the key", async () => {
    const args = ["login", "--url", service.url.origin];
    for (const input of ["lsh_wrong", "two words", ""]) {
      const { stderr, status } = await user.run(args, { input });
      expect(stderr.trim().split("\n")).toHaveLength(1);
      expect(status).toBe(1);
    }
    expect(() => statSync(profilesFile())).toThrow("ENOENT");
  });

  it("keeps the stored keys if it cannot write, and says so", async () => {
    await login(service);
    const before = readFileSync(profilesFile(), "utf8");
    const blocked = new CliUser({ LONGSHORE_CONFIG_DIR: join(user.folder, "file") });
    writeFileSync(join(user.folder, "file"), "");
    const args = ["login", "--url", service.url.origin];
    const { stderr, status } = await blocked.run(args, { input: service.owner.key });
    blocked.remove();
    expect(stderr).toMatch(/^Cannot write \S+profiles\.json: .*Nothing was changed\.\n$/);
    expect(status).toBe(1);
    expect(readFileSync(profilesFile(), "utf8")).toBe(before);
  });

  it.each(["{", "[]", '{"profiles": {"a": {"url": 1}}}', '{"current": 2}'])(
    "states which file is broken: %s",
    async (content) => {
      mkdirSync(join(profilesFile(), ".."), { recursive: true });
      writeFileSync(profilesFile(), content);
      const { stderr, status } = await user.run(["whoami"]);
      expect(stderr).toMatch(/^\S+profiles\.json is not .* Correct it, or delete it/);
      expect([stderr.trim().split("\n").length, status]).toEqual([1, 1]);
    },
  );
});

describe("longshore console", () => {
  const LINK = /^http:\/\/\S+\/sign-in\/lsl_\w{72}$/;
  let opened: string;

  /** A user at a desktop, whose `xdg-open` exits with this status. */
  async function useDesktop(status: number, changes: NodeJS.Dict<string> = {}) {
    await useNewKey();
    const key = user.environment().LONGSHORE_API_KEY;
    const programs = mkdtempSync(join(tmpdir(), "longshore-desktop-"));
    onTestFinished(() => rmSync(programs, { recursive: true }));
    opened = join(programs, "opened");
    const script = `#!/bin/sh\necho "$* $LONGSHORE_API_KEY" >> '${opened}'\nexit ${status}\n`;
    writeFileSync(join(programs, "xdg-open"), script, { mode: 0o755 });
    user = new CliUser({
      ...{ LONGSHORE_URL: service.url.origin, LONGSHORE_API_KEY: key },
      ...{ PATH: `${programs}:${process.env["PATH"]}`, DISPLAY: ":1", SSH_CONNECTION: undefined },
      ...changes,
    });
  }

  it("opens a link that signs in, and gives the browser no key", async () => {
    await useDesktop(0);
    const { stdout, stderr, status } = await user.runAsked(["console"]);
    expect([stdout, status]).toEqual(["", 0]);
    expect(stderr).toBe("Opened the console in your browser. Click Sign in there.\n");
    const link = readFileSync(opened, "utf8").trim();
    expect(link).toMatch(LINK);
    const headers = { "sec-fetch-site": "same-origin" };
    const page = await fetch(link, { method: "POST", redirect: "manual", headers });
    expect([page.status, page.headers.get("location")]).toEqual([303, "/console/"]);
  });

  it.each([
    ["the opener fails", 3, {}, true],
    ["there is no display", 0, { DISPLAY: undefined, WAYLAND_DISPLAY: undefined }, false],
    ["the user is at another machine", 0, { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, false],
  ])("prints the link if %s", async (_, exitCode, changes, isTried) => {
    await useDesktop(exitCode, changes);
    const { stdout, stderr, status } = await user.runAsked(["console"]);
    expect([stdout.trim(), status]).toEqual([expect.stringMatching(LINK), 0]);
    expect(stderr).toMatch(/^Open this link in a browser\. It signs in once, until .*\.\n$/);
    expect(existsSync(opened)).toBe(isTried);
  });

  it("prints the link without a terminal, and says why a narrower key gets none", async () => {
    await useDesktop(0);
    expect((await user.run(["console"])).stdout.trim()).toMatch(LINK);
    expect(existsSync(opened)).toBe(false);
    const path = `/v1/orgs/${service.organizationId}/api-keys`;
    const narrow = { name: "narrow", scopes: ["projects:read"] };
    const { key } = await service.owner.call("POST", path, narrow);
    const refused = await user.run(["console"], { changes: { LONGSHORE_API_KEY: key } });
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toContain("keys:write");
  });
});

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

describe("secrets", () => {
  beforeEach(useNewKey);

  it("go to a file that only the user can read", async () => {
    const args = ["keys", "create", "laptop", "--role", "member", "--output", "key.txt"];
    const { stdout, stderr } = await user.runProcess(args);
    const file = join(user.folder, "key.txt");
    const key = readFileSync(file, "utf8").trim();
    expect(key).toMatch(/^lsh_/);
    expect(stdout + stderr).not.toContain(key);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const changes = { LONGSHORE_API_KEY: key };
    const whoAmI = await user.run(["whoami", "--json"], { changes });
    expect(JSON.parse(whoAmI.stdout).credential).toMatchObject({ name: "laptop", role: "member" });
    const again = await user.run(args);
    expect(again.stderr).toBe(
      "Cannot write key.txt: it exists; name another file. Nothing was created.\n",
    );
    const listed = await user.run(["keys", "ls", "--json"]);
    const names = JSON.parse(listed.stdout).map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => name === "laptop")).toHaveLength(1);
    await user.run(["keys", "revoke", "laptop", "--yes"]);
    const revoked = await user.run(["whoami"], { changes });
    expect(revoked.stderr).toMatch(
      /\(unauthenticated, status 401, request \S+\) Run: longshore login\n$/,
    );
    expect(revoked.status).toBe(1);
  });

  it("are not lost by --quiet, and are rotated only with consent", async () => {
    const quiet = await user.run(["keys", "create", "quiet", "--quiet"]);
    expect(quiet.stderr).toBe("--quiet would lose the key. Add --output FILE.\n");
    const listed = await user.run(["keys", "ls", "--json"]);
    expect(listed.stdout).not.toContain('"quiet"');
    await user.run(["keys", "create", "rotated", "--role", "member", "--output", "old.txt"]);
    const refused = await user.run(["keys", "rotate", "rotated"]);
    expect(refused.stderr).toContain("Replace the API key rotated? It ends at once. If it was");
    for (const overlap of ["", "abc", "-1"]) {
      const wrong = await user.run(["keys", "rotate", "rotated", "--yes", `--overlap=${overlap}`]);
      expect(wrong.stderr).toContain("It must be a whole number.");
      expect(wrong.status).toBe(1);
    }
    const changes = {
      LONGSHORE_API_KEY: readFileSync(join(user.folder, "old.txt"), "utf8").trim(),
    };
    expect((await user.run(["whoami"], { changes })).status).toBe(0);
    const output = ["--output", "new.txt"];
    expect((await user.run(["keys", "rotate", "rotated", "--yes", ...output])).status).toBe(0);
    expect((await user.run(["whoami"], { changes })).status).toBe(1);
  });

  it("of API keys are listed with those whose they are", async () => {
    const bot = await service.owner.call(
      "POST",
      `/v1/orgs/${service.organizationId}/service-accounts`,
      { name: "deploy bot", role: "member" },
    );
    const member = ["--member", bot.membership_id, "--role", "member"];
    await user.run(["keys", "create", "of-bot", ...member, "--output", "bot.txt"]);
    await user.run(["keys", "create", "of-me", "--output", "me.txt"]);
    const { stdout } = await user.run(["keys", "ls"]);
    expect(stdout).toMatch(/^NAME +ID +OWNER +ROLE +ENDS IN +EXPIRES +LAST USED\n/);
    expect(stdout).toMatch(/^of-bot +\w{22} +deploy bot \(service account\) +member /m);
    expect(stdout).toMatch(/^of-me +\w{22} +Me +owner /m);
  });

  it("leave no file behind if the service refuses to create them", async () => {
    const args = ["keys", "create", " ", "--output", "refused.txt"];
    expect((await user.run(args)).status).toBe(1);
    expect(() => statSync(join(user.folder, "refused.txt"))).toThrow("ENOENT");
    const missing = await user.run(["keys", "create", "a", "--output", "no/such/folder"]);
    expect(missing.stderr).toMatch(
      /^Cannot write no\/such\/folder: ENOENT.* Nothing was created\.\n$/,
    );
    expect(missing.status).toBe(1);
  });
});

describe("the family of a key", () => {
  const keysPath = () => `/v1/orgs/${other.organizationId}/api-keys`;

  /** A new one for each test, because each key has its own rate limit. */
  let admin: ApiClient;

  const createKey = async (name: string, creator = admin) => {
    const { id, key } = await creator.call("POST", keysPath(), { name });
    return { id: id as string, client: new ApiClient(other.url, key) };
  };

  const isValid = (client: ApiClient) =>
    client.call("GET", "/v1/whoami").then(
      () => true,
      () => false,
    );

  const signIn = async ({ key: api_key }: ApiClient) => {
    const response = await fetch(new URL("/v1/sessions", other.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key }),
    });
    expect(response.status).toBe(201);
    const { id } = (await response.json()) as { id: string };
    const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
    return { id, cookie };
  };

  const callAs = async (cookie: string, path: string, body: object) => {
    const response = await fetch(new URL(path, other.url), {
      method: "POST",
      headers: { cookie, origin: other.url.origin, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    const { key } = (await response.json()) as { key: string };
    return new ApiClient(other.url, key);
  };

  beforeEach(async () => {
    admin = (await createKey("admin", other.owner)).client;
    user = CliUser.of(admin);
  });

  it("is listed, also that of a revoked key", async () => {
    const parent = await createKey("listed");
    const [first, second] = [
      await createKey("first", parent.client),
      await createKey("second", parent.client),
    ];
    const unrelated = await createKey("listed too");
    await createKey("not of it", unrelated.client);
    const body = { email: "listed@example.com", name: "Mallory", role: "member" };
    const members = `/v1/orgs/${other.organizationId}/members`;
    const { membership_id } = await parent.client.call("POST", members, body);
    const session = await signIn(first.client);
    const expected = [membership_id, second.id, first.id, session.id];
    const quiet = await user.run(["keys", "family", "listed", "--quiet"]);
    expect(quiet).toEqual({ stdout: `${expected.join("\n")}\n`, stderr: "", status: 0 });
    const json = await user.run(["keys", "family", "listed", "--json", "--limit", "3"]);
    expect(JSON.parse(json.stdout)).toHaveLength(3);
    expect(json.stderr).toBe("There are more than 3: add --limit.\n");
    await user.run(["keys", "revoke", "listed", "--descendants", "keep", "--yes"]);
    const { stdout, stderr } = await user.run(["keys", "family", parent.id]);
    expect(stdout).toMatch(/^TYPE +NAME +ID +ROLE +OWNER +CREATED +COUNTS\nmember +Mallory /);
    expect(stdout).toMatch(new RegExp(`^API key +second +${second.id} +owner +Me `, "m"));
    expect(stdout).not.toContain("not of it");
    expect(stderr).toBe(
      `Sessions and sign-in links end with their keys.\nThe members stay. Remove those that you do not know:\n  longshore members rm ${membership_id}\n`,
    );
    const none = await user.run(["keys", "family", second.id]);
    expect([none.stdout, none.stderr]).toEqual([
      "",
      "Nothing is left that the API key second has made.\n",
    ]);
  });

  it("is shown before the key is revoked, and ended or kept as --descendants says", async () => {
    const parent = await createKey("parent");
    const unrelated = await createKey("other parent");
    const children = [
      await createKey("child", parent.client),
      await createKey("child of other", unrelated.client),
    ];
    const members = `/v1/orgs/${other.organizationId}/members`;
    const body = { email: "eve@example.com", name: "Eve", role: "member" };
    const { membership_id } = await parent.client.call("POST", members, body);
    for (const consent of [["--yes"], []]) {
      const { stdout, stderr, status } = await user.run(["keys", "revoke", "parent", ...consent]);
      expect([stdout, status]).toEqual(["", 1]);
      expect(stderr).toMatch(/^The family of the API key parent:\nTYPE +NAME +ID /);
      expect(stderr).toMatch(new RegExp(`^API key +child +${children[0]?.id} `, "m"));
      expect(stderr).toContain(`\n  longshore members rm ${membership_id}\n`);
      expect(stderr).toMatch(
        /Add --descendants revoke or --descendants keep(, and --yes .*)?\.\n$/,
      );
      expect(stderr.includes("--yes")).toBe(consent.length === 0);
    }
    const revoke = ["keys", "revoke", parent.id, "--descendants"];
    const noConsent = await user.run([...revoke, "revoke"]);
    expect(noConsent.stderr).toContain(
      "Revoke the API key parent with its family? Add --yes to do so without a terminal.\n",
    );
    expect(await Promise.all([parent, ...children].map(({ client }) => isValid(client)))).toEqual([
      true,
      true,
      true,
    ]);
    const kept = await user.run([...revoke, "keep", "--yes"]);
    expect([kept.status, kept.stderr.split("\n").at(-2)]).toEqual([
      0,
      "Revoked the API key parent.",
    ]);
    expect(await Promise.all([parent, ...children].map(({ client }) => isValid(client)))).toEqual([
      false,
      true,
      true,
    ]);
    const ended = await user.run([...revoke, "revoke", "--yes"]);
    expect([ended.status, ended.stderr.split("\n").at(-2)]).toEqual([
      0,
      "Revoked the API key parent with its family.",
    ]);
    expect(await Promise.all(children.map(({ client }) => isValid(client)))).toEqual([false, true]);
    expect((await user.run(["members", "show", membership_id])).status).toBe(0);
    expect((await user.run(["members", "rm", membership_id, "--yes"])).status).toBe(0);
  });

  it("needs no --descendants if it has only sessions and members", async () => {
    const { client } = await createKey("signed in");
    const session = await signIn(client);
    const body = { email: "oscar@example.com", name: "Oscar", role: "member" };
    await client.call("POST", `/v1/orgs/${other.organizationId}/members`, body);
    const { stderr, status } = await user.run(["keys", "revoke", "signed in", "--yes"]);
    expect(stderr).toMatch(new RegExp(`^session +- +${session.id} `, "m"));
    expect(stderr).toContain("\nSessions and sign-in links end with their keys.\n");
    expect(stderr).toMatch(/\nRevoked the API key signed in\.\n$/);
    expect([status, await isValid(client)]).toEqual([0, false]);
  });

  it("is that of a session, too, which an admin lists and ends", async () => {
    const members = `/v1/orgs/${other.organizationId}/members`;
    const { membership_id } = await admin.call("POST", members, {
      email: "trent@example.com",
      name: "Trent",
      role: "admin",
    });
    const { key } = await admin.call("POST", keysPath(), { name: "trent", membership_id });
    const [first, second] = [
      await signIn(new ApiClient(other.url, key)),
      await signIn(new ApiClient(other.url, key)),
    ];
    const list = async (...options: string[]) => {
      const args = ["sessions", "ls", "--member", "Trent", "--quiet", ...options];
      return (await user.run(args)).stdout.trim().split("\n");
    };
    expect(await list()).toEqual([second.id, first.id]);
    const child = await callAs(first.cookie, keysPath(), { name: "made in a session" });
    const revoke = ["sessions", "revoke", first.id, "--member", "Trent", "--yes"];
    const refused = await user.run(revoke);
    expect(refused.stderr).toContain(`The family of the session ${first.id}:\nTYPE `);
    expect(refused.stderr).toContain("Add --descendants revoke or --descendants keep.\n");
    expect(await list()).toEqual([second.id, first.id]);
    await user.run([...revoke, "--descendants", "keep"]);
    expect([await list(), await list("--status", "ended")]).toEqual([[second.id], [first.id]]);
    expect(await isValid(child)).toBe(true);
    const ended = await user.run([...revoke, "--descendants", "revoke"]);
    expect(ended.stderr).toMatch(/\nRevoked the session \w{22} with its family\.\n$/);
    expect([await isValid(child), await list()]).toEqual([false, [second.id]]);
    const alone = ["sessions", "revoke", second.id, "--member", "Trent"];
    const asked = await user.run(alone);
    expect(asked.stderr).toMatch(/^Revoke the session \w{22}\? Add --yes/);
    expect((await user.run([...alone, "--yes"])).stderr).toBe(
      `Revoked the session ${second.id}.\n`,
    );
    const { stdout } = await user.run(["sessions", "ls", "--member", "Trent", "--status", "ended"]);
    expect(stdout).toMatch(/^SIGNED IN +ID +SOURCE +LAST USED +EXPIRES +ENDED +BROWSER\n/);
    const wrong = await user.run(["sessions", "revoke", "laptop", "--member", "Trent"]);
    expect(wrong.stderr).toMatch(
      /^"laptop" is not the ID of a session\. Run: longshore sessions ls/,
    );
  });
});

describe("longshore keys rotate", () => {
  it("says that an earlier rotation ends, and shows why the service refuses", async () => {
    const path = `/v1/orgs/${other.organizationId}/api-keys`;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await other.owner.call("POST", path, { name: "victim" });
    const { key } = await other.owner.call("POST", path, { name: "expiring", expires_at });
    user = new CliUser({ LONGSHORE_URL: other.url.origin, LONGSHORE_API_KEY: key });
    const asked = await user.run(["keys", "rotate", "victim", "--overlap", "60"]);
    expect(asked.stderr).toBe(
      "Replace the API key victim? It ends after 60 s. If it was rotated before, the other keys of that rotation end at once. Add --yes to do so without a terminal.\n",
    );
    const refused = await user.run(["keys", "rotate", "victim", "--yes", "--output", "new.txt"]);
    expect(refused.stderr).toMatch(
      /^A key that is narrowed or expires, .* can only rotate itself\. .* \(unauthorized, status 40\d, request \S+\)\n$/,
    );
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(() => statSync(join(user.folder, "new.txt"))).toThrow("ENOENT");
    const own = await user.run(["keys", "rotate", "expiring", "--yes", "--output", "new.txt"]);
    expect(own.status).toBe(0);
  });
});

describe("a server that is not the expected one", () => {
  const tryCommand = async (LONGSHORE_URL: string, ...args: string[]) => {
    const changes = { LONGSHORE_URL, LONGSHORE_API_KEY: service.owner.key };
    const { stdout, stderr, status } = await user.run(args, { changes });
    expect([stdout, stderr.trim().split("\n").length, status]).toEqual(["", 1, 1]);
    return stderr;
  };

  it("may have a path of its own", async () => {
    const url = `${service.url.origin}/api`;
    expect(await tryCommand(url, "whoami")).toMatch(
      /^There is no such path\. \(not_found, status 404\S* request \S+\) Is the URL right\?\n$/,
    );
    expect(await tryCommand(service.url.origin, "api", "PATCH", "/v1/projects")).toMatch(
      /^PATCH is not implemented here; use .* \(not_implemented, status 501, request \S+\)\n$/,
    );
    expect(await tryCommand(service.url.origin, "projects", "show", "none")).not.toContain("URL");
  });

  const ID = "1ChK2RSxcf7ZWYVBcr5sdZ";
  const HTML = { "content-type": "text/html" };
  const JSON_TYPE = { "content-type": "application/json" };

  it.each([
    [
      "HTML",
      200,
      HTML,
      "<html>",
      ["ls"],
      1,
      /^The response is not one of Longshore's API: .* Is the URL right\? /,
    ],
    ["HTML for one record", 200, HTML, "<html>", ["show", ID], 1, /Is the URL right\?/],
    [
      "half of a record",
      200,
      { ...JSON_TYPE, "content-length": 99 },
      '{"id":',
      ["show", ID],
      6,
      /./,
    ],
    ["the page of a proxy", 502, HTML, "<html>", ["ls"], 6, /./],
    [
      "no list",
      200,
      JSON_TYPE,
      "{}",
      ["ls"],
      1,
      /^The response to GET \/v1\/projects is not a list\. Is the URL right\?$/,
    ],
  ] as const)("may return %s", async (_, code, headers, body, command, exitCode, message) => {
    const LONGSHORE_URL = await listen((_, response) => {
      response.writeHead(code, headers);
      response.write(body, () =>
        "content-length" in headers ? response.destroy() : response.end(),
      );
    });
    const changes = { LONGSHORE_URL, LONGSHORE_API_KEY: service.owner.key };
    const { stdout, stderr, status } = await user.runProcess(["projects", ...command], { changes });
    expect([stdout, status]).toEqual(["", exitCode]);
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    [HTML, "<html>", "Is the URL right?"],
    [JSON_TYPE, "{}", "does not respond as Longshore does. Is the URL right?"],
  ])("gets no login with %j", async (headers, body, message) => {
    const url = await listen((_, response) => void response.writeHead(200, headers).end(body));
    const { status, stderr } = await user.run(["login", "--url", url], {
      input: service.owner.key,
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(() => statSync(profilesFile())).toThrow("ENOENT");
  });

  it("may send names with control characters, which the terminal does not get", async () => {
    const name = "a\u001b]0;x\u0007\u009b2J\u202eb";
    const record = { id: "1ChK2RSxcf7ZWYVBcr5sdZ", name, connection_status: "connected" };
    const url = await listen(({ method, url: path = "" }, response) => {
      response.writeHead(method === "DELETE" ? 204 : 200, { "content-type": "application/json" });
      const isList = /projects(\?|$)/.test(path);
      response.end(JSON.stringify(isList ? { data: [record], has_more: false } : record));
    });
    const changes = { LONGSHORE_URL: url, LONGSHORE_API_KEY: service.owner.key };
    const commands = [["ls"], ["ls", "--json"], ["show", record.id], ["rm", record.id, "--yes"]];
    for (const command of commands) {
      const { stdout, stderr } = await user.run(["projects", ...command], { changes });
      expect(stdout + stderr).not.toMatch(CONTROL);
      expect(stdout + stderr).toContain("b");
      if (command.includes("--json")) expect(JSON.parse(stdout)).toMatchObject([{ name }]);
    }
  });

  it("may list a family with control characters, which the terminal does not get", async () => {
    const id = "1ChK2RSxcf7ZWYVBcr5sdZ";
    const name = "a\u001b]0;x\u0007\u009b2J\u202e\nlongshore members rm $(x)";
    const created_at = "2026-01-31T00:00:00Z";
    const url = await listen(({ url: path = "" }, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const items = [
        { type: "session", id: name, created_at },
        { type: "member", id: name, name, role: "owner", created_at },
        { type: "organization", id, name, counts: { api_keys: 2, trusts: 1 }, created_at },
      ];
      if (path.includes("/family")) {
        response.end(JSON.stringify({ data: items, has_more: false }));
      } else {
        response.end(JSON.stringify({ id, name, organization: { id } }));
      }
    });
    const changes = { LONGSHORE_URL: url, LONGSHORE_API_KEY: service.owner.key };
    for (const args of [
      ["family", id],
      ["revoke", id, "--yes"],
      ["revoke", id, "--yes", "--descendants", "keep"],
    ]) {
      const { stdout, stderr } = await user.run(["keys", ...args], { changes });
      expect(stdout + stderr).toMatch(
        /^organization +a\\x1b\]0;x\\x07\\x9b2J\\u202e\\x0alongshore/m,
      );
      expect(stdout + stderr).not.toMatch(CONTROL);
      expect(stdout + stderr).not.toMatch(/^longshore/m);
    }
  });

  it("may send a message with control characters, which the terminal does not get", async () => {
    const url = await listen((_, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ code: "bad_request", message: "a\u001b[2Jb\nc" }));
    });
    expect(await tryCommand(url, "projects", "ls")).toBe(
      "a\\x1b[2Jb\\x0ac (bad_request, status 400)\n",
    );
  });
});

describe("a lost connection", () => {
  it("asks for the clock if a certificate is not valid at its time", () => {
    const reasons = ["certificate is not yet valid", "certificate has expired"];
    for (const reason of reasons) {
      const error = explain(new ConnectionError(`GET https://a.example/: ${reason}`));
      expect(error).toMatchObject({ exitCode: 6 });
      expect((error as Error).message).toContain("Is the clock of this machine right?");
    }
    const refused = explain(new ConnectionError("GET https://a.example/: ECONNREFUSED"));
    expect((refused as Error).message).toContain("Is the URL right, and is the service running?");
  });
});

describe("the reader of the output", () => {
  const pipe = async (command: string) => {
    const [program, args] = cliCommand([]);
    const longshore = [program, ...args].map((each) => `'${each}'`).join(" ");
    const child = spawn("bash", ["-c", command.replace("longshore", longshore)], {
      cwd: user.folder,
      env: user.environment({
        LONGSHORE_URL: service.url.origin,
        LONGSHORE_API_KEY: service.owner.key,
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    return { stderr, status };
  };

  it("may end before the output does", async () => {
    const command = "set -o pipefail; longshore api GET /v1/projects | head -c 1";
    expect(await pipe(command)).toEqual({ stderr: "", status: 0 });
  });

  it.skipIf(process.platform !== "linux")("may be a full disk", async () => {
    expect(await pipe("longshore api GET /v1/projects > /dev/full")).toEqual({
      stderr: "Cannot print the result: the disk is full.\n",
      status: 1,
    });
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

describe("longshore completion", () => {
  it("completes commands and options in bash", async () => {
    const { stdout } = await user.run(["completion", "bash"]);
    writeFileSync(join(user.folder, "completion"), stdout);
    const complete = (...words: string[]) => {
      const script = `. ./completion
COMP_WORDS=(longshore ${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length}
_longshore; echo "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script], { cwd: user.folder, encoding: "utf8" }).trim();
    };
    expect(complete("proj")).toBe("projects");
    expect(complete("projects", "c")).toBe("create connect");
    expect(complete("pools", "tokens", "r")).toBe("revoke");
    expect(complete("keys", "create", "laptop", "--ou")).toBe("--output");
    expect(complete("keys", "--help", "--prof")).toBe("--profile");
    expect(complete("nothing", "c")).toBe("");
    expect(complete("--profile", "prod", "projects", "c")).toBe("create connect");
    expect(complete("environments", "-p", "shop", "cr")).toBe("create");
    expect(complete("completion", "z")).toBe("zsh");
    expect(complete("run", "--", "npm", "--p")).toBe("");
  });

  it("completes names that the service knows, evaluates none, and is silent without it", async () => {
    await useNewKey();
    const [shop, other] = [`$(touch pwned) "${crypto.randomUUID()}"`, crypto.randomUUID()];
    for (const name of [shop, other]) await user.run(["projects", "create", name]);
    await user.run(["environments", "create", "stage-two", "-p", other]);
    await user.run(["stacks", "create", "web", "-p", other, "-e", "stage-two"]);
    const { stdout } = await user.run(["completion", "bash"]);
    writeFileSync(join(user.folder, "completion"), stdout);
    const [command, args] = cliCommand([]);
    const program = `#!/bin/sh\nexec ${[command, ...args].join(" ")} "$@"\n`;
    writeFileSync(join(user.folder, "longshore"), program, { mode: 0o755 });
    const complete = async (words: readonly string[], changes: NodeJS.Dict<string> = {}) => {
      const script = `. ./completion
COMP_WORDS=(longshore "$@"); COMP_CWORD=$#
_longshore; printf '%s\n' "\${COMPREPLY[@]}"`;
      const PATH = `${user.folder}:${process.env["PATH"]}`;
      const env = { ...user.environment(changes), PATH };
      const bash = ["-c", script, "bash", ...words];
      const { stdout } = await promisify(execFile)("bash", bash, { cwd: user.folder, env });
      return stdout.trim();
    };
    /** On a busy machine, the service may not answer in the time that a suggestion has. */
    const suggest = (words: readonly string[]) => vi.waitUntil(() => complete(words), POLLING);
    const quoted = shop.replaceAll(/[$()" ]/g, "\\$&");
    expect(await suggest(["projects", "show", "$("])).toBe(quoted);
    expect(await suggest(["deploy", "-p", other.slice(0, 12)])).toBe(other);
    expect(await suggest(["environments", "rm", "-p", other, "s"])).toBe("stage-two");
    expect(await suggest(["deploy", "-p", other, "-e", "stage-two", "--stack", "w"])).toBe("web");
    expect(await complete(["deploy", "--stack", ""])).toBe("");
    const promote = ["deployments", "promote", "1CgMoo6Wfj9u5hu6v1REVC", "-p", other, "--to"];
    expect(await suggest([...promote, "s"])).toBe("stage-two");
    expect(await complete(["rollback", "-p", other, "--to", "s"])).toBe("");
    expect(await complete(["projects", "show", "--j"])).toBe("--json");
    const nowhere = { LONGSHORE_URL: "http://127.0.0.1:9" };
    expect(await complete(["projects", "show", ""], nowhere)).not.toContain(other);
    expect(existsSync(join(user.folder, "pwned"))).toBe(false);
  });

  it("lists no names that a terminal would show otherwise, and waits for 1.5 seconds at most", async () => {
    await useNewKey();
    const hidden = crypto.randomUUID();
    await user.run(["projects", "create", hidden]);
    // The service accepts no such name. Older ones stay.
    await service.d1
      .prepare("UPDATE projects SET name = 'hidden' || char(8238) WHERE name = ?")
      .bind(hidden)
      .run();
    const named = `shown-${crypto.randomUUID()}`;
    await user.run(["projects", "create", named]);
    const list = async () => {
      const names = await user.run(["__names", "projects", "--", "deploy", "-p"]);
      return names.stdout !== "" && names;
    };
    const names = await vi.waitUntil(list, POLLING);
    expect(names.stdout).toContain(`${named}\n`);
    expect(names.stdout).not.toContain("hidden");
    const LONGSHORE_URL = await listen(() => undefined);
    const before = performance.now();
    const nothing = await user.run(["__names", "projects"], { changes: { LONGSHORE_URL } });
    expect(nothing).toEqual({ stdout: "", stderr: "", status: 0 });
    // Another command waits for 30 s.
    expect(performance.now() - before).toBeLessThan(20_000);
    expect(await user.run(["__names", "constructor"])).toEqual(nothing);
  });

  it("prints scripts for zsh and fish, and for no other shell", async () => {
    const zsh = await user.run(["completion", "zsh"]);
    expect(zsh.stdout).toContain("compdef _longshore longshore");
    const fish = await user.run(["completion", "fish"]);
    expect(fish.stdout).toContain(
      `complete -c longshore -n "__longshore_after pools tokens" -a revoke`,
    );
    expect(fish.stdout).toContain(
      `complete -c longshore -n "__longshore_below deployments promote" -l to -xa '(longshore __names environments -- `,
    );
    expect(fish.stdout).toContain("complete -c longshore -l project -s p -xa '(longshore __names");
    const { stderr, status } = await user.run(["completion", "tcsh"]);
    expect(stderr).toContain("Allowed choices are bash, zsh, fish.");
    expect([zsh.status, fish.status, status]).toEqual([0, 0, 1]);
  });
});
