import { CommandError } from "./command-error.ts";

export const FIRST_ORGANIZATION = {
  organization: { name: "My organization" },
  account: { email: "me@example.com", name: "Me" },
};

/** Whether the first key exists. Asking the API would count as a request without a key, of which an address has few. */
export async function hasFirstKey(d1: D1Database): Promise<boolean> {
  return (await d1.prepare("select 1 from bootstraps limit 1").first()) !== null;
}

/** Creates the first API key; returns undefined if one already exists. */
export async function bootstrap(url: string, token: string): Promise<string | undefined> {
  const response = await fetch(`${url}/v1/bootstrap`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(FIRST_ORGANIZATION),
  });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new CommandError(`POST ${url}/v1/bootstrap: ${response.status} ${text}`);
  const { api_key } = JSON.parse(text) as { api_key: { key: string } };
  return api_key.key;
}

/** Creates a link that signs in at a browser with what the key may do. */
export async function createSignInLink(url: string, apiKey: string): Promise<string> {
  const path = "/v1/sign-in-links";
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
  });
  const text = await response.text();
  if (!response.ok) throw new CommandError(`POST ${url}${path}: ${response.status} ${text}`);
  return (JSON.parse(text) as { url: string }).url;
}
