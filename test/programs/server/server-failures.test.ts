import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { copyData, InstalledServer } from "../support/own-server.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** The text on one line, without what may differ. */
const USAGE = /\n\nUsage: longshore-server[\s\S]*$/;

const installed = new InstalledServer();
const original = installed.path("original");
let copies = 0;

/** The data of a server that has run, for one test. */
function newData(): string {
  copies += 1;
  const data = installed.path(`data-${copies}`);
  copyData(original, data);
  return data;
}

function databaseOf(data: string): string {
  const [file = "", ...others] = globSync(`${data}/state/d1/**/*.sqlite`).filter(
    (path) => !path.endsWith("metadata.sqlite"),
  );
  expect(others).toEqual([]);
  return file;
}

async function fail(args: readonly string[], options = {}) {
  const port = String(await findFreePort());
  const { code, output } = await installed.run(["--port", port, ...args], options);
  expect(code, output).toBeGreaterThan(0);
  return output.replace(USAGE, "\n");
}

beforeAll(async () => {
  const server = await installed.start(["--data", original]);
  await server.stop();
});

afterAll(() => installed.remove());

describe("the packed server", () => {
  it.each([
    [["--host", "0.0.0.0"], "Add --url with the address that people use, such as"],
    [["--host", "192.0.2.1"], "listens for this machine only, and 192.0.2.1 is reached by others."],
    [["--url", "longshore.example.com"], '"longshore.example.com" is not a URL.'],
    [["--url", "http://longshore.example.com"], "Set --url to https: browsers sign in at http:"],
    [["--url", "https://example.com/longshore"], "without a path: https://example.com\n"],
    [["--trusted-proxy", "10.0.0.0/40"], '--trusted-proxy: "10.0.0.0/40" is not a network'],
    [["--port", "0"], 'Set --port to a number from 1 to 65535; "0" is not one.'],
    [["--log", "xml"], 'Set --log to "text" or "json".'],
    [["--prot", "1"], "Unknown option '--prot'"],
  ])("refuses %s, says what to do, and creates nothing", async (args, sentence) => {
    const data = installed.path("never");
    expect(await fail([...args, "--data", data])).toContain(sentence);
    expect(existsSync(data)).toBe(false);
  });

  it("refuses insecure webhooks for people's address", async () => {
    const environment = { ALLOW_INSECURE_WEBHOOKS: "true" };
    const args = ["--url", "https://longshore.example.com", "--data", newData()];
    expect(await fail(args, { environment })).toBe(
      "The Worker refuses these settings:\n  ALLOW_INSECURE_WEBHOOKS: It is true, which is only for a Worker that is " +
        "called at localhost. Set it to false.\n",
    );
  });

  it("takes secrets from the environment and from files, and never both", async () => {
    const file = installed.path("keys");
    writeFileSync(file, "k1:AAAA\n");
    const data = newData();
    const both = { ENCRYPTION_KEYS: "k1:x", ENCRYPTION_KEYS_FILE: file };
    expect(await fail(["--data", data], { environment: both })).toBe(
      "Set ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE, not both.\n",
    );
    const short = { ENCRYPTION_KEYS_FILE: file };
    expect(await fail(["--data", data], { environment: short })).toMatch(
      /^The Worker refuses these settings:\n {2}ENCRYPTION_KEYS: /,
    );
    const missing = { LEASE_SECRET_FILE: installed.path("nothing") };
    expect(await fail(["--data", data], { environment: missing })).toContain(
      "LEASE_SECRET_FILE names",
    );
  });

  it("keeps its secrets to itself, and refuses those that others can read", async () => {
    const data = newData();
    const file = join(data, "secrets.env");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(await fail(["--data", data])).toBe(
      `Others can read the secrets in ${file}. Run: chmod 600 ${file}\n`,
    );
    rmSync(file);
    expect(await fail(["--data", data])).toContain(`${file} has no ENCRYPTION_KEYS.`);
    expect(existsSync(file)).toBe(false);
  });

  it("says that workerd does not run on this machine", async () => {
    const environment = { MINIFLARE_WORKERD_PATH: installed.path("no-workerd") };
    expect(await fail(["--data", newData()], { environment })).toMatch(
      /^workerd, the runtime of Workers, does not run here: .*ENOENT.* Install the server for this platform/,
    );
  });

  it("names a port that is in use, before it changes anything", async (context) => {
    const listener = createServer().listen(0, "127.0.0.1");
    context.onTestFinished(() => void listener.close());
    await new Promise((resolve) => listener.once("listening", resolve));
    const { port } = listener.address() as { port: number };
    const data = installed.path("port-in-use");
    const { code, output } = await installed.run(["--port", String(port), "--data", data]);
    expect([code, output]).toEqual([
      1,
      `Port ${port} of localhost is unavailable: another process listens on it. Choose another with --port.\n`,
    ]);
    expect(existsSync(join(data, "secrets.env"))).toBe(false);
  });

  it("refuses a second process on the folder, and takes over from one that was killed", async () => {
    const data = newData();
    const first = await installed.start(["--data", data]);
    expect(await fail(["--data", data])).toMatch(
      new RegExp(
        `^Longshore already runs on this data, at http://localhost:${first.port}: stop process \\d+ first\\.\n$`,
      ),
    );
    expect((await fetch(new URL("/health", first.url))).status).toBe(200);
    const runtime = readFileSync(join(data, "workerd.pid"), "utf8");
    await first.kill();
    expect(isRunning(runtime)).toBe(true);
    const second = await installed.start(["--data", data]);
    expect(isRunning(runtime)).toBe(false);
    expect(await second.stop()).toBe(0);
    expect(readdirSync(data).toSorted()).toEqual([
      "lock.sqlite",
      "longshore.json",
      "secrets.env",
      "state",
      "tmp",
    ]);
  });

  it("refuses a database that is newer, or older than it can migrate", async () => {
    const newer = newData();
    const database = new DatabaseSync(databaseOf(newer));
    database.exec("insert into d1_migrations (name) values ('9999_later.sql')");
    database.close();
    expect(await fail(["--data", newer])).toBe(
      "The database is newer than this release: it has 9999_later.sql. Nothing was changed. Start the release that " +
        "ran last, or a newer one.\n",
    );
    const older = newData();
    const other = new DatabaseSync(databaseOf(older));
    other.exec("update d1_migrations set name = '0000_first.sql' where id = 1");
    other.close();
    expect(await fail(["--data", older])).toContain("older than this release can migrate");
  });

  it("refuses a database that is damaged, in one page or as a whole, and keeps it", async () => {
    for (const damage of [
      (file: Buffer) => file.fill(7, 8_192, 12_288),
      (file: Buffer) => file.fill(7),
    ]) {
      const data = newData();
      const file = databaseOf(data);
      const bytes = damage(readFileSync(file));
      writeFileSync(file, bytes);
      expect(await fail(["--data", data])).toBe(
        `The database ${file} is damaged. Nothing was changed. Keep the folder, and restore your newest backup into ` +
          "another one: longshore-server restore FILE --data NEW_FOLDER\n",
      );
      expect(readFileSync(file).equals(bytes)).toBe(true);
    }
  });

  it("refuses to start empty where a database was", async () => {
    const data = newData();
    const file = databaseOf(data);
    rmSync(file);
    const output = await fail(["--data", data]);
    expect(output).toContain(`The database of ${data} is gone: ${file} does not exist.`);
    expect(output).toContain(`delete ${join(data, "longshore.json")}`);
    expect(existsSync(file)).toBe(false);
  });

  it("starts after a kill in its first migration", async () => {
    const data = newData();
    const file = databaseOf(data);
    rmSync(join(data, "longshore.json"));
    // What a killed transaction leaves.
    for (const path of globSync(`${file}*`)) rmSync(path);
    writeFileSync(file, "");
    const server = await installed.start(["--data", data]);
    expect(server.apiKey).not.toBe("");
    await server.stop();
  });

  it("copies the database before it migrates, and the copy has what was there", async () => {
    const data = newData();
    const file = databaseOf(data);
    const before = new DatabaseSync(file);
    const { name } = before.prepare("select name from d1_migrations order by id desc").get() ?? {};
    before.exec("create table marker (x); insert into marker values (1)");
    before.exec(`delete from d1_migrations where name = '${name}'`);
    before.close();
    // The migration itself fails, each time: its tables exist.
    for (let start = 0; start < 5; start += 1) {
      expect(await fail(["--data", data])).toContain(
        `The migration ${name} failed: duplicate column name: position. Nothing was changed.`,
      );
    }
    expect(globSync(`${data}/copies/*`)).toHaveLength(3);
    const [copy = ""] = globSync(`${data}/copies/before-*.sqlite`);
    const copied = new DatabaseSync(copy, { readOnly: true });
    expect(copied.prepare("select x from marker").get()).toEqual({ x: 1 });
    copied.close();
  });

  it("takes over from a server that was killed, whose folder is named by a link", async () => {
    const data = newData();
    const link = `${data}-link`;
    symlinkSync(data, link);
    const first = await installed.start(["--data", link]);
    const runtime = readFileSync(join(data, "workerd.pid"), "utf8");
    await first.kill();
    const second = await installed.start(["--data", link]);
    expect(isRunning(runtime)).toBe(false);
    expect(await second.stop()).toBe(0);
  });

  it("refuses insecure webhooks at an address that others reach, whatever --url says", async () => {
    const environment = { ALLOW_INSECURE_WEBHOOKS: "true" };
    const address = ["--host", "0.0.0.0", "--url", "http://localhost:8787"];
    expect(await fail([...address, "--data", newData()], { environment })).toContain(
      "ALLOW_INSECURE_WEBHOOKS",
    );
  });

  it("says that the certificates it should trust are missing", async () => {
    const environment = { NODE_EXTRA_CA_CERTS: installed.path("no-certificates") };
    expect(await fail(["--data", newData()], { environment })).toContain(
      `NODE_EXTRA_CA_CERTS names ${installed.path("no-certificates")}, which cannot be read`,
    );
  });

  it.runIf(isRoot)("refuses a folder of another user, and one that it cannot write", async () => {
    const foreign = newData();
    chownSync(foreign, NOBODY, NOBODY);
    expect(await fail(["--data", foreign])).toBe(
      `${foreign} belongs to user ${NOBODY}, and this process runs as user 0. Run it as user ${NOBODY}, or give the ` +
        `folder away: chown -R 0 ${foreign}\n`,
    );
    const readOnly = installed.path("read-only");
    mkdirSync(readOnly, { mode: 0o555 });
    chownSync(readOnly, NOBODY, NOBODY);
    chmodSync(installed.folder, 0o755);
    expect(await fail(["--data", readOnly], { uid: NOBODY })).toContain(
      `Cannot write ${readOnly} (EACCES).`,
    );
  });
});

