import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { SECRET_NAMES, SECRETS, type SecretName } from "./secrets.ts";

/** Overrides wrangler.toml, so that webhooks may go to this machine. */
const LOCAL_SETTINGS = { ALLOW_INSECURE_WEBHOOKS: "true" };

/** Adds missing secrets and settings to `.dev.vars`, and returns the secrets. */
export function ensureDevVars(file: string): Record<SecretName, string> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const present = parseEnv(text);
  const secrets: Record<string, string> = {};
  const added: string[] = [];
  for (const name of SECRET_NAMES) {
    secrets[name] = present[name] || SECRETS[name]();
    if (!present[name]) added.push(`${name}="${secrets[name]}"\n`);
  }
  for (const [name, value] of Object.entries(LOCAL_SETTINGS)) {
    if (!(name in present)) added.push(`${name}="${value}"\n`);
  }
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  if (added.length > 0) appendFileSync(file, separator + added.join(""), { mode: 0o600 });
  return secrets;
}
