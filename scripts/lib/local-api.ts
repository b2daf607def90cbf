import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "./command.ts";

const READY_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 100;

export const FIRST_ORGANIZATION = {
  organization: { name: "My organization" },
  account: { email: "me@example.com", name: "Me" },
};

const MINUTE_MS = 60_000;

/** Waits until /health succeeds; throws when `exited` aborts. */
export async function waitUntilHealthy(url: string, exited: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  let last = "no answer";
  while (Date.now() < deadline) {
    exited.throwIfAborted();
    try {
      const response = await fetch(`${url}/health`, { signal: exited });
      if (response.ok) return;
      last = `${response.status} ${await response.text()}`;
    } catch {
      // The server does not listen yet.
    }
    await sleep(POLL_EVERY_MS);
  }
  throw new CommandError(
    `${url}/health did not succeed within ${READY_WITHIN_MS / 1000} s. Last response: ${last}`,
  );
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

/** Runs the cron trigger every minute, because `wrangler dev` does not. */
export function runSchedule(url: string, exited: AbortSignal): void {
  const timer = setInterval(() => {
    const tick = `${url}/cdn-cgi/handler/scheduled?cron=${encodeURIComponent("* * * * *")}`;
    // The next run repeats the work of a failed one, for instance during a reload of the Worker.
    fetch(tick, { signal: exited }).catch(() => undefined);
  }, MINUTE_MS);
  exited.addEventListener("abort", () => clearInterval(timer));
}
