import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { parse } from "dotenv";
import { beforeEach, describe, expect, it } from "vitest";
import { CliUser, cliCommand } from "../support/cli.ts";
import { type ApiClient, newClient, type Parsed, useService } from "../support/service.ts";

const CANARY = "canary-of-a-password";

const service = useService();
let client: ApiClient;
let user: CliUser;
let production: Parsed;
let staging: Parsed;
let component: Parsed;

beforeEach(async () => {
  client = await newClient(service);
  const project = await client.call("POST", "/v1/projects", { name: crypto.randomUUID() });
  const environments = `/v1/projects/${project.id}/environments`;
  production = { id: project.default_environment_id };
  staging = await client.call("POST", environments, { name: "staging" });
  const components = `/v1/environments/${production.id}/components`;
  component = await client.call("POST", components, { name: "web", kind: "service" });
  user = CliUser.of(client);
  await user.link({ project: project.id, environment: "production" });
});

const vars = (args: string[], input?: string) =>
  user.run(["vars", ...args], input === undefined ? {} : { input });

const startVars = (args: string[], input = "") => user.runProcess(["vars", ...args], { input });

const inFolder = (name: string) => join(user.folder, name);

async function put(values: Record<string, string>, path = `/v1/environments/${production.id}`) {
  const variables = Object.entries(values).map(([name, value]) => {
    return { name, storage_method: "secret", value };
  });
  await client.call("PUT", `${path}/variables`, { mode: "merge", variables });
}

