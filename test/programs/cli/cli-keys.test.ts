import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { ApiClient, newClient, useService } from "../support/service.ts";

const service = useService();
const other = useService({ ALLOW_NEW_ORGANIZATIONS: "true" });
let user: CliUser;

beforeEach(() => {
  user = new CliUser();
});

afterEach(() => user.remove());

/** Each key has its own rate limit. */
async function useNewKey(): Promise<void> {
  user = CliUser.of(await newClient(service));
}

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
