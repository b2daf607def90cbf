/**
 * `npm run db:generate [-- --name NAME]`: writes a migration from the current tables, with the triggers that count
 * the bytes of new columns and tables. Other triggers, and indexes on expressions, are added by hand.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { countedTables, renderCount, renderUsageTriggers } from "./lib/usage-triggers.ts";
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
const statements = files
  .toSorted()
  .flatMap((name) =>
    readFileSync(join(MIGRATIONS, name), "utf8").split("--> statement-breakpoint"),
  );

function isCurrent(name: string, trigger: string): boolean {
  const last = statements.findLast((each) => each.includes(`CREATE TRIGGER \`${name}\``));
  return last?.trim().endsWith(trigger) ?? false;
}

const changed = countedTables().flatMap((table) => {
  const triggers = Object.entries(renderUsageTriggers(table));
  const outdated = triggers.filter(([name, trigger]) => !isCurrent(name, trigger));
  return outdated.length > 0 ? [{ kind: table.kind, outdated }] : [];
});
const added = [
  ...changed.flatMap(({ outdated }) =>
    outdated.flatMap(([name, trigger]) => [
      `DROP TRIGGER IF EXISTS \`${name}\`;`,
      `CREATE TRIGGER \`${name}\` ${trigger}`,
    ]),
  ),
  ...[...new Set(changed.map(({ kind }) => kind))].flatMap(renderCount),
];
appendFileSync(newest, added.map((statement) => `${BREAKPOINT}${statement}`).join(""));