/** The names, methods and values of an environment or a component. */
async function read(path = `/v1/environments/${production.id}`) {
  const { data } = await client.call("GET", `${path}/variables?limit=240&sort_by=created_at`);
  const entries = data.map(async ({ id, name, storage_method }: Parsed) => {
    const { value } = await client.call("GET", `/v1/variables/${id}/value`);
    return [name, [storage_method, value]];
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe("longshore vars", () => {
  it("lists names, and values only with --reveal, which it says is recorded", async () => {
    await put({ B_TOKEN: CANARY, A_URL: "postgres://x" });
    const plain = await vars(["ls"]);
    expect([plain.stderr, plain.status]).toEqual(["", 0]);
    expect(plain.stdout).toMatch(
      /^NAME +SENSITIVE +METHOD +VERSION +UPDATED\nA_URL +yes +secret +1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\nB_TOKEN /,
    );
    const json = await vars(["ls", "--json"]);
    expect(plain.stdout + json.stdout).not.toContain(CANARY);
    const revealed = await vars(["ls", "--json", "--reveal"]);
    expect(JSON.parse(revealed.stdout)[1]).toMatchObject({ name: "B_TOKEN", value: CANARY });
    expect(revealed.stderr).toContain("audit log records");
    expect(revealed.stderr).not.toContain(CANARY);
    const empty = await vars(["ls", "-e", "staging"]);
    expect([empty.stdout, empty.stderr]).toEqual([
      "",
      "There are no variables in the environment staging.\n",
    ]);
  });

  it("keeps the variables of two environments and of a component apart", async () => {
    await put({ NAME: "of production" });
    await put({ NAME: "of staging" }, `/v1/environments/${staging.id}`);
    await put({ NAME: "of web" }, `/v1/components/${component.id}`);
    expect((await vars(["get", "NAME"])).stdout).toBe("of production");
    expect((await vars(["get", "NAME", "-e", "staging"])).stdout).toBe("of staging");
    expect((await vars(["get", "NAME", "--component", "web"])).stdout).toBe("of web");
    expect((await vars(["get", "NAME", "--component", component.id])).stdout).toBe("of web");
    const missing = await vars(["get", "OTHER", "-e", "staging"]);
    expect(missing.stderr).toBe(
      "There is no variable OTHER in the environment staging. Run: longshore vars ls\n",
    );
    expect([missing.stdout, missing.status]).toEqual(["", 1]);
  });

  it("sets values from stdin and arguments, and shows none of them", async () => {
    await put({ OLD: "before" });
    const value = `${CANARY}\n  'two' = "lines" `;
    const set = await startVars(["set", "FROM_STDIN"], `${value}\n`);
    expect([set.stdout, set.status]).toEqual(["", 0]);
    const several = await vars(["set", `OLD=${CANARY}=`, "EMPTY="]);
    const chosen = await vars(["set", "PLAIN=x", "--string"]);
    expect(set.stderr + several.stderr + chosen.stderr).not.toContain(CANARY);
    expect(await read()).toEqual({
      OLD: ["secret", `${CANARY}=`],
      FROM_STDIN: ["secure_string", value],
      EMPTY: ["secure_string", ""],
      PLAIN: ["string", "x"],
    });
    expect((await startVars(["get", "FROM_STDIN"])).stdout).toBe(value);
  });

  it("says which are sensitive, and sets that with one option", async () => {
    await put({ OLD: "before" });
    await vars(["set", "URL=x", "--sensitive"]);
    await vars(["set", "LEVEL=x", "OLD=x", "--no-sensitive"]);
    await vars(["set", "DEFAULT=x"]);
    expect(await read()).toEqual({
      OLD: ["string", "x"],
      URL: ["secret", "x"],
      LEVEL: ["string", "x"],
      DEFAULT: ["secure_string", "x"],
    });
    const { stdout } = await vars(["ls"]);
    expect(stdout).toMatch(/^NAME +SENSITIVE +METHOD +VERSION +UPDATED\n/);
    expect(stdout).toMatch(/^URL +yes +secret /m);
    expect(stdout).toMatch(/^DEFAULT +yes +secure_string /m);
    expect(stdout).toMatch(/^LEVEL +no +string /m);
  });

  it.each([
    [["set", "A=1", "--sensitive", "--string"], "cannot be used with option"],
    [["set", "A=1", "B"], "Write NAME=VALUE for each of several variables: B has no ="],
    [["set", "A=1", "A=2"], "The variable A is given twice"],
    [["set", "1A=x", "B=y"], '"1A" cannot be the name of a variable'],
    [["set", "A=1", "--string", "--secret"], "cannot be used with option"],
    [["rm", "KEPT"], "Add --yes to do so without a terminal"],
    [["rm", "KEPT", "OTHER", "--yes"], "There is no variable OTHER"],
  ])("refuses %j, and changes nothing", async (args, message) => {
    await put({ KEPT: "x" });
    const { stdout, stderr, status } = await vars(args);
    expect(stderr).toContain(message);
    expect([stdout, status]).toEqual(["", 1]);
    expect(await read()).toEqual({ KEPT: ["secret", "x"] });
  });

  it("warns of the names that runners refuse among those that it writes", async () => {
    const warning = (name: string, named: string, option: string) =>
      `Warning about ${name}: The reference runner refuses this name (${named}), and a deployment ` +
      `with --exec or a script fails, unless it is started with ${option}.\n`;
    await put({ LD_PRELOAD: "x" });
    const set = await vars(["set", "KUBECONFIG=x", "DOCKER_HOST=x", "REGION=x"]);
    expect([set.stderr, set.status]).toEqual([
      warning("DOCKER_HOST", "docker", "--allow-variables docker") +
        warning("KUBECONFIG", "kubernetes", "--allow-variables kubernetes") +
        "Set KUBECONFIG, DOCKER_HOST, REGION in the environment production.\n",
      0,
    ]);
    const pushed = await vars(["push", "-", "--yes"], "PATH=x\nREGION=x\n");
    expect(pushed.stderr).toContain(warning("PATH", "its own", "--allow-variable PATH"));
    expect(pushed.stderr).not.toContain("Warning about K");
  });

  it("deletes the variables that are named", async () => {
    await put({ FIRST: "1", SECOND: "2", THIRD: "3" });
    expect((await vars(["rm", "FIRST", "THIRD", "--yes"])).status).toBe(0);
    expect(Object.keys(await read())).toEqual(["SECOND"]);
  });
});

describe("longshore vars diff and push", () => {
  beforeEach(() => put({ SAME: "same", CHANGED: "before", GONE: "x" }));

  const FILE = `# a comment\nSAME=same\nexport CHANGED='${CANARY}' # why\nNEW="two\nlines"\n`;

  it("shows what would change, by name, and can report it as the exit code", async () => {
    writeFileSync(inFolder(".env"), FILE);
    const { stdout, stderr, status } = await vars(["diff"]);
    expect([stdout, stderr, status]).toEqual(["~ CHANGED\n- GONE\n+ NEW\n", "", 0]);
    expect((await startVars(["diff", "--exit-code"])).status).toBe(1);
    const json = await vars(["diff", "-", "--json"], FILE);
    expect(JSON.parse(json.stdout)).toEqual({
      added: ["NEW"],
      changed: ["CHANGED"],
      unchanged: ["SAME"],
      missing: ["GONE"],
    });
    const equal = await vars(["diff", "-", "--exit-code"], "SAME=same\nCHANGED=before\nGONE=x\n");
    expect([equal.stdout, equal.status]).toEqual(["", 0]);
  });

  it("merges by default, and needs --yes without a terminal", async () => {
    writeFileSync(inFolder(".env"), FILE);
    const refused = await vars(["push"]);
    expect(refused.stderr).toContain("Add --yes to do so without a terminal");
    expect(refused.status).toBe(1);
    expect((await read())["CHANGED"]).toEqual(["secret", "before"]);
    const { stdout, stderr, status } = await vars(["push", "--yes"]);
    expect([stdout, status]).toEqual(["", 0]);
    expect(stderr).toContain("~ CHANGED\n+ NEW\n");
    expect(stderr).toContain("kept without --replace: GONE");
    expect(stderr).not.toContain(CANARY);
    expect(await read()).toEqual({
      SAME: ["secret", "same"],
      CHANGED: ["secret", CANARY],
      GONE: ["secret", "x"],
      NEW: ["secure_string", "two\nlines"],
    });
    const again = await vars(["push"]);
    expect(again.stderr).toContain("There is nothing to change in the environment production.");
  });

  it("deletes what the file lacks only with --replace", async () => {
    const pushed = await startVars(["push", "-", "--replace", "--yes", "--string"], FILE);
    expect(pushed.stderr).toContain("Wrote 2 and deleted 1 variables");
    expect(await read()).toEqual({
      SAME: ["secret", "same"],
      CHANGED: ["secret", CANARY],
      NEW: ["string", "two\nlines"],
    });
  });

  describe("while its question is open", () => {
    const push = async (whileOpen: () => Promise<unknown>, ...options: string[]) => {
      writeFileSync(inFolder(".env"), FILE);
      const { stderr, status } = await user.runAsked(["vars", "push", ...options], {
        text: "Change the variables of the environment production?",
        answer: async () => {
          await whileOpen();
          return "y";
        },
      });
      return { stderr: stripVTControlCharacters(stderr), status };
    };

    const remove = async (name: string) => {
      const { data } = await client.call("GET", `/v1/environments/${production.id}/variables`);
      const { id } = data.find((each: Parsed) => each.name === name);
      await client.call("DELETE", `/v1/variables/${id}`);
    };

    it.each([
      ["the variable that it replaces", () => put({ CHANGED: "by another" })],
      ["one that the file lacks", () => put({ GONE: "by another" })],
      ["the variable that it creates", () => put({ NEW: "by another" })],
      ["one by deleting it", () => remove("SAME")],
      ["one by creating it again", () => remove("SAME").then(() => put({ SAME: "same" }))],
    ])("refuses to write if someone changes %s", async (_, change) => {
      let before: object = {};
      const { stderr, status } = await push(async () => {
        await change();
        before = await read();
      }, "--replace");
      expect(stderr).toContain(
        "The variables of the environment production have changed in the meantime. Nothing was changed",
      );
      expect(status).toBe(1);
      expect(await read()).toEqual(before);
    });

    it("writes if someone changes the variables of others only", async () => {
      const { stderr, status } = await push(async () => {
        await put({ CHANGED: "of staging" }, `/v1/environments/${staging.id}`);
        await put({ CHANGED: "of web" }, `/v1/components/${component.id}`);
      });
      expect(stderr).toContain("Wrote 2 and deleted 0 variables of the environment production.");
      expect(status).toBe(0);
      expect(await read()).toEqual({
        SAME: ["secret", "same"],
        CHANGED: ["secret", CANARY],
        GONE: ["secret", "x"],
        NEW: ["secure_string", "two\nlines"],
      });
      expect(await read(`/v1/environments/${staging.id}`)).toEqual({
        CHANGED: ["secret", "of staging"],
      });
    });
  });

  it.each([
    ["A=1\nB=2\n\nA=3\n", ".env has A twice, in the lines 1 and 4"],
    ["A='x\ny'\nB=1\nB=2", ".env has B twice, in the lines 3 and 4"],
    [`A=1\n${CANARY}\n`, ".env, line 2: this is not NAME=value"],
    [`A="${CANARY}\nB=2\n`, ".env, line 1: the end of A is not clear"],
    ["__proto__=1\n", ".env, line 1: a variable cannot have the name __proto__"],
    ["A.B=1\nC=1\n", '"A.B" cannot be the name of a variable'],
    [Buffer.from([0x41, 0x3d, 0xff]), ".env is not text in UTF-8"],
  ])("refuses %j, and writes nothing", async (source, message) => {
    await refusesToPush(source, message);
  });

  it("writes at once as many variables as one request can have, and refuses one more", async () => {
    const linesOf = (count: number) =>
      Array.from({ length: count }, (_, at) => `V${at}=1`).join("\n");
    const message = "These are 201 variables, and 200 can be written at once";
    await refusesToPush(linesOf(201), message);
    writeFileSync(inFolder(".env"), linesOf(200));
    const { stderr, status } = await vars(["push", "--yes"]);
    expect(stderr).toContain("Wrote 200 and deleted 0 variables");
    expect(status).toBe(0);
  });

  async function refusesToPush(source: string | Buffer, message: string): Promise<void> {
    writeFileSync(inFolder(".env"), source);
    const { stdout, stderr, status } = await vars(["push", "--yes"]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(CANARY);
    expect([stdout, status]).toEqual(["", 1]);
    expect(Object.keys(await read()).toSorted()).toEqual(["CHANGED", "GONE", "SAME"]);
  }

  it("says which file cannot be read", async () => {
    const { stderr, status } = await vars(["diff", "missing.env"]);
    expect(stderr).toMatch(/^Cannot read missing\.env: ENOENT/);
    expect(status).toBe(1);
  });
});

describe("longshore vars pull", () => {
  it("writes a file that only its owner can read, and that push finds equal", async () => {
    const values = {
      A: "plain",
      B: `two\nlines "and" 'quotes' $HOME # \\x`,
      C: "tab\tand\rreturn",
    };
    await put(values);
    const { stdout, stderr, status } = await startVars(["pull"]);
    expect([stdout, status]).toEqual(["", 0]);
    expect(stderr).toBe(
      "Wrote the variables of the environment production to .env, which only you can read.\n",
    );
    expect(statSync(inFolder(".env")).mode & 0o777).toBe(0o600);
    expect(parse(readFileSync(inFolder(".env")))).toEqual(values);
    expect((await vars(["diff", "--exit-code"])).status).toBe(0);
    expect(parse((await vars(["pull", "-"])).stdout)).toEqual(values);
  });

  it("replaces a file that differs only with --force, and corrects the mode of an equal one", async () => {
    await put({ A: CANARY });
    writeFileSync(inFolder(".env"), "MINE=1\n");
    const { stderr, status } = await vars(["pull"]);
    expect([stderr, status]).toEqual([
      ".env differs. Nothing was changed: add --force to replace it.\n",
      1,
    ]);
    expect(readFileSync(inFolder(".env"), "utf8")).toBe("MINE=1\n");
    expect((await vars(["pull", "--force"])).status).toBe(0);
    expect(readFileSync(inFolder(".env"), "utf8")).toBe(`A=${CANARY}\n`);
    chmodSync(inFolder(".env"), 0o644);
    expect((await vars(["pull"])).status).toBe(0);
    expect(statSync(inFolder(".env")).mode & 0o777).toBe(0o600);
  });

  it("warns if git would track the file", async () => {
    await put({ A: "1" });
    execFileSync("git", ["init", "--quiet"], { cwd: user.folder });
    writeFileSync(inFolder(".gitignore"), "ignored.env\n");
    expect((await vars(["pull", "ignored.env"])).stderr).not.toContain("git");
    expect((await vars(["pull", "tracked.env"])).stderr).toContain("git would track tracked.env");
    const withoutGit = await user.run(["vars", "pull", "other.env"], { changes: { PATH: "" } });
    expect([withoutGit.stderr.includes("git"), withoutGit.status]).toEqual([false, 0]);
  });

  it("names a variable whose value a .env file cannot have, and writes nothing", async () => {
    await put({ GOOD: "1", BAD: `${CANARY} all ' three " of \` them # \\n` });
    const { stdout, stderr, status } = await vars(["pull"]);
    expect(stderr).toMatch(/^A \.env file cannot have "BAD" with its value\./);
    expect(stderr).not.toContain(CANARY);
    expect([stdout, status, existsSync(inFolder(".env"))]).toEqual(["", 1, false]);
  });

  it("leaves the old file if the new one does not fit", async () => {
    await put({ LARGE: "x".repeat(5_000) });
    writeFileSync(inFolder(".env"), "OLD=1\n");
    const [command, args] = cliCommand(["vars", "pull", "--force"]);
    // Blocks of 1,024 bytes: the first write is cut, and the second fails.
    const script = 'ulimit -f 2; exec "$@"';
    const { stdout, stderr, status } = spawnSync("bash", ["-c", script, "bash", command, ...args], {
      cwd: user.folder,
      env: user.environment() as NodeJS.ProcessEnv,
      encoding: "utf8",
    });
    expect(stderr).toMatch(/^Cannot write \S+\.env: the file would be too large\. Nothing/);
    expect([stdout, status]).toEqual(["", 1]);
    expect(readFileSync(inFolder(".env"), "utf8")).toBe("OLD=1\n");
    expect(readdirSync(user.folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)("says that a folder cannot be written to", async () => {
    await put({ A: "1" });
    mkdirSync(inFolder("locked"), { mode: 0o500 });
    const { stderr, status } = await vars(["pull", "locked/.env"]);
    expect(stderr).toMatch(/^Cannot write \S+: permission denied\. Nothing was changed\.$/m);
    expect([status, readdirSync(inFolder("locked"))]).toEqual([1, []]);
  });
});
