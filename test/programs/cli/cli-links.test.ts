import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { newClient, useService } from "../support/service.ts";

const ANOTHER_USER = 54_321;

const service = useService();
let user: CliUser;
let name: string;
/** A clone, which has a link that the user has not written. */
let clone: string;
let link: string;

beforeEach(async () => {
  const client = await newClient(service);
  name = crypto.randomUUID();
  const project = await client.call("POST", "/v1/projects", { name });
  const variables = [{ name: "TOKEN", storage_method: "secret", value: "canary" }];
  const environment = `/v1/environments/${project.default_environment_id}`;
  await client.call("PUT", `${environment}/variables`, { mode: "merge", variables });
  user = CliUser.of(client);
  clone = join(user.folder, "clone");
  link = join(clone, ".longshore.json");
  mkdirSync(join(clone, "packages"), { recursive: true });
  writeLink();
});

const writeLink = (changes: object = {}) =>
  writeFileSync(link, JSON.stringify({ project: name, environment: "production", ...changes }));

const inClone = (args: string[], userId?: number) =>
  user.run(args, { folder: clone, ...(userId !== undefined && { userId }) });

const refusal = (target = `production of ${name}`) =>
  `${link} names ${target}, and you have neither written nor confirmed this file. Add --project and ` +
  "--environment, or confirm it: longshore link --confirm\n";

describe("a link that came with a clone", () => {
  it.each([
    [["deploy"]],
    [["deploy", "--dry-run"]],
    [["rollback"]],
    [["vars", "ls"]],
    [["vars", "get", "TOKEN"]],
    [["vars", "set", "A=1"]],
    [["vars", "pull", "--force"]],
    [["vars", "ls", "-e", "production"]],
    [["configuration", "get"]],
    [["environments", "ls"]],
    [["status"]],
  ])("is refused without a terminal, also in a folder below it: %j", async (args) => {
    const refused = { stdout: "", stderr: refusal(), status: 1 };
    expect(await inClone(args)).toEqual(refused);
    expect(await user.run(args, { folder: join(clone, "packages") })).toEqual(refused);
    const { stdout } = await user.run(["vars", "ls", "--json", "-p", name, "-e", "production"]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "TOKEN" }]);
  });

  it("gives no command the variables of the environment that it names", async () => {
    const args = ["run", "--", "sh", "-c", 'echo "$TOKEN"'];
    const refused = await user.runProcess(args, { folder: clone });
    expect(refused).toEqual({ stdout: "", stderr: refusal(), status: 1 });
    await inClone(["link", "--confirm"]);
    expect(await user.runProcess(args, { folder: clone })).toEqual({
      stdout: "canary\n",
      stderr: `Using production of ${name}, at ${service.url.origin}\n`,
      status: 0,
    });
  });

  it("does not matter if the options name both, or an ID", async () => {
    const both = ["-p", name, "-e", "production"];
    expect((await inClone(["vars", "get", "TOKEN", ...both])).stdout).toBe("canary");
    const { stdout } = await inClone(["environments", "ls", "-p", name, "--quiet"]);
    expect((await inClone(["vars", "get", "TOKEN", "-e", stdout.trim()])).stdout).toBe("canary");
    // The environment would be that of the link.
    const project = await inClone(["vars", "get", "TOKEN", "-p", name]);
    expect([project.stdout, project.stderr]).toEqual(["", refusal()]);
    const other = await inClone(["vars", "get", "TOKEN", "-p", "another"]);
    expect(other.stderr).toMatch(/^Name the environment with --environment, or link/);
    writeFileSync(link, "{");
    expect((await inClone(["vars", "get", "TOKEN", ...both])).stdout).toBe("canary");
  });

  it("is asked for once in a terminal, which shows where it leads", async () => {
    const args = ["vars", "get", "TOKEN"];
    const question = "Use this link?";
    const no = { text: question, answer: async () => "n" };
    const refused = await user.runAskedIn(clone, args, no);
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toContain(
      `${link} names production of ${name}, and you have neither written nor confirmed this file. ` +
        `Its names are looked up at ${service.url.origin}\n`,
    );
    const yes = { text: question, answer: async () => "y" };
    expect(await user.runAskedIn(clone, args, yes)).toMatchObject({
      stdout: "canary",
      status: 0,
    });
    const again = await user.runAskedIn(clone, args);
    expect([again.stdout, again.stderr.includes(question)]).toEqual(["canary", false]);
    expect((await inClone(args)).stdout).toBe("canary");
  });

  it("is refused again once it has changed, and in another folder", async () => {
    expect((await inClone(["link", "--confirm"])).stderr).toBe(
      `Confirmed production of ${name}, in ${link}\n`,
    );
    expect((await inClone(["status"])).status).toBe(0);
    writeLink({ environment: "other" });
    expect((await inClone(["status"])).stderr).toBe(refusal(`other of ${name}`));
    writeLink();
    expect((await inClone(["status"])).status).toBe(0);
    const other = join(user.folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, ".longshore.json"), readFileSync(link));
    expect((await user.run(["status"], { folder: other })).stderr).toContain("neither written");
  });

  it("is shown without its control characters, in one line", async () => {
    writeLink({ environment: "\u001b[2Jeu\nproduction" });
    const { stderr } = await inClone(["deploy"]);
    expect(stderr).toBe(refusal(`\\x1b[2Jeu\\x0aproduction of ${name}`));
  });

  it("gives no names to a completion, which asks nothing", async () => {
    const args = ["__names", "environments", "deploy"];
    const silent = await user.runAskedIn(clone, args);
    expect(silent).toEqual({ stdout: "", stderr: "", status: 0 });
    await inClone(["link", "--confirm"]);
    expect((await inClone(args)).stdout).toBe("production\n");
  });

  it("names no environment for longshore init --yes", async () => {
    const args = ["init", "--yes", "-p", name, "--stack", "web"];
    expect(await inClone(args)).toEqual({ stdout: "", stderr: refusal(), status: 1 });
    expect(existsSync(join(clone, "deploy.sh"))).toBe(false);
    expect((await inClone([...args, "-e", "production"])).status).toBe(0);
  });
});