describe.runIf(isRoot && canMount())("a disk that is full", () => {
  const disk = installed.path("disk");

  const withDisk = async (size: string, run: () => Promise<void>) => {
    mkdirSync(disk, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk]);
    try {
      await run();
    } finally {
      execFileSync("umount", [disk]);
    }
  };

  it("ends the first start with a sentence", () =>
    withDisk("100k", async () => {
      expect(await fail(["--data", join(disk, "data")])).toMatch(
        /^The disk of .+ is full\. Nothing was changed\. Free some space and start again\.\n$/,
      );
    }));

  it("fails requests with a sentence in the log while it lasts, and loses nothing", () =>
    withDisk("30m", async () => {
      const server = await installed.start(["--data", join(disk, "data")]);
      const create = (name: string) => server.client.call("POST", "/v1/projects", { name });
      await create("before");
      const filler = join(disk, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(40 << 20))).toThrow("ENOSPC");
      await expect(create("first")).rejects.toThrow("500");
      await expect(create("second")).rejects.toThrow("500");
      const sentence = `The disk of ${join(disk, "data/state")} is full: requests fail until you free some space.`;
      await server.waitFor(sentence);
      expect(server.output.split(sentence)).toHaveLength(2);
      expect(server.output).not.toContain("stack: ");
      rmSync(filler);
      await create("after");
      const { data } = await server.client.call("GET", "/v1/projects");
      expect(data.map(({ name }: { name: string }) => name)).toEqual(["after", "before"]);
      expect(await server.stop()).toBe(0);
    }));

  it("ends an upgrade with a sentence, and leaves the database as it was", () =>
    withDisk("5m", async () => {
      const data = join(disk, "data");
      copyData(original, data);
      const file = databaseOf(data);
      const before = new DatabaseSync(file);
      before.exec("delete from d1_migrations where id = (select max(id) from d1_migrations)");
      before.exec("create table filler (x); insert into filler values (zeroblob(1200000))");
      before.close();
      expect(await fail(["--data", data])).toContain("has no space for a copy of the database");
      const after = new DatabaseSync(file);
      expect(after.prepare("pragma quick_check").get()).toEqual({ quick_check: "ok" });
      after.close();
    }));
});

/** One that has ended may still be listed, until its parent asks how. */
function isRunning(pid: string): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" });
  return stdout !== "" && !stdout.startsWith("Z");
}

function canMount(): boolean {
  const probe = installed.path("probe");
  mkdirSync(probe);
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", probe], { stdio: "ignore" });
    execFileSync("umount", [probe]);
    return true;
  } catch {
    return false;
  }
}
