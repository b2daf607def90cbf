import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { REQUIRED_SECRETS, type SecretName } from "../../../../src/lib/settings.ts";
import { CommandError } from "../command-error.ts";
import { newSecret } from "../secrets.ts";

const ONLY_OWNER = 0o600;
const OTHERS = 0o077;

interface Options {
  /** What the environment has, which takes precedence. */
  given: Readonly<Record<string, string>>;
  /** Whether a database exists, whose values a new key cannot decrypt. */
  hasDatabase: boolean;
}

/** The Worker's secrets. The first start makes those that are not given, and stores them. */
export function ensureSecrets(
  file: string,
  { given, hasDatabase }: Options,
): Record<SecretName, string> {
  const stored = readStored(file);
  const secrets: Record<string, string> = {};
  const made: string[] = [];
  for (const name of REQUIRED_SECRETS) {
    const known = given[name] ?? stored[name];
    if (!known && name === "ENCRYPTION_KEYS" && hasDatabase) throw missingKeys(file);
    secrets[name] = known || newSecret(name);
    if (!known) made.push(name);
  }
  const kept = Object.entries(stored).filter(([name]) => !made.includes(name));
  if (made.length > 0)
    store(file, [...kept, ...made.map((name) => [name, secrets[name] ?? ""] as const)]);
  return secrets;
}

function readStored(file: string): NodeJS.Dict<string> {
  if (!existsSync(file)) return {};
  if ((statSync(file).mode & OTHERS) !== 0) {
    throw new CommandError(`Others can read the secrets in ${file}. Run: chmod 600 ${file}`);
  }
  return parseEnv(readFileSync(file, "utf8"));
}

/** A crash leaves the old file or the new one. */
function store(file: string, secrets: readonly (readonly [string, string | undefined])[]): void {
  const lines = secrets.map(([name, value]) => `${name}="${value}"\n`);
  const temporary = `${file}.new`;
  writeFileSync(temporary, lines.join(""), { mode: ONLY_OWNER, flush: true });
  renameSync(temporary, file);
}

function missingKeys(file: string): CommandError {
  return new CommandError(
    `There is a database, but ${file} has no ENCRYPTION_KEYS. Without them, its variables and secrets cannot be read. ` +
      "Put them back, or set ENCRYPTION_KEYS.",
  );
}
