import { join } from "node:path";
import envPaths from "env-paths";
import { readJsonFile, writeTextFile } from "./config-file.ts";
import { CliError } from "./errors.ts";

/** An address, and the key for it. */
export interface Profile {
  url: string;
  apiKey: string;
}

export interface Profiles {
  /** The name of the profile that commands use. Empty after a logout. */
  current: string;
  profiles: Record<string, Profile>;
}

/** Only its owner may read the keys. */
const FILE_MODE = 0o600;
const NAME = /^[\w.:/-]{1,100}$/;

/** In `LONGSHORE_CONFIG_DIR` or, by default, in the operating system's folder for settings. */
export function profilesPath({ LONGSHORE_CONFIG_DIR: folder }: NodeJS.Dict<string>): string {
  return join(folder || envPaths("longshore", { suffix: "" }).config, "profiles.json");
}

export async function readProfiles(environment: NodeJS.Dict<string>): Promise<Profiles> {
  const path = profilesPath(environment);
  const file = (await readJsonFile(path)) ?? {};
  const { current = "", profiles = {} } = file;
  if (typeof current !== "string" || !isProfiles(profiles)) {
    throw new CliError(`${path} is not a file of longshore. Correct it, or delete it and log in.`);
  }
  const entries = Object.entries(profiles).map(([name, { url, api_key }]) => {
    return [name, { url, apiKey: api_key }] as const;
  });
  return { current, profiles: Object.fromEntries(entries) };
}

export async function writeProfiles(
  environment: NodeJS.Dict<string>,
  { current, profiles }: Profiles,
): Promise<void> {
  const entries = Object.entries(profiles).map(([name, { url, apiKey }]) => {
    return [name, { url, api_key: apiKey }] as const;
  });
  const file = { current, profiles: Object.fromEntries(entries) };
  await writeTextFile(profilesPath(environment), `${JSON.stringify(file, null, 2)}\n`, FILE_MODE);
}

/** @throws CliError for a name that is not letters, digits, and `._:/-`. */
export function requireProfileName(name: string): string {
  if (NAME.test(name) && name !== "__proto__") return name;
  throw new CliError("Name the profile with at most 100 letters, digits, and ._:/-");
}

function isProfiles(value: unknown): value is Record<string, { url: string; api_key: string }> {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).every(
    (each) => typeof each?.url === "string" && typeof each?.api_key === "string",
  );
}
