import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { cliCommand } from "../support/cli.ts";
import { InitUser, newName } from "../support/init-user.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { newClient, useService } from "../support/service.ts";

const REFUSED = {
  reply: 403,
  headers: { "content-type": "application/json" },
  body: '{"code":"forbidden","message":"Not now."}',
};
/** One try, and the repeats of the client. */
const TRIES = 4;

const service = useService();
let proxy: ScriptedProxy;
let user: InitUser;

beforeAll(async () => {
  proxy = await ScriptedProxy.start(service.url);
});

afterAll(() => proxy.close());

beforeEach(async () => {
  user = await InitUser.create(service);
});

describe("a longshore init that can't succeed", () => {
  it("names the options that it needs without a terminal, and creates nothing", async () => {
    const name = newName();
    const shop = user.inFolder(name);
    mkdirSync(shop);
    writeFileSync(join(shop, "main.tf"), "");
    const run = (...args: string[]) => user.run(["init", ...args], { folder: shop });
    const bare = await run();
    expect([bare.stdout, bare.status]).toEqual(["", 1]);
    expect(bare.stderr).toBe(
      `Without a terminal, add --project ${name} --environment production --stack ${name} --with terraform, or --yes to accept these.\n`,
    );
    const partly = await run("-p", "other", "--stack", "web", "--exec", "make deploy");
    expect(partly.stderr).toBe(
      "Without a terminal, add --environment production, or --yes to accept these.\n",
    );
    const command = await run("--yes", "--with", "command");
    expect(command.stderr).toBe("Add --exec COMMAND: what the runner runs for each stack.\n");
    const both = await run("--yes", "--with", "workers", "--exec", "make deploy");
    expect(both.stderr).toBe("--exec belongs to --with command. Omit one of them.\n");
    const unknown = await run("--with", "pulumi");
    expect(unknown.stderr).toContain("Allowed choices are script, workers, compose");
    expect(await user.readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
    expect(existsSync(join(shop, "deploy.sh"))).toBe(false);
    expect((await run("--yes")).status).toBe(0);
    expect(await user.readSetUp(name)).toMatchObject({
      stacks: { production: [name] },
      covered: ["production"],
    });
    expect(readFileSync(join(shop, "deploy.sh"), "utf8")).toContain("terraform apply");
  });

  it("leaves no part of a deploy.sh that it could not write", async () => {
    const name = newName();
    const args = ["init", "--yes", "-p", name, "--stack", "web", "--with", "kubernetes"];
    const [command, all] = cliCommand(args);
    // A block of 1,024 bytes: the first write is cut, and the second fails.
    const limited = 'ulimit -f 1; exec "$@"';
    const ended = spawnSync("bash", ["-c", limited, "bash", command, ...all], {
      cwd: user.folder,
      // Node would write to its cache at the end, and be killed for it.
      env: user.environment({ NODE_COMPILE_CACHE: undefined }) as NodeJS.ProcessEnv,
      encoding: "utf8",
    });
    expect(ended).toMatchObject({ stdout: "", status: 1, signal: null });
    expect(ended.stderr.split("\n").at(-2)).toBe(
      `Cannot write ${user.inFolder("deploy.sh")}: the file would be too large. Nothing was changed.`,
    );
    expect(existsSync(user.inFolder("deploy.sh"))).toBe(false);
    expect(await user.readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
    expect((await user.run(args)).status).toBe(0);
    const written = readFileSync(user.inFolder("deploy.sh"), "utf8");
    expect(written).toMatch(/; fi\n$/);
    expect(written.length).toBeGreaterThan(1_024);
  });

  it.each([
    [
      "is no file",
      () => mkdirSync(user.inFolder("deploy.sh")),
      "is not a file. Nothing was changed.",
    ],
    ["leads nowhere", () => symlinkSync("none", user.inFolder("deploy.sh")), "is not a file."],
    [
      "is not executable",
      () => writeFileSync(user.inFolder("deploy.sh"), "", { mode: 0o644 }),
      "is not executable. Run: chmod +x deploy.sh",
    ],
  ])("creates nothing if deploy.sh %s", async (_, make, message) => {
    make();
    const name = newName();
    const ended = await user.run(["init", "--yes", "-p", name, "--stack", "web"]);
    expect(ended.stderr).toContain(message);
    expect(ended.status).toBe(1);
    expect(await user.readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
  });

  it("says what is missing: a login, a role, a key that sees all projects", async () => {
    const name = newName();
    const args = ["init", "--yes", "-p", name, "--stack", "web"];
    const nobody = { LONGSHORE_API_KEY: undefined, LONGSHORE_URL: undefined };
    const unknown = await user.run(args, { changes: nobody });
    expect(unknown.stderr).toMatch(/^You are not logged in\. Run: longshore login/);
    const wrong = await user.run(args, { changes: { LONGSHORE_API_KEY: "lsh_wrong" } });
    expect(wrong.stderr).toMatch(/status 401.* Run: longshore login\n$/);
    const { key: LONGSHORE_API_KEY } = await newClient(service, { role: "member" });
    const member = await user.run(args, { changes: { LONGSHORE_API_KEY } });
    expect(member.stderr).toMatch(
      /^Runner pools need an admin of .*, and this key has the role member\./,
    );
    const { id } = await user.client.call("POST", "/v1/projects", { name: newName() });
    const keys = `${user.organization}/api-keys`;
    const narrow = await user.client.call("POST", keys, {
      name: "narrow",
      role: "admin",
      project_ids: [id],
    });
    const narrowed = await user.run(args, { changes: { LONGSHORE_API_KEY: narrow.key } });
    expect(narrowed.stderr).toMatch(/\(unauthorized, status 403, request [\w-]+\)/);
    for (const each of [unknown, wrong, member, narrowed]) {
      expect([each.stdout, each.status]).toEqual(["", 1]);
    }
    expect(await user.readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
  });
});

describe("a longshore init that fails in the middle", () => {
  const NAMES = ["-e", "staging", "-e", "eu", "--stack", "web", "--with", "script"];
  const complete = (tokens = [hostname()]) => ({
    projects: 1,
    order: ["staging", "eu", "production"],
    stacks: { production: [], staging: ["web"], eu: ["web"] },
    pools: 1,
    covered: ["eu", "staging"],
    tokens,
  });

  /** Which requests of a whole run write. */
  async function recordRun() {
    user = await InitUser.create(service, new URL(proxy.url));
    proxy.reset();
    const { status } = await user.run(["init", "-p", newName(), ...NAMES]);
    expect(status).toBe(0);
    return proxy.requests.map(({ method }) => method);
  }

  it("continues after each request that is refused", async () => {
    const methods = await recordRun();
    expect(methods.filter((method) => method === "POST")).toHaveLength(7);
    for (const at of methods.keys()) {
      user = await InitUser.create(service, new URL(proxy.url));
      const name = newName();
      proxy.reset(...Array.from({ length: at }, () => "none" as const), REFUSED);
      const failed = await user.run(["init", "-p", name, ...NAMES]);
      expect([at, failed.stdout, failed.status]).toEqual([at, "", 1]);
      expect(failed.stderr).toContain("Not now. (forbidden, status 403)");
      proxy.reset();
      expect((await user.run(["init", "-p", name, ...NAMES])).status).toBe(0);
      expect([at, await user.readSetUp(name)]).toEqual([at, complete()]);
      expect(await user.acceptsStoredToken()).toBe(true);
    }
  });

  it("creates nothing twice if the response to a creation is lost for good", async () => {
    const methods = await recordRun();
    const creations = [...methods.keys()].filter((at) => methods[at] === "POST");
    // The requests of each run wait for the repeats of the client.
    await Promise.all(
      creations.map(async (at) => {
        const own = await ScriptedProxy.start(service.url);
        const other = await InitUser.create(service, new URL(own.url));
        const name = newName();
        const lost = Array.from({ length: TRIES }, () => "lost response" as const);
        own.reset(...Array.from({ length: at }, () => "none" as const), ...lost);
        const failed = await other.run(["init", "-p", name, ...NAMES]);
        expect([at, failed.stdout, failed.status]).toEqual([at, "", 6]);
        own.reset();
        const again = await other.run(["init", "-p", name, ...NAMES]);
        expect([at, again.status]).toEqual([at, 0]);
        expect([at, await user.readSetUp(name)]).toEqual([at, complete()]);
        await own.close();
      }),
    );
  });

  it("says which file of the command line it cannot read, and creates nothing", async () => {
    const name = newName();
    const args = ["init", "-p", name, ...NAMES];
    mkdirSync(user.inFolder("config"));
    writeFileSync(user.inFolder("config/runners.json"), '{"/": {}}');
    const broken = await user.run(args);
    expect(broken.stderr).toMatch(
      /runners\.json is not a file of longshore\. Correct it, or delete it\.\n$/,
    );
    expect(await user.readSetUp(name)).toMatchObject({ projects: 0 });
    rmSync(user.inFolder("config/runners.json"));
    writeFileSync(user.inFolder(".longshore.json"), "[]");
    expect((await user.run(args)).stderr).toContain(".longshore.json is not a JSON object.");
    rmSync(user.inFolder(".longshore.json"));
    expect((await user.run(args)).status).toBe(0);
  });
});
