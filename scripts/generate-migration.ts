/**
 * `npm run db:generate -- --name NAME`: writes a migration that brings the database of the current migrations to
 * the tables and to the triggers and indexes of `scripts/lib/definitions.ts`.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { normalizeDefinition, readDefinitions } from "./lib/definitions.ts";
import { MIGRATIONS_DIRECTORY, migratedDefinitions } from "./lib/migrations.ts";
import { countedTables, renderCount } from "./lib/usage-triggers.ts";
import { ROOT } from "./lib/wrangler.ts";

const BREAKPOINT = "\n--> statement-breakpoint\n";

const before = listMigrations();
generate();
const existing = migratedDefinitions();
const definitions = readDefinitions();
const wanted = new Set(definitions.flatMap(({ statements }) => [...statements.keys()]));
const groups = definitions.map(({ comment, statements }) => ({
  comment,
  changed: [...statements].filter(([name, sql]) => !isCurrent(name, sql)),
}));
const added = [
  // drizzle-kit drops the indexes of the tables.
  ...[...existing.keys()].filter((name) => /^TRIGGER/.test(name) && !wanted.has(name)).map(drop),
  ...groups.flatMap(({ comment, changed }) =>
    changed.flatMap(([name, sql], at) => [
      ...(existing.has(name) ? [drop(name)] : []),
      at === 0 ? `${comment}\n${sql}` : sql,
    ]),
  ),
  ...recount(groups.flatMap(({ changed }) => changed.map(([name]) => name))),
];
if (added.length > 0) {
  if (listMigrations().length === before.length) generate("--custom");
  const newest = join(MIGRATIONS_DIRECTORY, String(listMigrations().at(-1)));
  appendFileSync(newest, added.map((statement) => `${BREAKPOINT}${statement}`).join(""));
}

function generate(...more: string[]): void {
  const { status } = spawnSync(
    "npx",
    [
      ...["drizzle-kit", "generate", "--dialect", "sqlite", "--out", "./migrations"],
      ...["--schema", "./src/features/**/*table.ts", ...process.argv.slice(2), ...more],
    ],
    { cwd: ROOT, stdio: "inherit" },
  );
  if (status !== 0) process.exit(status ?? 1);
}

function listMigrations(): string[] {
  return readdirSync(MIGRATIONS_DIRECTORY)
    .filter((name) => name.endsWith(".sql"))
    .toSorted();
}

function isCurrent(name: string, sql: string): boolean {
  const now = existing.get(name);
  return now !== undefined && normalizeDefinition(now) === normalizeDefinition(sql);
}

function drop(name: string): string {
  return `DROP ${name};`;
}

/** Counts the rows of a kind again if a trigger that counts them has changed. A new database has none. */
function recount(changed: readonly string[]): string[] {
  if (before.length === 0) return [];
  const kinds = countedTables()
    .filter(({ name }) => changed.some((each) => each.startsWith(`TRIGGER \`usage_${name}_`)))
    .map(({ kind }) => kind);
  return [...new Set(kinds)].flatMap(renderCount);
}
