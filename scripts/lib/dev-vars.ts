import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import {
  newEncryptionKey,
  newSecret,
  requireNoneRefused,
} from "../../packages/server/src/secrets.ts";
import {
  type CheckedSettings,
  findRefusedSettings,
  REQUIRED_SECRETS,
  type SecretName,
} from "../../src/lib/settings.ts";
import { CommandError } from "./command.ts";

/** Overrides wrangler.toml, so that webhooks may go to this machine. */
const LOCAL_SETTINGS = { ALLOW_INSECURE_WEBHOOKS: "true" };

/** Adds missing secrets and settings to `.dev.vars`, and returns the secrets. */
export function ensureDevVars(file: string): Record<SecretName, string> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const present = parseEnv(text);
  const secrets: Record<string, string> = {};
  const added: string[] = [];
  for (const name of REQUIRED_SECRETS) {
    secrets[name] = present[name] || newSecret(name);
    if (!present[name]) added.push(`${name}="${secrets[name]}"\n`);
  }
  for (const [name, value] of Object.entries(LOCAL_SETTINGS)) {
    if (!(name in present)) added.push(`${name}="${value}"\n`);
  }
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  if (added.length > 0) appendFileSync(file, separator + added.join(""), { mode: 0o600 });
  return secrets;
}

/** Throws if the Worker would refuse these settings, or those for one URL. */
export function requireSafeDevVars(settings: CheckedSettings, url?: string): void {
  const refused = findRefusedSettings(settings, url);
  requireNoneRefused(refused, "The Worker refuses these settings of .dev.vars:");
}

export function readDevVars(file: string): NodeJS.Dict<string> {
  return parseEnv(readText(file));
}

/** Makes a new key the first in the keyring, and returns the key's ID. Changes nothing else. */
export function addEncryptionKey(file: string): string {
  const text = readText(file);
  const entry = newEncryptionKey();
  const changed = text.replace(/^(\s*(?:export\s+)?ENCRYPTION_KEYS\s*=\s*["'`]?)/m, `$1${entry},`);
  const before = parseEnv(text)["ENCRYPTION_KEYS"];
  if (!before || parseEnv(changed)["ENCRYPTION_KEYS"] !== `${entry},${before}`) {
    throw new CommandError("Add ENCRYPTION_KEYS to .dev.vars, or run npm start, which adds it.");
  }
  // A crash leaves the old file or the new one: without its keys, the values are lost.
  const temporary = `${file}.new`;
  writeFileSync(temporary, changed, { mode: 0o600 });
  renameSync(temporary, file);
  return entry.slice(0, entry.indexOf(":"));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CommandError(".dev.vars does not exist. Run npm start, which creates it.");
  }
}
