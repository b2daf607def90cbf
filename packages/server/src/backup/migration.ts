import { CommandError } from "../command-error.ts";

/** The name of the newest migration that was applied to a database. */
export async function newestMigration(d1: D1Database): Promise<string> {
  const tables = "select 1 from sqlite_master where name = 'd1_migrations'";
  const isMigrated = await d1.prepare(tables).first();
  const newest = "select name from d1_migrations order by id desc limit 1";
  const name = isMigrated && (await d1.prepare(newest).first<string>("name"));
  if (name) return name;
  throw new CommandError(
    "The database has no tables. Create them: start the server, or deploy the Worker with `npm run deploy`.",
  );
}
