import { readFileSync } from "node:fs";
import { REQUIRED_SECRETS } from "../../../../src/lib/settings.ts";
import { CommandError } from "../command-error.ts";
import { OPTIONAL_SECRET_NAMES } from "../secrets.ts";

type Environment = Readonly<NodeJS.Dict<string>>;

/** The secrets that the environment has, or the files that it names: `NAME`, or `NAME_FILE`. */
export function readGivenSecrets(environment: Environment): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of [...REQUIRED_SECRETS, ...OPTIONAL_SECRET_NAMES]) {
    const value = readSecret(name, environment);
    if (value !== undefined) given[name] = value;
  }
  return given;
}

function readSecret(name: string, environment: Environment): string | undefined {
  const variable = `${name}_FILE`;
  const [value, file] = [environment[name], environment[variable]];
  if (value && file) throw new CommandError(`Set ${name} or ${variable}, not both.`);
  if (!file) return value || undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : error;
    throw new CommandError(`${variable} names ${file}, which cannot be read (${reason}).`);
  }
}

/** The Worker's other settings, where the environment has another value than wrangler.toml. */
export function readGivenSettings(
  defaults: Readonly<Record<string, string>>,
  environment: Environment,
): Record<string, string> {
  const names = Object.keys(defaults).filter((name) => environment[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, environment[name] ?? ""]));
}
