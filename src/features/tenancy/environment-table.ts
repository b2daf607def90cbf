import { getTableColumns, sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt, version } from "../../db/columns.ts";
import { TOMBSTONE_NAME, TOMBSTONE_ORGANIZATION_ID } from "../../db/tombstone.ts";
import { organizations } from "./organization-table.ts";
import { projects } from "./project-table.ts";

export const environments = sqliteTable(
  "environments",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    /** A JSON object, as text: no query reads inside it. */
    configuration: text("configuration").notNull(),
    /** JSON: what the last successful deployment deployed. Null: it had no source. */
    source: text("source"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** Increases with every attempt to deploy to the environment. */
    epoch: integer("epoch").notNull().default(0),
    /** The number of the newest deployment that has started. Older ones never start. */
    startedNumber: integer("started_number").notNull().default(0),
    /** Increases with every change of the configuration: a trigger counts, so that no statement is left out. */
    configurationVersion: integer("configuration_version").notNull().default(0),
    version: version(),
  },
  (table) => [
    uniqueIndex("environments_project_name").on(table.projectId, table.name),
    index("environments_list").on(table.projectId, table.createdAt, table.id),
  ],
);

/**
 * The places in the order that an owner gave a project's environments; those without one came later. Not a column of
 * `environments`: it would be behind the configuration, whose pages SQLite reads to reach it.
 */
export const environmentPositions = sqliteTable(
  "environment_positions",
  {
    environmentId: id("environment_id")
      .primaryKey()
      .references(() => environments.id, { onDelete: "restrict" }),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    position: integer("position").notNull(),
  },
  () => [],
);

/** Of a select or an update of `environments`. Null: it came after the order. */
export const POSITION = sql<number | null>`(select environment_positions.position
  from environment_positions where environment_positions.environment_id = environments.id)`;

const URL_STACK_ID = sql<string | null>`(select stacks.id from stacks
  where stacks.environment_id = environments.id and stacks.shows_url = 1)`;

/** The columns of an environment, with its position and the stack whose URL is its own. */
export const ENVIRONMENT_COLUMNS = {
  ...getTableColumns(environments),
  position: POSITION.as("position"),
  urlStackId: URL_STACK_ID.as("url_stack_id"),
};

export const ENVIRONMENT_TOMBSTONE = {
  organizationId: TOMBSTONE_ORGANIZATION_ID,
  name: TOMBSTONE_NAME,
  configuration: "{}",
  source: null,
};