describe("a link of another user", () => {
  it("is ignored, in the folder and above it", async () => {
    const missing = /^Name the environment with --environment, or link this folder/;
    expect((await inClone(["deploy"], ANOTHER_USER)).stderr).toMatch(missing);
    const below = { folder: join(clone, "packages"), userId: ANOTHER_USER };
    expect((await user.run(["deploy"], below)).stderr).toMatch(missing);
    // Not even if it has been confirmed, or cannot be read.
    await inClone(["link", "--confirm"]);
    expect((await inClone(["deploy"], ANOTHER_USER)).stderr).toMatch(missing);
    writeFileSync(link, "{");
    expect((await inClone(["deploy"], ANOTHER_USER)).stderr).toMatch(missing);
    const confirmed = await inClone(["link", "--confirm"], ANOTHER_USER);
    expect([confirmed.status, confirmed.stderr]).toEqual([
      1,
      "There is no .longshore.json of yours here or above. Run: longshore link PROJECT ENVIRONMENT\n",
    ]);
  });
});

describe("a link that the user has written", () => {
  it("is used, and is in a file that only they can read", async () => {
    const folder = join(user.folder, "own");
    mkdirSync(folder);
    expect((await user.run(["link", name, "production"], { folder })).status).toBe(0);
    expect((await user.run(["vars", "get", "TOKEN"], { folder })).stdout).toBe("canary");
    expect(statSync(join(user.folder, "config/links.json")).mode & 0o777).toBe(0o600);
  });

  it("is used through a symbolic link of theirs once that is confirmed", async () => {
    const folder = join(user.folder, "own");
    mkdirSync(folder);
    symlinkSync(link, join(folder, ".longshore.json"));
    await inClone(["link", "--confirm"]);
    expect((await user.run(["status"], { folder })).stderr).toContain("neither written");
    await user.run(["link", "--confirm"], { folder });
    expect((await user.run(["status"], { folder })).status).toBe(0);
  });

  it("needs no names beside --confirm, and no --confirm beside names", async () => {
    const { stderr, status } = await inClone(["link", name, "--confirm"]);
    expect([stderr, status]).toEqual([
      "--confirm is for the file that is there. Omit it, or the names.\n",
      1,
    ]);
  });
});
