import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nameOf, readRemote } from "../../../packages/cli/src/git/remote.ts";
import { inOrder } from "../../../packages/cli/src/in-order.ts";
import type { Tool } from "../../../packages/cli/src/init/detect.ts";
import { settingsOf } from "../../../packages/cli/src/init/executor-plan.ts";
import { EXECUTORS } from "../../../packages/runner/src/executors/list.ts";
import { checkSettings } from "../../../packages/runner/src/executors/settings.ts";
import { CliUser, cliCommand } from "../support/cli.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { type ApiClient, newClient, type Parsed, useService } from "../support/service.ts";

const RETURN = "\r";
const RUNNER = "longshore runner --exec ./deploy.sh\n";
const REFUSED = {
  reply: 403,
  headers: { "content-type": "application/json" },
  body: '{"code":"forbidden","message":"Not now."}',
};
/** One try, and the repeats of the client. */
const TRIES = 4;

const service = useService();
let proxy: ScriptedProxy;
let client: ApiClient;
let user: CliUser;

beforeAll(async () => {
  proxy = await ScriptedProxy.start(service.url);
});

afterAll(() => proxy.close());

const organization = () => `/v1/orgs/${service.organizationId}`;

/** Each has its own folder and its own key. */
async function createUser(url = service.url): Promise<CliUser> {
  client = await newClient(service);
  return CliUser.of({ url, key: client.key });
}

beforeEach(async () => {
  user = await createUser();
});

const inFolder = (name: string) => join(user.folder, name);
const readJson = (name: string) => JSON.parse(readFileSync(inFolder(name), "utf8"));
const newName = () => `shop-${crypto.randomUUID().slice(0, 8)}`;

const namesOf = (list: Parsed) => list.data.map(({ name }: Parsed) => name).toSorted();

/** What exists of a project, by the API. */
async function readSetUp(name: string) {
  const projects = await client.call("GET", `/v1/projects?name=${name}`);
  const [project] = projects.data;
  const environments = project
    ? (await client.call("GET", `/v1/projects/${project.id}/environments`)).data
    : [];
  const stacks: Record<string, string[]> = {};
  for (const each of environments) {
    stacks[each.name] = namesOf(await client.call("GET", `/v1/environments/${each.id}/stacks`));
  }
  const pools = await client.call("GET", `${organization()}/runner-pools?name=${name}`);
  const [pool] = pools.data;
  const tokens = pool
    ? await client.call("GET", `${organization()}/runner-pools/${pool.id}/tokens`)
    : { data: [] };
  const covered = environments
    .filter(({ id }: Parsed) => pool?.environment_ids.includes(id))
    .map((each: Parsed) => each.name);
  return {
    projects: projects.data.length,
    order: inOrder<Parsed & { created_at: string }>(environments).map((each) => each["name"]),
    stacks,
    pools: pools.data.length,
    covered: covered.toSorted(),
    tokens: namesOf(tokens),
  };
}

const storedToken = () => {
  const { [user.folder]: stored } = readJson("config/runners.json");
  return stored?.token as string | undefined;
};

/** Whether the service accepts the stored token. */
async function acceptsStoredToken(): Promise<boolean> {
  const headers = { "x-api-key": storedToken() ?? "" };
  const response = await fetch(new URL("/v1/runner/attempts", service.url), { headers });
  return response.ok;
}

