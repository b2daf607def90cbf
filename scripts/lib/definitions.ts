import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  countedTables,
  historyTables,
  renderHistoryTriggers,
  renderUsageTriggers,
} from "./usage-triggers.ts";
import { ROOT } from "./wrangler.ts";

const DIRECTORY = join(ROOT, "migrations", "definitions");
/** A statement with the comment lines directly above it. */
const DEFINITION = /^(?:--.*\n)*CREATE (?:(TRIGGER `\w+`) [\s\S]*?^END;$|(INDEX `\w+`) .*;$)/gm;
const HEADER = /^(?:--.*\n)+(?=\n)/;

/** Triggers, or indexes that drizzle-kit cannot generate. */
export interface DefinitionGroup {
  /** SQL comment lines that say what they are for. */
  comment: string;
  /** The `CREATE` statement of each, by kind and name, such as "TRIGGER `audit_log_day`". */
  statements: ReadonlyMap<string, string>;
}

/** What the database has beside its tables: `migrations/definitions/`, and the triggers that follow from the tables. */
export function readDefinitions(): DefinitionGroup[] {
  const files = readdirSync(DIRECTORY).toSorted();
  return [
    ...files.map((name) => parseDefinitions(readFileSync(join(DIRECTORY, name), "utf8"))),
    {
      comment:
        "-- Counts the records and bytes of an organization (scripts/lib/usage-triggers.ts).",
      statements: rendered(countedTables().map(renderUsageTriggers)),
    },
    {
      comment:
        "-- Counts the bytes of an organization's history. The schedule counts what is inserted, because a\n" +
        "-- trigger for each event would make its batch slower (scripts/lib/usage-triggers.ts).",
      statements: rendered(historyTables().map(renderHistoryTriggers)),
    },
  ];
}

export function parseDefinitions(text: string): DefinitionGroup {
  const comment = (HEADER.exec(text)?.[0] ?? "").trim();
  const found = [...text.slice(comment.length).matchAll(DEFINITION)];
  return {
    comment,
    statements: new Map(found.map(([sql, trigger, index]) => [trigger ?? index ?? "", sql])),
  };
}

/** The text by which two definitions are compared: without comments above it, and with single spaces. */
export function normalizeDefinition(sql: string): string {
  return sql
    .replace(/^(?:--.*\n)+/, "")
    .replace(/;\s*$/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function rendered(tables: readonly Readonly<Record<string, string>>[]): Map<string, string> {
  const entries = tables.flatMap((triggers) => Object.entries(triggers));
  return new Map(
    entries.map(([name, sql]) => [`TRIGGER \`${name}\``, `CREATE TRIGGER \`${name}\` ${sql}`]),
  );
}
