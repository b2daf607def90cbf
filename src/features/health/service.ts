import { openForReading } from "../../db/client.ts";
import { HOW_TO_MIGRATE } from "../../db/schema-errors.ts";
import { ApiError } from "../../lib/errors.ts";
import { listTables } from "./store.ts";

const TIMEOUT_MS = 3_000;
const INCOMPLETE = "The deployment is incomplete; see cause.";

interface Required {
  secrets: Record<string, string | undefined>;
  /** By name. */
  tables: readonly string[];
}

/** Throws `internal`, with what is missing as its cause. */
export async function checkHealth(d1: D1Database, { secrets, tables }: Required): Promise<void> {
  const missingSecrets = Object.keys(secrets).filter((name) => !secrets[name]);
  const present = await findTables(d1);
  const missingTables = present ? tables.filter((name) => !present.has(name)) : [];
  if (present && missingSecrets.length + missingTables.length === 0) return;
  const message = missingTables.length > 0 ? `${INCOMPLETE} ${HOW_TO_MIGRATE}` : INCOMPLETE;
  throw new ApiError("internal", message, {
    cause: {
      missing_secrets: missingSecrets,
      missing_tables: missingTables,
      database: present ? "ok" : "unreachable",
    },
  });
}

/** Undefined if the database does not respond in time. */
function findTables(d1: D1Database): Promise<ReadonlySet<string> | undefined> {
  const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, TIMEOUT_MS, undefined));
  return Promise.race([listTables(openForReading(d1).db), timeout]).catch(() => undefined);
}
