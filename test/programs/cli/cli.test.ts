import type { RequestListener } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { CliUser } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { useService } from "../support/service.ts";

const service = useService();
let user: CliUser;

beforeAll(async () => {
  user = new CliUser({
    LONGSHORE_URL: service.url.origin,
    LONGSHORE_API_KEY: service.owner.key,
  });
});

afterAll(async () => {
  user.remove();
});

const run = (args: string[], changes: NodeJS.Dict<string> = {}) => user.run(args, { changes });

const api = (...args: string[]) => run(["api", ...args]);

describe("longshore api", () => {
  it("sends fields as a JSON body, and prints the response", async () => {
    const { stdout, stderr, status } = await api("post", "/v1/projects", "name=a=b", "icon:=null");
    expect([stderr, status]).toEqual(["", 0]);
    const project = JSON.parse(stdout);
    expect(project).toMatchObject({ name: "a=b", connection_status: "disconnected" });
    expect(stdout).toBe(`${JSON.stringify(project, null, 2)}\n`);
    const path = `/v1/projects/${project.id}/environments`;
    const configuration = { replicas: 3, names: ["x"], on: true };
    const json = `configuration:=${JSON.stringify(configuration)}`;
    const created = await api("POST", path, "name=staging", json, "--field", "configuration");
    expect(JSON.parse(created.stdout)).toEqual(configuration);
  });

  it("sends fields as the query of a GET", async () => {
    for (const name of ["first", "second"]) await api("POST", "/v1/projects", `name=${name}`);
    const newest = await api("GET", "/v1/projects", "limit=1", "--field", "data.0.name");
    expect(newest.stdout).toBe("second\n");
    const next = await api("GET", "/v1/projects", "limit=1", "--field", "next_page");
    const query = ["limit:=1", `after=${next.stdout.trim()}`];
    const second = await api("GET", "/v1/projects", ...query, "--field", "data.0.name");
    expect(second.stdout).toBe("first\n");
    const unordered = await api("GET", "/v1/projects", "sort_by=+created_at", "limit=1");
    expect(unordered.status).toBe(0);
  });

  it("reads all pages of a list with --paginate", async () => {
    const path = `/v1/orgs/${service.organizationId}/service-accounts`;
    const names = ["one", "two", "three", "four", "five"];
    for (const name of names) await service.owner.call("POST", path, { name, role: "member" });
    const query = ["limit=2", "sort_by=+created_at"];
    const fields = await api("GET", path, ...query, "--paginate", "--field", "name");
    expect(fields.stdout.trim().split("\n")).toEqual(names);
    const lines = await api("GET", path, "limit=2", "--paginate");
    const records = lines.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.map(({ name }) => name)).toEqual(names.toReversed());
    const written = await api("POST", path, "name=six", "role=member", "--paginate");
    expect(written.stderr).toBe("--paginate reads a list: use it with GET.\n");
    expect([written.stdout, written.status]).toEqual(["", 1]);
  });

  it("prints several fields, the headers with -i, and nothing for an empty response", async () => {
    const created = await api("POST", "/v1/projects", "name=gone", "--field=name", "--field=id");
    const [name, id = ""] = created.stdout.trim().split("\n");
    expect(name).toBe("gone");
    const read = await api("GET", `/v1/projects/${id}`, "-i");
    expect(read.stdout).toMatch(/^HTTP 200\n/);
    expect(read.stdout).toMatch(/^x-ratelimit-limit: 100$/m);
    expect(read.stdout).toContain(`"id": "${id}"`);
    expect(await api("DELETE", `/v1/projects/${id}`)).toEqual({
      stdout: "",
      stderr: "",
      status: 0,
    });
  });

  it("prints an error with its issues and its request ID to stderr, and exits with 1", async () => {
    const args = ["api", "POST", "/v1/projects", "nam=x"];
    const { stdout, stderr, status } = await user.runProcess(args);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toMatch(/\(bad_input, status 400, request [0-9a-f-]{36}\)\n/);
    expect(stderr).toMatch(/^ {2}nam: Unknown field; remove it\.$/m);
    expect(stderr).toMatch(/^ {2}name: /m);
    const unknown = await run(["api", "GET", "/v1/projects"], { LONGSHORE_API_KEY: "lsh_wrong" });
    expect(unknown.stderr).toContain("(unauthenticated, status 401");
    expect(unknown.status).toBe(1);
  });

  it.each([
    [["GET", "v1/projects"], "name a path such as /v1/projects"],
    [["/v1/projects"], "missing required argument 'path'"],
    [["fetch", "/v1/projects"], "Start with a method"],
    [["POST", "/v1/projects", "name"], 'name=text or name:=json; "name" is neither'],
    [["POST", "/v1/projects", "icon:={"], "icon:= needs a JSON value"],
    [["POST", "/v1/projects", "name=a", "name=b"], "The field name is given twice"],
    [["GET", "/v1/projects", "--fields", "id"], "unknown option '--fields'"],
    [["GET", "/v1/orgs", "--field", "data.0.constructor"], "no field data.0.constructor"],
  ])("refuses %j without a stack trace", async (args, message) => {
    const { stdout, stderr, status } = await api(...args);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
    expect([stdout, status]).toEqual(["", 1]);
  });

  it.each([
    [{ LONGSHORE_URL: undefined }, "Set LONGSHORE_URL to the address of the API"],
    [{ LONGSHORE_URL: "localhost:8787" }, "LONGSHORE_URL must be the address of the API"],
    [{ LONGSHORE_URL: "http://a:b@localhost" }, "LONGSHORE_URL must be the address of the API"],
    [{ LONGSHORE_URL: "http://localhost?a=b" }, "LONGSHORE_URL must be the address of the API"],
    [{ LONGSHORE_API_KEY: undefined }, "There is no API key for http:"],
    [{ LONGSHORE_API_KEY: "lsh_\n" }, "LONGSHORE_API_KEY must be an API key"],
  ])("states what to set with %j", async (changes, message) => {
    const { stderr, status } = await run(["api", "GET", "/v1/projects"], changes);
    expect(stderr).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(status).toBe(1);
  });

  it("states that nothing responds, and exits with 6", async () => {
    const LONGSHORE_URL = `http://127.0.0.1:${await findFreePort()}`;
    const changes = { LONGSHORE_URL };
    const { stderr, status } = await user.runProcess(["api", "GET", "/v1/projects"], { changes });
    expect(stderr).toMatch(
      /^There is no response: GET http:\S+: .*ECONNREFUSED.* Is the URL right, and is the service running\?\n$/,
    );
    expect(status).toBe(6);
  });

  it("states that a server is not Longshore", async () => {
    const page: RequestListener = (_, response) => response.end("<html>");
    const LONGSHORE_URL = await listen(page);
    const { stderr, status } = await run(["api", "GET", "/v1/projects"], { LONGSHORE_URL });
    expect(stderr).toContain("did not return JSON (status 200). Is it the address of a Longshore");
    expect(status).toBe(1);
  });

  it("creates one record if a proxy hides the first response, and prints the headers of an error", async () => {
    const keys: unknown[] = [];
    const LONGSHORE_URL = await listen(({ headers }, response) => {
      keys.push(headers["idempotency-key"]);
      const type = { "content-type": "application/json", "ratelimit-policy": "writes" };
      if (keys.length === 1) response.writeHead(502).end("<html>");
      else response.writeHead(409, type).end('{"code":"conflict","message":"It is taken."}');
    });
    const args = ["api", "POST", "/v1/projects", "name=a", "-i"];
    const { stdout, stderr, status } = await run(args, { LONGSHORE_URL });
    expect(stdout).toMatch(/^HTTP 409\n[\s\S]*ratelimit-policy: writes\n/);
    expect([stderr, status]).toEqual(["It is taken. (conflict, status 409)\n", 1]);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
  });
});

