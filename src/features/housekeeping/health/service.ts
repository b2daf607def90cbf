import type { Database } from "../../../db/client.ts";
import { HOW_TO_MIGRATE } from "../../../db/schema-errors.ts";
import { ApiError } from "../../../lib/errors.ts";
import type { RefusedSetting } from "../../../lib/settings.ts";
import { listTables } from "./store.ts";

const TIMEOUT_MS = 3_000;
export const INCOMPLETE = "The deployment is incomplete; see cause.";

interface Checked {
  /** By name. Each is also in `refusedSettings`. */
  missingSecrets: readonly string[];
  refusedSettings: readonly RefusedSetting[];
  /** The names of those that must exist. */
  tables: readonly string[];
}

/** Throws `internal`, with what is missing or refused as its cause. */
export async function checkHealth(
  db: Database,
  { missingSecrets, refusedSettings, tables }: Checked,
): Promise<void> {
  const present = await findTables(db);
  const missingTables = present ? tables.filter((name) => !present.has(name)) : [];
  if (present && refusedSettings.length + missingTables.length === 0) return;
  const message = missingTables.length > 0 ? `${INCOMPLETE} ${HOW_TO_MIGRATE}` : INCOMPLETE;
  throw new ApiError("internal", message, {
    cause: {
      missing_secrets: missingSecrets,
      refused_settings: refusedSettings,
      missing_tables: missingTables,
      database: present ? "ok" : "unreachable",
    },
  });
}

/** Undefined if the database does not respond in time. */
function findTables(db: Database): Promise<ReadonlySet<string> | undefined> {
  const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, TIMEOUT_MS, undefined));
  return Promise.race([listTables(db), timeout]).catch(() => undefined);
}
