/**
 * The build command of wrangler.toml: builds the static assets. Before `wrangler dev` serves, it also creates the
 * local secrets and migrates the local database. Wrangler runs it again after each change below `watch_dir`.
 */
import { join } from "node:path";
import { buildAssets } from "./lib/assets.ts";
import { runCommand } from "./lib/command.ts";
import { ensureDevVars, requireSafeDevVars } from "./lib/dev-vars.ts";
import { prepareDatabase } from "./lib/local-state.ts";
import { firstKeyMessage } from "./lib/start-message.ts";
import { ROOT } from "./lib/wrangler.ts";

await runCommand(async () => {
  await buildAssets();
  if (process.env["WRANGLER_COMMAND"] !== "dev") return 0;
  const secrets = ensureDevVars(join(ROOT, ".dev.vars"));
  const { hasKey } = await prepareDatabase({ needsKeyState: true });
  // After the migration, because the command that replaces the sample key needs it.
  requireSafeDevVars(secrets);
  if (!hasKey) console.log(firstKeyMessage(secrets.BOOTSTRAP_TOKEN));
  return 0;
});