describe("longshore init", () => {
  it("creates what the options name, links the folder, stores a token, and prints the command of the runner", async () => {
    const name = newName();
    const args = ["init", "-p", name, "-e", "staging", "-e", "eu", "--stack", "web"];
    const ended = await user.run([...args, "--stack", "jobs", "--with", "script"]);
    expect(ended).toMatchObject({ stdout: RUNNER, status: 0 });
    expect(await readSetUp(name)).toEqual({
      projects: 1,
      order: ["staging", "eu", "production"],
      stacks: { production: [], staging: ["jobs", "web"], eu: ["jobs", "web"] },
      pools: 1,
      covered: ["eu", "staging"],
      tokens: [hostname()],
    });
    expect(readJson(".longshore.json")).toEqual({ project: name, environment: "staging" });
    expect(statSync(inFolder("config/runners.json")).mode & 0o777).toBe(0o600);
    expect(await acceptsStoredToken()).toBe(true);
    expect(ended.stderr).not.toContain(storedToken());
    expect(statSync(inFolder("deploy.sh")).mode & 0o111).not.toBe(0);
  });

  it("uses what exists when it runs again, and adds what is new", async () => {
    const name = newName();
    const args = ["init", "-p", name, "-e", "staging", "--stack", "web", "--with", "script"];
    await user.run(args);
    writeFileSync(inFolder("deploy.sh"), "#!/bin/sh\nexit 0\n");
    const token = storedToken();
    const before = await readSetUp(name);
    const again = await user.run(args);
    expect(again).toMatchObject({ stdout: RUNNER, status: 0 });
    expect(again.stderr).not.toMatch(/Created|Wrote/);
    expect(await readSetUp(name)).toEqual(before);
    expect(storedToken()).toBe(token);
    expect((await user.run([...args, "-e", "eu", "--stack", "jobs"])).status).toBe(0);
    expect(await readSetUp(name)).toEqual({
      ...before,
      order: ["staging", "eu", "production"],
      stacks: { production: [], staging: ["jobs", "web"], eu: ["jobs", "web"] },
      covered: ["eu", "staging"],
    });
    expect(readFileSync(inFolder("deploy.sh"), "utf8")).toBe("#!/bin/sh\nexit 0\n");
    expect(storedToken()).toBe(token);
  });

  it("orders environments as they are named, and keeps an order that somebody chose", async () => {
    const name = newName();
    const init = async (...names: string[]) => {
      const environments = names.flatMap((each) => ["-e", each]);
      const args = ["init", "-p", name, ...environments, "--stack", "web", "--with", "script"];
      const { stderr } = await user.run(args);
      return { stderr, order: (await readSetUp(name)).order };
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
    const token = storedToken();
    const tokens = `${organization()}/runner-pools/${readJson("config/runners.json")[user.folder].pool_id}/tokens`;
    const { data } = await client.call("GET", tokens);
    await client.call("DELETE", `${tokens}/${data[0].id}`);
    expect(await acceptsStoredToken()).toBe(false);
    expect((await user.run(["init", "--yes", "--stack", "web"])).status).toBe(0);
    expect(storedToken()).not.toBe(token);
    expect(await acceptsStoredToken()).toBe(true);
    expect(await readSetUp(name)).toMatchObject({
      stacks: { production: [], staging: ["web"] },
      tokens: [hostname()],
    });
  });

  it("names the options that it needs without a terminal, and creates nothing", async () => {
    const name = newName();
    const shop = inFolder(name);
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
    expect(await readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
    expect(existsSync(join(shop, "deploy.sh"))).toBe(false);
    expect((await run("--yes")).status).toBe(0);
    expect(await readSetUp(name)).toMatchObject({
      stacks: { production: [name] },
      covered: ["production"],
    });
    expect(readFileSync(join(shop, "deploy.sh"), "utf8")).toContain("terraform apply");
  });

  it("asks in a terminal, and proposes what the folder shows", async () => {
    const name = newName();
    writeFileSync(inFolder("compose.yaml"), "services: {}\n");
    const asked = await user.runAsked(
      ["init"],
      { text: "Project", answer: async () => name + RETURN },
      { text: "Environments", answer: async () => `staging, ${RETURN}` },
      { text: "Stacks", answer: async () => `web, jobs${RETURN}` },
      { text: "docker compose (compose.yaml)", answer: async () => RETURN },
    );
    expect(asked).toMatchObject({ stdout: RUNNER, status: 0 });
    expect(await readSetUp(name)).toMatchObject({
      stacks: { production: [], staging: ["jobs", "web"] },
      covered: ["staging"],
    });
    expect(readFileSync(inFolder("deploy.sh"), "utf8")).toContain("docker compose up");
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
    expect(existsSync(inFolder("deploy.sh"))).toBe(false);
  });

  it("passes the credentials that are set, also when the script is there already", async () => {
    writeFileSync(inFolder("wrangler.jsonc"), "{}");
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

  it("asks before it uses a project that only has the name of the folder", async () => {
    const name = newName();
    const shop = inFolder(name);
    mkdirSync(shop);
    await client.call("POST", "/v1/projects", { name });
    const before = await readSetUp(name);
    const refused = await user.run(["init", "--yes"], { folder: shop });
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toBe(
      `There is a project "${name}" already. Add --project ${name} to use it, or name another one. Nothing was changed.\n`,
    );
    const args = ["init", "-e", "production", "--stack", "web", "--with", "script"];
    const question = { text: `There is a project "${name}" already. Use it?` };
    const answer = (text: string) =>
      user.runAskedIn(
        shop,
        args,
        { text: "Project", answer: async () => RETURN },
        { ...question, answer: async () => text },
      );
    expect((await answer("n")).stderr).toContain("Nothing was changed.");
    expect(await readSetUp(name)).toEqual(before);
    expect(existsSync(join(shop, "deploy.sh"))).toBe(false);
    expect((await answer("y")).status).toBe(0);
    expect(await readSetUp(name)).toMatchObject({ projects: 1, stacks: { production: ["web"] } });
  });

  it("asks before it uses the project of a .longshore.json that is not the user's own", async () => {
    const name = newName();
    await client.call("POST", "/v1/projects", { name });
    const before = await readSetUp(name);
    const clone = inFolder("clone");
    mkdirSync(clone);
    writeFileSync(join(clone, ".longshore.json"), JSON.stringify({ project: name }));
    const refused = await user.run(["init", "--yes"], { folder: clone });
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toContain(`Add --project ${name} to use it`);
    const args = ["init", "-e", "production", "--stack", "web", "--with", "script"];
    const asked = await user.runAskedIn(
      clone,
      args,
      { text: "Project", answer: async () => RETURN },
      { text: `There is a project "${name}" already. Use it?`, answer: async () => "n" },
    );
    expect(asked.stderr).toContain("Nothing was changed.");
    expect(await readSetUp(name)).toEqual(before);
    expect(existsSync(join(clone, "deploy.sh"))).toBe(false);
    expect((await user.run([...args, "-p", name], { folder: clone })).status).toBe(0);
    // The folder is the user's own from now on.
    expect((await user.run(["init", "--yes"], { folder: clone })).status).toBe(0);
    expect(await readSetUp(name)).toMatchObject({ projects: 1, pools: 1 });
    // Not with another service.
    const changes = { LONGSHORE_URL: proxy.url };
    const elsewhere = await user.run(["init", "--yes"], { folder: clone, changes });
    expect([elsewhere.status, elsewhere.stderr]).toEqual([1, refused.stderr]);
  });

  it("asks before it uses a pool that has environments of other projects", async () => {
    const [name, other] = [newName(), newName()];
    const pools = `${organization()}/runner-pools`;
    const { default_environment_id } = await client.call("POST", "/v1/projects", { name: other });
    const body = { name, environment_ids: [default_environment_id] };
    const pool = await client.call("POST", pools, body);
    const args = ["init", "-p", name, "-e", "staging", "--stack", "web", "--with", "script"];
    const before = await readSetUp(name);
    const refused = await user.run([...args, "--yes"]);
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toBe(
      `The runner pool "${name}" has environments of other projects, and a runner of this folder would deploy them, too. Add --pool NAME for another pool, or --pool ${name} to use this one. Nothing was changed.\n`,
    );
    const answer = (text: string) =>
      user.runAsked(args, { text: "would deploy them, too. Use it?", answer: async () => text });
    expect((await answer("n")).stderr).toContain("Nothing was changed.");
    expect(await readSetUp(name)).toEqual(before);
    expect(await client.call("GET", `${pools}/${pool.id}`)).toMatchObject(body);
    expect(existsSync(inFolder("deploy.sh"))).toBe(false);
    // Another pool.
    const own = `own-${name}`;
    expect((await user.run([...args, "--pool", own])).status).toBe(0);
    expect((await client.call("GET", `${pools}?name=${own}`)).data).toHaveLength(1);
    expect(await readSetUp(name)).toMatchObject({ pools: 1, covered: [], tokens: [] });
    // This one, which the folder has from then on.
    const missing = await user.run([...args, "--pool", "1Cg8yK6FQpG43h8EDMqZ3E"]);
    expect(missing.stderr).toBe("There is no runner pool with the ID 1Cg8yK6FQpG43h8EDMqZ3E.\n");
    expect((await answer("y")).status).toBe(0);
    expect((await user.run([...args, "-e", "eu", "--yes"])).status).toBe(0);
    expect(await readSetUp(name)).toMatchObject({ pools: 1, covered: ["eu", "staging"] });
    const { environment_ids } = await client.call("GET", `${pools}/${pool.id}`);
    expect(environment_ids).toContain(default_environment_id);
    expect(environment_ids).toHaveLength(3);
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
      `Cannot write ${inFolder("deploy.sh")}: the file would be too large. Nothing was changed.`,
    );
    expect(existsSync(inFolder("deploy.sh"))).toBe(false);
    expect(await readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
    expect((await user.run(args)).status).toBe(0);
    const written = readFileSync(inFolder("deploy.sh"), "utf8");
    expect(written).toMatch(/; fi\n$/);
    expect(written.length).toBeGreaterThan(1_024);
  });

  it("takes IDs", async () => {
    const project = await client.call("POST", "/v1/projects", { name: newName() });
    const args = ["init", "--stack", "web", "--with", "script"];
    const both = ["-p", project.id, "-e", project.default_environment_id];
    expect((await user.run([...args, ...both])).status).toBe(0);
    expect(readJson(".longshore.json")).toEqual({
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
    mkdirSync(inFolder(name));
    const run = (...args: string[]) =>
      user.run(["init", "--yes", ...args], { folder: inFolder(name) });
    const ended = await run();
    if (isName) {
      expect(ended).toMatchObject({ stdout: RUNNER, status: 0 });
      const link = JSON.parse(readFileSync(join(inFolder(name), ".longshore.json"), "utf8"));
      expect(link).toEqual({ project: name, environment: "production" });
    } else {
      expect([ended.stdout, ended.status]).toEqual(["", 1]);
      expect(ended.stderr).toBe(
        "The name of this folder cannot be that of a project. Add --project NAME and --stack NAME.\n",
      );
      expect((await run("--project", newName(), "--stack", "web")).status).toBe(0);
    }
  });

  it.each([
    ["is no file", () => mkdirSync(inFolder("deploy.sh")), "is not a file. Nothing was changed."],
    ["leads nowhere", () => symlinkSync("none", inFolder("deploy.sh")), "is not a file."],
    [
      "is not executable",
      () => writeFileSync(inFolder("deploy.sh"), "", { mode: 0o644 }),
      "is not executable. Run: chmod +x deploy.sh",
    ],
  ])("creates nothing if deploy.sh %s", async (_, make, message) => {
    make();
    const name = newName();
    const ended = await user.run(["init", "--yes", "-p", name, "--stack", "web"]);
    expect(ended.stderr).toContain(message);
    expect(ended.status).toBe(1);
    expect(await readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
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
    const { id } = await client.call("POST", "/v1/projects", { name: newName() });
    const keys = `${organization()}/api-keys`;
    const narrow = await client.call("POST", keys, {
      name: "narrow",
      role: "admin",
      project_ids: [id],
    });
    const narrowed = await user.run(args, { changes: { LONGSHORE_API_KEY: narrow.key } });
    expect(narrowed.stderr).toMatch(/\(unauthorized, status 403, request [\w-]+\)/);
    for (const each of [unknown, wrong, member, narrowed]) {
      expect([each.stdout, each.status]).toEqual(["", 1]);
    }
    expect(await readSetUp(name)).toMatchObject({ projects: 0, pools: 0 });
  });
});

describe("longshore init in a git repository with a remote", () => {
  const git = (...args: string[]) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    expect(spawnSync("git", args, { cwd: user.folder, env }).status).toBe(0);
  };
  const initialize = (remote: string) => {
    git("init", "--quiet");
    git("remote", "add", "origin", remote);
  };
  const configurations = async (name: string) => {
    const [project] = (await client.call("GET", `/v1/projects?name=${name}`)).data;
    const { data } = await client.call("GET", `/v1/projects/${project.id}/environments`);
    return Object.fromEntries(data.map((each: Parsed) => [each.name, each.configuration]));
  };

  it("names the executor of each stack in the configuration, and prints the runner's options", async () => {
    initialize("git@github.com:Acme/shop.git");
    writeFileSync(inFolder("wrangler.toml"), 'name = "shop"\n');
    const name = newName();
    const args = ["init", "-p", name, "-e", "staging", "-e", "eu", "--stack", "web", "--stack"];
    const changes = { CLOUDFLARE_API_TOKEN: "canary" };
    const ended = await user.run([...args, "jobs", "--yes"], { changes });
    expect(ended).toMatchObject({
      stdout:
        "longshore runner --executor workers --repository github:Acme/shop --pass-env CLOUDFLARE_API_TOKEN\n",
      status: 0,
    });
    expect(ended.stderr).toContain("docs/deploy-with/workers.md");
    expect(ended.stderr).not.toContain("canary");
    const stack = { executor: "workers", environment: "${environment.name}" };
    const configuration = { stacks: { web: stack, jobs: stack } };
    expect(await configurations(name)).toEqual({
      production: {},
      staging: configuration,
      eu: configuration,
    });
    expect(existsSync(inFolder("deploy.sh"))).toBe(false);
  });

  it("keeps what the configuration has, and the executor of a stack", async () => {
    initialize("https://gitlab.com/acme/group/shop");
    const name = newName();
    const project = await client.call("POST", "/v1/projects", { name });
    const path = `/v1/environments/${project.default_environment_id}`;
    const own = { executor: "acme", size: 2 };
    const put = (stacks: unknown) =>
      client.call("PUT", path, { name: "production", configuration: { replicas: 2, stacks } });
    await put({ web: own });
    const args = ["init", "--yes", "-p", name, "--stack", "web", "--stack", "jobs"];
    const ended = await user.run([...args, "--with", "workers"]);
    expect(ended.stdout).toBe(
      "longshore runner --executor workers --repository gitlab:acme/group/shop\n",
    );
    expect(ended.stderr).toContain("Uses the executor of web in the configuration of production.");
    expect(ended.stderr).toContain("Set the executor of jobs in the configuration of production.");
    const jobs = { executor: "workers", environment: "${environment.name}" };
    const after = { production: { replicas: 2, stacks: { web: own, jobs } } };
    expect(await configurations(name)).toEqual(after);
    const before = await client.call("GET", path);
    expect((await user.run([...args, "--with", "workers"])).status).toBe(0);
    expect((await client.call("GET", path)).updated_at).toBe(before.updated_at);

    await put(["web"]);
    const refused = await user.run([...args, "--with", "workers"]);
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toContain("/stacks is no object in the configuration of production");
    await put({ jobs: { size: 2 } });
    const wrong = await user.run([...args, "--with", "workers"]);
    expect(wrong.stderr).toContain("/stacks/jobs/size is no setting of the executor workers.");
    expect(await configurations(name)).toEqual({
      production: { replicas: 2, stacks: { jobs: { size: 2 } } },
    });
  });

  it("writes paths of a folder in the repository, and a script that the runner checks out", async () => {
    initialize("ssh://git@bitbucket.org/acme/shop");
    const folder = inFolder("apps/site");
    mkdirSync(folder, { recursive: true });
    const name = newName();
    const args = ["init", "--yes", "-p", name, "--stack", "web"];
    const ended = await user.run([...args, "--with", "script"], { folder });
    expect(ended.stdout).toBe(
      "longshore runner --executor script --repository bitbucket:acme/shop\n",
    );
    expect(ended.stderr).toContain("Commit deploy.sh");
    expect(statSync(join(folder, "deploy.sh")).mode & 0o111).not.toBe(0);
    expect(await configurations(name)).toEqual({
      production: { stacks: { web: { executor: "script", path: "apps/site/deploy.sh" } } },
    });
    // The script that is there now is a command of the folder, unless the executor is asked for.
    const command = await user.run(args, { folder });
    expect(command.stdout).toBe(RUNNER);
  });

  it("has the URL of any other remote, quoted where a shell would read more than a URL", async () => {
    initialize("https://ada:canary@git.example.com/acme/shop;id");
    writeFileSync(inFolder("wrangler.toml"), "");
    const args = ["init", "--yes", "--stack", "web", "-p", newName()];
    const { stdout, stderr } = await user.run(args);
    expect(stdout).toBe(
      "longshore runner --executor workers --repository 'https://git.example.com/acme/shop;id'\n",
    );
    expect(stderr).not.toContain("canary");
  });

  it("runs a command without a remote that it could fetch", async () => {
    writeFileSync(inFolder("wrangler.toml"), "");
    const args = ["init", "--yes", "--stack", "web"];
    const expectCommand = async () => {
      const { stdout, stderr } = await user.run([...args, "-p", newName()]);
      expect(stdout).toBe(RUNNER);
      expect(stderr).toContain("The folder has no git remote `origin` with https, ssh or file");
      rmSync(inFolder("deploy.sh"));
    };
    await expectCommand();
    git("init", "--quiet");
    await expectCommand();
    git("remote", "add", "origin", "http://git.example.com/acme/shop.git");
    await expectCommand();
    // Also without git.
    const name = newName();
    const changes = { PATH: "/nonexistent" };
    const { stdout } = await user.run([...args, "-p", name], { changes });
    expect(stdout).toBe(RUNNER);
  });

  it.each([
    ["git@github.com:acme/shop.git", "github:acme/shop"],
    ["https://github.com/acme/shop", "github:acme/shop"],
    ["https://github.com/acme/shop.git/", "github:acme/shop"],
    ["https://ada:canary@github.com/acme/shop.js.git", "github:acme/shop.js"],
    ["ssh://git@github.com:22/acme/shop.git", "github:acme/shop"],
    ["git@gitlab.com:acme/group/shop.git", "gitlab:acme/group/shop"],
    ["https://bitbucket.org/acme/shop.git", "bitbucket:acme/shop"],
    ["https://github.com.example.com/acme/shop", "https://github.com.example.com/acme/shop"],
    ["https://example.com/github.com/acme/shop", "https://example.com/github.com/acme/shop"],
    ["https://ada:canary@git.example.com/acme/shop", "https://git.example.com/acme/shop"],
    ["ssh://git:canary@git.example.com/shop.git", "ssh://git@git.example.com/shop.git"],
    ["git@git.example.com:acme/shop.git", "ssh://git@git.example.com/acme/shop.git"],
    ["git.example.com:/srv/shop.git", "ssh://git.example.com/srv/shop.git"],
    ["/srv/git/shop.git", "file:///srv/git/shop.git"],
    ["../hello.git/", "file:///work/hello.git"],
    ["file:///github.com/acme/shop", "file:///github.com/acme/shop"],
    ["http://git.example.com/acme/shop", undefined],
    ["git://git.example.com/acme/shop", undefined],
    ["https://git.example.com", undefined],
    ["ext::sh -c id", undefined],
    ["", undefined],
  ])("reads the remote %s as %s", (remote, repository) => {
    const read = readRemote(remote, "/work/shop");
    expect(read && nameOf(read)).toBe(repository);
    expect(JSON.stringify(read ?? null)).not.toContain("canary");
  });

  it("has settings that the executors accept, in a folder and at the root", () => {
    for (const { name, settings } of EXECUTORS) {
      for (const prefix of ["", "apps/shop/"]) {
        for (const path of [undefined, "file.yaml"]) {
          const values = settingsOf(name as Tool, path, { prefix });
          expect([name, values]).not.toEqual([name, undefined]);
          const given = { pointer: "/stacks/web", values: values ?? {} };
          expect(checkSettings({ name, settings }, given)).toEqual([]);
        }
      }
    }
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
    user = await createUser(new URL(proxy.url));
    proxy.reset();
    const { status } = await user.run(["init", "-p", newName(), ...NAMES]);
    expect(status).toBe(0);
    return proxy.requests.map(({ method }) => method);
  }

  it("continues after each request that is refused", async () => {
    const methods = await recordRun();
    expect(methods.filter((method) => method === "POST")).toHaveLength(7);
    for (const at of methods.keys()) {
      user = await createUser(new URL(proxy.url));
      const name = newName();
      proxy.reset(...Array.from({ length: at }, () => "none" as const), REFUSED);
      const failed = await user.run(["init", "-p", name, ...NAMES]);
      expect([at, failed.stdout, failed.status]).toEqual([at, "", 1]);
      expect(failed.stderr).toContain("Not now. (forbidden, status 403)");
      proxy.reset();
      expect((await user.run(["init", "-p", name, ...NAMES])).status).toBe(0);
      expect([at, await readSetUp(name)]).toEqual([at, complete()]);
      expect(await acceptsStoredToken()).toBe(true);
    }
  });

  it("creates nothing twice if the response to a creation is lost for good", async () => {
    const methods = await recordRun();
    const creations = [...methods.keys()].filter((at) => methods[at] === "POST");
    // The requests of each run wait for the repeats of the client.
    await Promise.all(
      creations.map(async (at) => {
        const own = await ScriptedProxy.start(service.url);
        const { key } = await newClient(service);
        const other = CliUser.of({ url: new URL(own.url), key });
        const name = newName();
        const lost = Array.from({ length: TRIES }, () => "lost response" as const);
        own.reset(...Array.from({ length: at }, () => "none" as const), ...lost);
        const failed = await other.run(["init", "-p", name, ...NAMES]);
        expect([at, failed.stdout, failed.status]).toEqual([at, "", 6]);
        own.reset();
        const again = await other.run(["init", "-p", name, ...NAMES]);
        expect([at, again.status]).toEqual([at, 0]);
        expect([at, await readSetUp(name)]).toEqual([at, complete()]);
        await own.close();
      }),
    );
  });

  it("says which file of the command line it cannot read, and creates nothing", async () => {
    const name = newName();
    const args = ["init", "-p", name, ...NAMES];
    mkdirSync(inFolder("config"));
    writeFileSync(inFolder("config/runners.json"), '{"/": {}}');
    const broken = await user.run(args);
    expect(broken.stderr).toMatch(
      /runners\.json is not a file of longshore\. Correct it, or delete it\.\n$/,
    );
    expect(await readSetUp(name)).toMatchObject({ projects: 0 });
    rmSync(inFolder("config/runners.json"));
    writeFileSync(inFolder(".longshore.json"), "[]");
    expect((await user.run(args)).stderr).toContain(".longshore.json is not a JSON object.");
    rmSync(inFolder(".longshore.json"));
    expect((await user.run(args)).status).toBe(0);
  });
});

describe("longshore runner after longshore init", () => {
  const help = (...args: string[]) => user.runProcess(["runner", ...args]);

  it("needs no URL and no token in the folder, and takes others if they are given", async () => {
    const args = ["init", "-p", newName(), "-e", "staging", "--stack", "web", "--with", "script"];
    const environment = { LONGSHORE_URL: undefined, LONGSHORE_API_KEY: undefined };
    await user.run(args);
    mkdirSync(inFolder("inside"));
    const once = ["runner", "--exec", "true", "--once", "--deployment", "no ID"];
    const ended = await user.runProcess(once, { changes: environment });
    expect(ended.stdout).toContain(`Waiting for deployments of ${service.url.origin}`);
    // The service has accepted the token, and refuses the ID.
    expect(ended.stderr).toMatch(/^POST \/v1\/runner\/claims: 400 bad_input/);
    // A clone inside of the folder gets no token.
    const inside = { folder: inFolder("inside"), changes: environment };
    const below = await user.runProcess(once, inside);
    expect([below.stdout, below.status]).toEqual(["", 2]);
    expect(below.stderr).toContain("Set --url to the URL of the API");
    const elsewhere = await help("--exec", "true", "--url", "http://127.0.0.1:9");
    expect(elsewhere.stderr).toBe(
      `The token that longshore init has stored for this folder is for ${service.url.origin}. Leave out --url, or pass another token with --token-file PATH.\n`,
    );
    writeFileSync(inFolder("runner.token"), "lsr_wrong\n", { mode: 0o600 });
    const given = ["--url", service.url.origin, "--token-file", "runner.token"];
    const refused = await help("--exec", "true", ...given);
    expect(refused.stderr).toContain("401 unauthenticated");
    expect([elsewhere.status, refused.status]).toEqual([2, 1]);
  });

  it("deploys what the pool of its own folder has, and not that of another folder", async () => {
    const folders = ["one", "two"].map(inFolder);
    const deployments: string[] = [];
    for (const folder of folders) {
      mkdirSync(folder);
      const script = "#!/bin/sh\necho run in $(pwd)\n";
      writeFileSync(join(folder, "deploy.sh"), script, { mode: 0o755 });
      expect((await user.run(["init", "--yes", "-p", newName()], { folder })).status).toBe(0);
      deployments.push((await user.run(["deploy", "--quiet"], { folder })).stdout.trim());
    }
    for (const folder of folders.toReversed()) {
      const args = ["runner", "--exec", "./deploy.sh", "--once"];
      const ended = await user.runProcess(args, { folder });
      expect([ended.stderr, ended.status]).toEqual(["", 0]);
      const id = deployments[folders.indexOf(folder)];
      expect(ended.stdout).toContain(`Deployment ${id}: succeeded.`);
      expect(ended.stdout).toContain(`run in ${folder}`);
    }
    // A link of a stranger's folder chooses no token.
    const copied = inFolder("copied");
    mkdirSync(copied);
    cpSync(join(inFolder("one"), ".longshore.json"), join(copied, ".longshore.json"));
    const ended = await user.runProcess(["runner", "--exec", "true"], { folder: copied });
    expect(ended.stderr).toContain("Set --url to the URL of the API");
  });

  it("needs them elsewhere, also if the token was not confirmed", async () => {
    const stored = { url: service.url.origin, pool_id: "1", request: "1" };
    mkdirSync(inFolder("config"));
    writeFileSync(inFolder("config/runners.json"), JSON.stringify({ [user.folder]: stored }));
    const ended = await help("--exec", "true", "--url", service.url.origin);
    expect(ended.stderr).toContain("Set either --token-file");
    writeFileSync(inFolder("config/runners.json"), "{}");
    const other = await help("--exec", "true");
    expect(other.stderr).toContain("Set --url to the URL of the API");
    expect([ended.status, other.status]).toEqual([2, 2]);
    // What is not needed is not read.
    writeFileSync(inFolder("config/runners.json"), "[]");
    expect((await help("--exec", "true")).stderr).toContain("runners.json is not a JSON object.");
    const given = await help("--exec", "true", "--token-file", "none");
    expect(given.stderr).toContain("Set --url to the URL of the API");
  });
});
