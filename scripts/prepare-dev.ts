/**
 * The build command of wrangler.toml: creates the local secrets and migrates the local database before
 * `wrangler dev` serves. Wrangler also runs it for other commands, and after each change below src.
 */
import { join } from "node:path";
import { runCommand } from "./lib/command.ts";
import { ensureDevVars, requireSafeDevVars } from "./lib/dev-vars.ts";
import { prepareDatabase } from "./lib/local-state.ts";
import { firstKeyMessage } from "./lib/start-message.ts";
import { ROOT } from "./lib/wrangler.ts";

await runCommand(async () => {
  if (process.env["WRANGLER_COMMAND"] !== "dev") return 0;
  const secrets = ensureDevVars(join(ROOT, ".dev.vars"));
  // `npm start` creates the first key itself.
  const printsHint = process.env["LONGSHORE_CREATES_KEY"] !== "true";
  const { hasKey } = await prepareDatabase({ needsKeyState: printsHint });
  // After the migration, because the command that replaces the sample key needs it.
  requireSafeDevVars(secrets);
  if (printsHint && !hasKey) console.log(firstKeyMessage(secrets.BOOTSTRAP_TOKEN));
  return 0;
});
