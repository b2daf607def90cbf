import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  newHeader,
  type Row,
  type RowLine,
  withTrailer,
} from "../../../packages/server/src/backup/file.ts";
import { tableNamed } from "../../../packages/server/src/backup/tables.ts";
import { backUp } from "../../../scripts/backup.ts";
import { type OpenDatabase, openLocalDatabase } from "../../../scripts/lib/database.ts";
import { changeOrShow } from "../../../scripts/quotas.ts";
import { recover } from "../../../scripts/recover.ts";
import { restoreFile } from "../../../scripts/restore.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { Checkout } from "../support/checkout.ts";
import { runPackageCommand } from "../support/run-package-command.ts";

const KEY = /lsh_\w{72}/;

const checkout = new Checkout();
const organizationId = newId(systemClock);
const membershipId = newId(systemClock);

afterAll(() => checkout.remove());

const run = (name: string, ...args: string[]) => runPackageCommand(checkout, name, ...args);

/** With the columns of the table in order. */
function line(table: string, fields: Row): RowLine {
  const values = { created_at: 1, updated_at: 1, ...fields };
  const { columns } = tableNamed(table);
  const row = columns.map((column) => [column, values[column as keyof typeof values] ?? null]);
  return { table, row: Object.fromEntries(row) };
}

async function* rows(): AsyncGenerator<RowLine> {
  const accountId = newId(systemClock);
  const first = { record_version: 1 };
  yield line("organizations", { id: organizationId, name: "Acme", delivery_weight: 1, ...first });
  const person = { name: "Ada", display_name: "Ada\u2028L", profile: "{}" };
  yield line("accounts", { id: accountId, email: "ada@example.com", ...person, ...first });
  const ids = { id: membershipId, organization_id: organizationId, account_id: accountId };
  yield line("memberships", {
    ...ids,
    ...first,
    role: "owner",
    kind: "person",
    status: "active",
    email: "ada@example.com",
  });
}

async function writeBackup(file: string): Promise<string[]> {
  const migration = readdirSync(checkout.path("migrations"))
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .at(-1);
  const header = newHeader({
    release: "0.1.0",
    created_at: "2026-01-01T00:00:00.000Z",
    migration: migration ?? "",
    organization_id: null,
  });
  const lines: string[] = [];
  for await (const each of withTrailer(header, rows())) lines.push(each);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return lines;
}

