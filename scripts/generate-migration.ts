/**
 * `npm run db:generate [-- --name NAME]`: writes a migration from the current tables. A new table with a quota gets
 * the triggers that count its rows. Other triggers, and indexes on expressions, are added by hand.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getTableName } from "drizzle-orm";
import { FEATURES } from "../src/features/index.ts";
import { QUOTAS } from "../src/lib/resource-types.ts";
import { renderUsageTriggers } from "./lib/usage-triggers.ts";
import { ROOT } from "./lib/wrangler.ts";

const MIGRATIONS = join(ROOT, "migrations");
const BREAKPOINT = "\n--> statement-breakpoint\n";

const { status } = spawnSync(
  "npx",
  [
    ...["drizzle-kit", "generate", "--dialect", "sqlite", "--out", "./migrations"],
    ...["--schema", "./src/features/**/*table.ts", ...process.argv.slice(2)],
  ],
  { cwd: ROOT, stdio: "inherit" },
);
if (status !== 0) process.exit(status ?? 1);

const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
const newest = join(MIGRATIONS, String(files.toSorted().at(-1)));
const migrations = files.map((name) => readFileSync(join(MIGRATIONS, name), "utf8")).join("");
const triggers = FEATURES.flatMap(({ tables = [] }) => tables.map(({ table }) => table))
  .filter((table) => getTableName(table) in QUOTAS)
  .filter((table) => !migrations.includes(`usage_${getTableName(table)}_insert`))
  .flatMap(renderUsageTriggers);
appendFileSync(newest, triggers.map((trigger) => `${BREAKPOINT}${trigger}`).join(""));
