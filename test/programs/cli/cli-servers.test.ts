import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { explain } from "../../../packages/cli/src/errors.ts";
import { ConnectionError } from "../../../packages/client/src/index.ts";
import { CliUser, cliCommand } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { useService } from "../support/service.ts";

const service = useService();
let user: CliUser;

beforeEach(() => {
  user = new CliUser();
});

afterEach(() => user.remove());

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal must not get.
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

const profilesFile = () => join(user.folder, "config/profiles.json");

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
