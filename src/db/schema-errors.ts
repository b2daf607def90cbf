import { databaseMessage } from "./constraint-errors.ts";

/** How to create missing tables, for the log and for `/health`. */
export const HOW_TO_MIGRATE =
  "Migrate the database: `npx wrangler d1 migrations apply DB --local` on your machine, `npm run deploy` " +
  "for a deployment.";

/** Whether a statement failed because migrations are pending. */
export function isSchemaOutdated(error: unknown): boolean {
  return /no such (table|column)|has no column named/.test(databaseMessage(error) ?? "");
}
