import { CliError } from "./errors.ts";
import { type Profile, type Profiles, readProfiles } from "./profiles.ts";

/** Where requests go, and with which key. */
export interface Connection extends Profile {
  /** Where the key is from, for people. */
  source: string;
}

/** What decides the connection. */
export interface ConnectionOptions {
  /** The name of a profile. Absent: the current one. */
  profile?: string | undefined;
}

/**
 * `LONGSHORE_URL` and `LONGSHORE_API_KEY` take precedence over the profile. A stored key goes only to
 * the address that it was stored for.
 */
export async function readConnection(
  environment: NodeJS.Dict<string>,
  options: ConnectionOptions,
): Promise<Connection> {
  const { LONGSHORE_URL: urlText, LONGSHORE_API_KEY: keyText } = environment;
  const url = urlText ? readUrl(urlText, "LONGSHORE_URL") : undefined;
  const apiKey = keyText ? readKey(keyText, "LONGSHORE_API_KEY") : undefined;
  if (apiKey && options.profile !== undefined) {
    throw new CliError("--profile and LONGSHORE_API_KEY name two keys. Omit one of them.");
  }
  if (url && apiKey) return { url, apiKey, source: "the environment" };
  const stored = await readProfiles(environment);
  const name = options.profile ?? stored.current;
  const profile = findProfile(stored, name, url);
  if (!profile && options.profile !== undefined) {
    throw new CliError(
      Object.hasOwn(stored.profiles, name)
        ? `LONGSHORE_URL is not the address of the profile ${name}. Omit one of them.`
        : `There is no profile ${name}. Run: longshore login --profile ${name}`,
    );
  }
  if (!profile) throw new CliError(describeMissing(url, apiKey));
  return {
    url: url ?? readUrl(profile.url, `The profile ${name}`),
    apiKey: apiKey ?? readKey(profile.apiKey, `The profile ${name}`),
    source: apiKey ? "the environment" : `the profile ${name}`,
  };
}

/** For an address without a name, any profile of it. */
function findProfile({ profiles }: Profiles, name: string, url?: string): Profile | undefined {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!profile || url === undefined || readUrl(profile.url, `The profile ${name}`) === url)
    return profile;
  return undefined;
}

function describeMissing(url: string | undefined, apiKey: string | undefined): string {
  if (apiKey) return "Set LONGSHORE_URL to the address of the API, such as http://localhost:8787.";
  if (url) return `There is no API key for ${url}. Run: longshore login --url ${url}`;
  return "You are not logged in. Run: longshore login --url URL, or set LONGSHORE_URL and LONGSHORE_API_KEY.";
}

/** The address without credentials, a query and a fragment. */
export function readUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.href === `${url?.origin}${url?.pathname}`;
  if (url && isPlain && /^https?:$/.test(url.protocol)) return url.href;
  throw new CliError(
    `${name} must be the address of the API, such as http://localhost:8787 for npm start.`,
  );
}

export function readKey(text: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new CliError(`${name} must be an API key (lsh_…), without spaces. npm start prints one.`);
}
