import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyAll } from "../../../scripts/adopt-baseline/adopt.ts";
import { readAdoption } from "../../../scripts/adopt-baseline/migrations.ts";
import { openLocalDatabase } from "../../../scripts/lib/database.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { Checkout } from "../support/checkout.ts";
import { runPackageCommand } from "../support/run-package-command.ts";

const FILE = "before-baseline.ndjson";
const CREATE_APPLIED = "create table d1_migrations (id integer primary key, name text unique)";

describe("a local database from before the baseline", () => {
  const checkout = new Checkout();
  const state = checkout.path(".wrangler/state/v3");
  afterAll(() => checkout.remove());

  beforeAll(async () => {
    const { d1, close } = await openLocalDatabase(state);
    await d1.prepare(CREATE_APPLIED).run();
    await applyAll(d1, readAdoption().earlier.slice(0, -1));
    await d1
      .prepare(
        "insert into organizations (id, name, created_at, updated_at) values ('o', 'Acme', 1, 2)",
      )
      .run();
    await close();
  });

  it("is named by what would migrate it, adopted once, and keeps its rows", async () => {
    const restored = await runPackageCommand(
      checkout,
      "restore",
      join(ROOT, "test/fixtures", FILE),
    );
    expect(restored.output).toContain("npm run adopt-baseline");
    expect(restored.code).toBe(1);
    expect(await runPackageCommand(checkout, "adopt-baseline")).toEqual({
      code: 0,
      output:
        "The database has the tables of the baseline. Run npm start, which applies later migrations.\n",
    });
    expect(await runPackageCommand(checkout, "adopt-baseline")).toEqual({
      code: 0,
      output: "The database has the baseline already.\n",
    });
    expect((await runPackageCommand(checkout, "adopt-baseline", "now")).code).toBe(2);
    const { d1, close } = await openLocalDatabase(state);
    expect((await d1.prepare("select id, name from organizations").all()).results).toEqual([
      { id: "o", name: "Acme" },
    ]);
    await close();
  });
});

describe("a backup of the last commit before the baseline", () => {
  const checkout = new Checkout();
  afterAll(() => checkout.remove());

  it("is restored by the same command as any other, into an empty database", async () => {
    copyFileSync(join(ROOT, "test/fixtures", FILE), checkout.path(FILE));
    const { code, output } = await runPackageCommand(checkout, "restore", checkout.path(FILE));
    expect(output).toMatch(/^deployments {2}16$/m);
    expect(output).toMatch(/^api_keys {2}31$/m);
    expect(output).not.toContain("left out");
    expect(code).toBe(0);
  });
});