describe("longshore", () => {
  it("runs twice in one process, each with its own arguments, environment, folder and streams", async (context) => {
    const keys: unknown[] = [];
    const LONGSHORE_URL = await listen(async ({ headers }, response) => {
      keys.push(headers["x-api-key"]);
      // Both commands are running when the first of them gets its response.
      await expect.poll(() => keys.length).toBe(2);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ key: headers["x-api-key"] }));
    });
    const outcomes = await Promise.all(
      ["lsh_one", "lsh_two"].map(async (key) => {
        const own = new CliUser({ LONGSHORE_URL, LONGSHORE_API_KEY: key });
        context.onTestFinished(() => own.remove());
        const refused = own.run(["deploy", "--patch", "missing.json"]);
        const [shown, { stderr, status }] = await Promise.all([
          own.run(["api", "GET", "/v1/whoami", "--field", "key"]),
          refused,
        ]);
        return [shown, stderr.includes(join(own.folder, "missing.json")), status];
      }),
    );
    const shown = (key: string) => ({ stdout: `${key}\n`, stderr: "", status: 0 });
    expect(outcomes).toEqual([
      [shown("lsh_one"), true, 1],
      [shown("lsh_two"), true, 1],
    ]);
    expect(process.exitCode).toBe(undefined);
  });

  it("prints its commands with --help, and refuses other commands", async () => {
    const help = await user.runProcess(["--help"]);
    expect(help.stdout).toContain("Exit codes:");
    expect(help.status).toBe(0);
    const none = await run([]);
    expect(none.stderr).toMatch(/^Usage: longshore \[options\] \[command\]/);
    const unknown = await user.runProcess(["apis"]);
    expect(unknown.stderr).toBe(
      "unknown command 'apis'\n(Did you mean api?)\nAdd --help for the options and examples.\n",
    );
    expect([none.stdout, none.status, unknown.status]).toEqual(["", 1, 1]);
  });

  it("prints the help of every command, with the options of all", async () => {
    const commands = [
      "api",
      "login",
      "link",
      "keys create",
      "pools tokens create",
      "members set-role",
    ];
    for (const command of commands) {
      const { stdout, status } = await run([...command.split(" "), "--help"]);
      expect(stdout).toContain(`longshore ${command}`);
      expect(stdout).toContain("--profile <name>");
      expect(stdout).toMatch(/^ {2}\$ longshore /m);
      expect(status).toBe(0);
    }
  });
});
