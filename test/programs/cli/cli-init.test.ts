import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { InitUser, newName, RUNNER } from "../support/init-user.ts";
import { useService } from "../support/service.ts";

const service = useService();
let user: InitUser;

beforeEach(async () => {
  user = await InitUser.create(service);
});

describe("longshore init", () => {
  it("creates what the options name, links the folder, stores a token, and prints the command of the runner", async () => {
    const name = newName();
    const args = ["init", "-p", name, "-e", "staging", "-e", "eu", "--stack", "web"];
    const ended = await user.run([...args, "--stack", "jobs", "--with", "script"]);
    expect(ended).toMatchObject({ stdout: RUNNER, status: 0 });
    expect(await user.readSetUp(name)).toEqual({
      projects: 1,
      order: ["staging", "eu", "production"],
      stacks: { production: [], staging: ["jobs", "web"], eu: ["jobs", "web"] },
      pools: 1,
      covered: ["eu", "staging"],
      tokens: [hostname()],
    });
    expect(user.readJson(".longshore.json")).toEqual({ project: name, environment: "staging" });
    expect(statSync(user.inFolder("config/runners.json")).mode & 0o777).toBe(0o600);
    expect(await user.acceptsStoredToken()).toBe(true);
    expect(ended.stderr).not.toContain(user.storedToken);
    expect(statSync(user.inFolder("deploy.sh")).mode & 0o111).not.toBe(0);
  });

  it("uses what exists when it runs again, and adds what is new", async () => {
    const name = newName();
    const args = ["init", "-p", name, "-e", "staging", "--stack", "web", "--with", "script"];
    await user.run(args);
    writeFileSync(user.inFolder("deploy.sh"), "#!/bin/sh\nexit 0\n");
    const token = user.storedToken;
    const before = await user.readSetUp(name);
    const again = await user.run(args);
    expect(again).toMatchObject({ stdout: RUNNER, status: 0 });
    expect(again.stderr).not.toMatch(/Created|Wrote/);
    expect(await user.readSetUp(name)).toEqual(before);
    expect(user.storedToken).toBe(token);
    expect((await user.run([...args, "-e", "eu", "--stack", "jobs"])).status).toBe(0);
    expect(await user.readSetUp(name)).toEqual({
      ...before,
      order: ["staging", "eu", "production"],
      stacks: { production: [], staging: ["jobs", "web"], eu: ["jobs", "web"] },
      covered: ["eu", "staging"],
    });
    expect(readFileSync(user.inFolder("deploy.sh"), "utf8")).toBe("#!/bin/sh\nexit 0\n");
    expect(user.storedToken).toBe(token);
  });

  it("orders environments as they are named, and keeps an order that somebody chose", async () => {
    const name = newName();
    const init = async (...names: string[]) => {
      const environments = names.flatMap((each) => ["-e", each]);
      const args = ["init", "-p", name, ...environments, "--stack", "web", "--with", "script"];
      const { stderr } = await user.run(args);
      return { stderr, order: (await user.readSetUp(name)).order };
    };
    const created = await init("staging", "production");
    expect(created.order).toEqual(["staging", "production"]);
    expect(created.stderr).toContain("Order of the environments: staging, production.\n");
    const extended = await init("dev", "staging", "eu", "production");
    expect(extended.order).toEqual(["dev", "staging", "eu", "production"]);
    await user.run(["environments", "order", "production", "staging"]);
    const again = await init("dev", "staging", "eu", "production");
    expect(again.order).toEqual(["production", "staging", "dev", "eu"]);
    expect(again.stderr).not.toContain("Order of");
    expect((await init("us")).order).toEqual(["production", "staging", "dev", "eu", "us"]);
  });

  it("continues with --yes in a linked folder, and replaces a token that was revoked", async () => {
    const name = newName();
    await user.run(["init", "-p", name, "-e", "staging", "--stack", "web", "--yes"]);
    const token = user.storedToken;
    const tokens = `${user.organization}/runner-pools/${user.readJson("config/runners.json")[user.folder].pool_id}/tokens`;
    const { data } = await user.client.call("GET", tokens);
    await user.client.call("DELETE", `${tokens}/${data[0].id}`);
    expect(await user.acceptsStoredToken()).toBe(false);
    expect((await user.run(["init", "--yes", "--stack", "web"])).status).toBe(0);
    expect(user.storedToken).not.toBe(token);
    expect(await user.acceptsStoredToken()).toBe(true);
    expect(await user.readSetUp(name)).toMatchObject({
      stacks: { production: [], staging: ["web"] },
      tokens: [hostname()],
    });
  });

  it.each([
    ["/usr/local/bin/longshore", {}, "longshore"],
    ["/srv/a b/longshore.js", {}, "node '/srv/a b/longshore.js'"],
    ["/srv/longshore.js", { npm_lifecycle_event: "npx" }, "npx @longshore/cli"],
  ])(
    "prints the next command as it was started itself: %s, %j",
    async (program, changes, printed) => {
      const args = ["init", "-p", newName(), "-e", "staging", "--stack", "web", "--yes"];
      const { stdout, stderr } = await user.run([...args, "--exec", "make"], { program, changes });
      expect(stdout).toBe(`${printed} runner --exec make\n`);
      expect(stderr).toContain(`${printed} deploy --wait\n`);
    },
  );

  it("prints a command of the user, quoted, and writes no script", async () => {
    const name = newName();
    const args = ["init", "--yes", "-p", name, "--stack", "web"];
    const { stdout } = await user.run([...args, "--exec", "make DEST='a b' deploy"]);
    expect(stdout).toBe("longshore runner --exec 'make DEST='\\''a b'\\'' deploy'\n");
    expect(existsSync(user.inFolder("deploy.sh"))).toBe(false);
  });

  it("passes the credentials that are set, also when the script is there already", async () => {
    writeFileSync(user.inFolder("wrangler.jsonc"), "{}");
    const changes = {
      ...{ CLOUDFLARE_API_TOKEN: "canary", CLOUDFLARE_ACCOUNT_ID: "1" },
      npm_lifecycle_event: "npx",
    };
    const args = ["init", "--yes", "-p", newName(), "--stack", "web"];
    const command =
      "npx @longshore/cli runner --exec ./deploy.sh --pass-env CLOUDFLARE_API_TOKEN " +
      "--show-env CLOUDFLARE_ACCOUNT_ID\n";
    for (const times of [1, 2]) {
      const { stdout, stderr } = await user.run(args, { changes });
      expect([times, stdout]).toEqual([times, command]);
      expect(stderr).not.toContain("canary");
    }
  });

  it("takes IDs", async () => {
    const project = await user.client.call("POST", "/v1/projects", { name: newName() });
    const args = ["init", "--stack", "web", "--with", "script"];
    const both = ["-p", project.id, "-e", project.default_environment_id];
    expect((await user.run([...args, ...both])).status).toBe(0);
    expect(user.readJson(".longshore.json")).toEqual({
      project: project.id,
      environment: project.default_environment_id,
    });
    const missing = "1Cg8yK6FQpG43h8EDMqZ3E";
    const unknown = await user.run([...args, "-p", missing, "-e", "staging"]);
    expect(unknown.stderr).toBe(`There is no project with the ID ${missing}.\n`);
    const elsewhere = await user.run([...args, "-p", newName(), "-e", missing]);
    expect(elsewhere.stderr).toContain(`There is no environment with the ID ${missing}.`);
  });

  it.each([
    ["a b & $(touch pwned)'; \"", true],
    ["-rf", true],
    ["\u001b[2J", false],
    ["a\nb", false],
    ["x".repeat(101), false],
  ])("works in a folder that is called %j, or says why not", async (folder, isName) => {
    const name = `${folder}${isName ? crypto.randomUUID().slice(0, 8) : ""}`;
    mkdirSync(user.inFolder(name));
    const run = (...args: string[]) =>
      user.run(["init", "--yes", ...args], { folder: user.inFolder(name) });
    const ended = await run();
    if (isName) {
      expect(ended).toMatchObject({ stdout: RUNNER, status: 0 });
      const link = JSON.parse(readFileSync(join(user.inFolder(name), ".longshore.json"), "utf8"));
      expect(link).toEqual({ project: name, environment: "production" });
    } else {
      expect([ended.stdout, ended.status]).toEqual(["", 1]);
      expect(ended.stderr).toBe(
        "The name of this folder cannot be that of a project. Add --project NAME and --stack NAME.\n",
      );
      expect((await run("--project", newName(), "--stack", "web")).status).toBe(0);
    }
  });
});