describe("the commands of an operator", () => {
  const file = checkout.path("original.ndjson");
  const copy = checkout.path("copy.ndjson");
  let original: string[];

  beforeAll(async () => {
    original = await writeBackup(file);
    const { code, output } = await run("restore", file);
    expect(output).toContain("memberships  1");
    expect(code).toBe(0);
  });

  /** For all commands that run in this process, as beside `npm start`: opening it takes a second. */
  let opened: Promise<OpenDatabase> | undefined;
  const open = async () => {
    opened ??= openLocalDatabase(checkout.path(".wrangler/state/v3"));
    const { d1 } = await opened;
    return { d1, close: async () => undefined };
  };

  afterAll(async () => (await opened)?.close());

  /** Returns what a command prints that runs in this process. */
  const printedBy = async (command: Promise<number>) => {
    const log = vi.spyOn(console, "log").mockReturnValue();
    onTestFinished(() => log.mockRestore());
    expect(await command).toBe(0);
    return log.mock.calls.join("\n");
  };

  const expectCopy = () => {
    const copied = readFileSync(copy, "utf8").split("\n");
    expect(copied.slice(1, -2)).toEqual(original.slice(1, -1));
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    rmSync(copy);
  };

  it("restore a file once, and back up the same rows into a file that only its user can read", async () => {
    await expect(restoreFile([file], open)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("The database has rows in organizations"),
    });
    expect(await run("backup", copy)).toMatchObject({
      code: 0,
      output: expect.stringContaining("has 3 rows"),
    });
    expectCopy();
    expect(await printedBy(backUp([copy, "--org", organizationId], open))).toContain("has 3 rows");
    expectCopy();
  });

  it("run statements as D1 does, and only their own", async () => {
    const origins: string[] = [];
    const remember = (message: unknown) =>
      origins.push((message as { request: { origin: string } }).request.origin);
    subscribe("undici:request:create", remember);
    onTestFinished(() => void unsubscribe("undici:request:create", remember));
    const { d1 } = await open();
    const pair = d1.prepare("select ? as n, ? as n").bind(1, "two");
    expect(await pair.raw()).toEqual([[1, "two"]]);
    expect(await pair.first("n")).toBe("two");
    await expect(pair.first("other")).rejects.toThrow("no column other");
    const nothing = d1.prepare("select 1 as n where ? is not null").bind(null);
    expect([await nothing.first(), await nothing.first("n")]).toEqual([null, null]);
    const twice = ["a", "a"].map((name) =>
      d1.prepare("insert into d1_migrations (name) values (?)").bind(name),
    );
    await expect(d1.batch(twice)).rejects.toThrow("UNIQUE constraint failed: d1_migrations.name");
    const written = d1.prepare("select count(*) as n from d1_migrations where name = 'a'");
    expect(await written.first("n")).toBe(0);
    for (const value of [undefined, Number.NaN, new Uint8Array([1])]) {
      await expect(d1.prepare("select ?").bind(value).run()).rejects.toThrow(TypeError);
    }
    const body = JSON.stringify({ method: "all", statements: [{ sql: "select 1", values: [] }] });
    const stranger = await fetch(origins[0] ?? "", { method: "POST", body });
    expect([stranger.status, await stranger.text()]).toEqual([403, ""]);
  });

  it("create a key for an owner, and admit credentials only with --yes", async () => {
    const created = await run("recover", "--org", organizationId);
    const [key = ""] = KEY.exec(created.output) ?? [];
    const [, id = ""] = key.split("_");
    expect(created.output).toContain(membershipId);
    const listed = await printedBy(recover(["--admit", id], open));
    expect(listed).toContain(`${id}  API key  owner  "npm run recover"  …${key.slice(-4)}`);
    expect(listed).toContain("Nothing was changed");
    const admitted = await printedBy(recover(["--admit", id, "--yes"], open));
    expect(admitted).toContain("1 credentials were admitted");
    const unknown = recover(["--admit", id, membershipId, "--yes"], open);
    await expect(unknown).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(`so nothing was changed: ${membershipId}`),
    });
  });

  it("show, set and reset the quotas of an organization", async () => {
    const org = ["--org", organizationId];
    const set = ["--set", "projects=2000", "--set", "stored_bytes=5000000000"];
    expect(await run("quotas", ...org, ...set)).toEqual({
      code: 0,
      output: expect.stringMatching(
        /projects +2,000 {2}set\n[\s\S]*stored_bytes +5,000,000,000 {2}set/,
      ),
    });
    expect(await printedBy(changeOrShow(org, open))).toMatch(/stacks +50,000 {2}default/);
    const reset = changeOrShow([...org, "--reset", "projects", "--reset", "stacks"], open);
    expect(await printedBy(reset)).toMatch(
      /projects +1,000 {2}default[\s\S]*stored_bytes.* set\n.*default$/,
    );
    await expect(changeOrShow(["--org", membershipId], open)).rejects.toMatchObject({
      exitCode: 1,
      message: `There is no organization ${membershipId}.`,
    });
  });

  it.each([
    "recover --admit",
    `recover --admit --all --org ${organizationId}`,
    `recover --org ${organizationId} --yes`,
    "backup",
    "restore",
    "revoke-all",
    "quotas",
    `quotas --org ${organizationId} --set projects`,
    `quotas --org ${organizationId} --set projects=-1`,
    `quotas --org ${organizationId} --set project=1`,
    `quotas --org ${organizationId} --set projects=1 --reset projects`,
  ])("print their usage for wrong arguments: %s", async (command) => {
    const [name = "", ...args] = command.split(" ");
    const { code, output } = await run(name, ...args);
    expect(code).toBe(2);
    expect(output).toContain("Usage: npm run ");
    expect(output).not.toMatch(KEY);
  });
});
