import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./command.ts";

const READY_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 100;

const FIRST_ORGANIZATION = {
  organization: { name: "My organization" },
  account: { email: "me@example.com", name: "Me" },
};

const MINUTE_MS = 60_000;

/** Waits until the API says that all is well; gives up when `gone` says that it never will. */
export async function waitUntilHealthy(url: string, gone: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  let last = "no answer";
  while (Date.now() < deadline) {
    gone.throwIfAborted();
    try {
      const response = await fetch(`${url}/health`, { signal: gone });
      if (response.ok) return;
      last = `${response.status} ${await response.text()}`;
    } catch {
      // It does not listen yet.
    }
    await sleep(POLL_EVERY_MS);
  }
  throw new Failure(`${url}/health is not well after a minute: ${last}`);
}

/** The very first API key; undefined if there has been one before. */
export async function bootstrap(url: string, token: string): Promise<string | undefined> {
  const response = await fetch(`${url}/v1/bootstrap`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(FIRST_ORGANIZATION),
  });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Failure(`POST ${url}/v1/bootstrap: ${response.status} ${text}`);
  const { api_key } = JSON.parse(text) as { api_key: { key: string } };
  return api_key.key;
}

/** Fires the schedule of wrangler.toml each minute, which wrangler does not do by itself. */
export function runSchedule(url: string, gone: AbortSignal): void {
  const timer = setInterval(() => {
    const tick = `${url}/cdn-cgi/handler/scheduled?cron=${encodeURIComponent("* * * * *")}`;
    // A minute that is missed, for instance while the Worker is reloaded, is made up for by the next.
    fetch(tick, { signal: gone }).catch(() => undefined);
  }, MINUTE_MS);
  gone.addEventListener("abort", () => clearInterval(timer));
}
