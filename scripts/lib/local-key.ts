import { drizzle } from "drizzle-orm/d1";
import { bootstraps } from "../../src/features/identity/bootstrap/table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { CommandError } from "./command.ts";
import { openLocalDatabase } from "./database.ts";
import { createOwnerKey } from "./recovery.ts";

/** Creates an API key for the first owner of the local organization, without another key. */
export async function createLocalKey(): Promise<string> {
  const { d1, close } = await openLocalDatabase();
  try {
    const [first] = await drizzle(d1).select().from(bootstraps);
    const organizationId = first?.organizationId ?? "";
    const created = await createOwnerKey(d1, systemClock, { organizationId, name: "npm start" });
    if (!created) throw new CommandError("The local organization has no owner.");
    return created.key;
  } finally {
    await close();
  }
}
