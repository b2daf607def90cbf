import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newHeader, type Row, type RowLine, withTrailer } from "../../scripts/backup/file.ts";
import { tableNamed } from "../../scripts/backup/tables.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Checkout } from "./support/checkout.ts";

const KEY = /lsh_\w{72}/;

const checkout = new Checkout();
const organizationId = newId(systemClock);
const membershipId = newId(systemClock);

afterAll(() => checkout.remove());

/** Runs a command of package.json. */
async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const options = { cwd: checkout.folder };
  try {
    const { stdout, stderr } = await promisify(execFile)("npm", ["run", "-s", ...args], options);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

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
  let original: string[];

  beforeAll(async () => {
    const file = checkout.path("original.ndjson");
    original = await writeBackup(file);
    const { code, output } = await run("restore", "--", file);
    expect(output).toContain("memberships  1");
    expect(code).toBe(0);
  });

  it("restore a file once, and back up the same rows into a file that only its user can read", async () => {
    const again = await run("restore", "--", checkout.path("original.ndjson"));
    expect(again).toMatchObject({ code: 1 });
    expect(again.output).toContain("The database has rows in organizations");
    for (const scope of [[], ["--org", organizationId]]) {
      const file = checkout.path("copy.ndjson");
      expect((await run("backup", "--", file, ...scope)).output).toContain("has 3 rows");
      const copied = readFileSync(file, "utf8").split("\n");
      expect(copied.slice(1, -2)).toEqual(original.slice(1, -1));
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  });

  it("create a key for an owner, and admit credentials only with --yes", async () => {
    const created = await run("recover", "--", "--org", organizationId);
    const [key = ""] = KEY.exec(created.output) ?? [];
    const [, id = ""] = key.split("_");
    expect(created.output).toContain(membershipId);
    const listed = await run("recover", "--", "--admit", id);
    expect(listed.output).toContain(`${id}  API key  owner  "npm run recover"  …${key.slice(-4)}`);
    expect(listed.output).toContain("Nothing was changed");
    const admitted = await run("recover", "--", "--admit", id, "--yes");
    expect(admitted.output).toContain("1 credentials were admitted");
    const unknown = await run("recover", "--", "--admit", id, membershipId, "--yes");
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.output).toContain(`so nothing was changed: ${membershipId}`);
  });

  it.each([
    "recover -- --admit",
    `recover -- --admit --all --org ${organizationId}`,
    `recover -- --org ${organizationId} --yes`,
    "backup",
    "restore",
    "revoke-all",
  ])("print their usage for wrong arguments: npm run %s", async (command) => {
    const { code, output } = await run(...command.split(" "));
    expect(code).toBe(2);
    expect(output).toContain("Usage: npm run ");
    expect(output).not.toMatch(KEY);
  });
});
