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
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { CliUser } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { newClient, type Service, useService } from "../support/service.ts";

const service = useService();
const other = useService({ ALLOW_NEW_ORGANIZATIONS: "true" });
let user: CliUser;

beforeEach(() => {
  user = new CliUser();
});

afterEach(() => user.remove());

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
