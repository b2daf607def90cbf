import { ApiError, BadInput } from "../../../lib/errors.ts";
import { type Fetch, readResponseBody } from "../../../lib/fetch.ts";
import type { Log } from "../../../lib/log.ts";
import type { SlackSettings } from "./settings.ts";

const TIMEOUT_MS = 10_000;
/** Slack's answer is about a kilobyte. */
const LARGEST_ANSWER = 65_536;
/** What Slack says of a code that it did not give out, or not just now. */
const BAD_CODES = ["invalid_code", "code_already_used"];

interface Exchange {
  settings: SlackSettings;
  code: string;
  redirectUri: string;
}

/** Where somebody chooses a channel and says yes. */
export function authorizationUrl(
  { origin, clientId }: Pick<SlackSettings, "origin" | "clientId">,
  { redirectUri, state }: { redirectUri: string; state: string },
): string {
  const query = new URLSearchParams({
    client_id: clientId,
    scope: "incoming-webhook",
    redirect_uri: redirectUri,
    state,
  });
  return `${origin}/oauth/v2/authorize?${query}`;
}

/**
 * The URL of the channel's webhook, for the code that Slack gave for it (Slack, "oauth.v2.access").
 * Whatever else Slack may answer, nothing of it is shown.
 */
export function exchangeCode(
  { fetch: network, log }: { fetch: Fetch; log: Log },
  exchange: Exchange,
): Promise<string> {
  return ask(network, exchange).catch((error: unknown) => {
    if (!(error instanceof Failed)) throw error;
    log("error", "slack.not_installed", { reason: error.message });
    throw error.told;
  });
}

/** Why there is no URL: for the log, and for whoever asked. */
class Failed extends Error {
  readonly told: ApiError;

  constructor(reason: string, told = new ApiError("internal", FAILED)) {
    super(reason);
    this.told = told;
  }
}

const FAILED = "Slack did not answer as it should. Ask for the installation again.";
const TIMED_OUT = new ApiError("timeout", "Slack took too long. Ask for the installation again.");

async function ask(network: Fetch, exchange: Exchange): Promise<string> {
  const answer = await post(network, exchange);
  const { ok, error, incoming_webhook } = answer as {
    ok?: unknown;
    error?: unknown;
    incoming_webhook?: { url?: unknown };
  };
  if (ok !== true) throw refused(error);
  const url = incoming_webhook?.url;
  if (typeof url !== "string" || !isOfSlack(url, exchange.settings.origin)) {
    throw new Failed("the answer has no webhook of Slack's");
  }
  return url;
}

async function post(network: Fetch, exchange: Exchange): Promise<object> {
  const { settings, code, redirectUri } = exchange;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await network(`${settings.origin}/api/oauth.v2.access`, {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${settings.clientId}:${settings.clientSecret}`)}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({ code, redirect_uri: redirectUri }).toString(),
    redirect: "manual",
    signal,
  }).catch(() => undefined);
  const text = response && (await readResponseBody(response, LARGEST_ANSWER, signal));
  if (signal.aborted) throw new Failed("no answer in time", TIMED_OUT);
  if (!response) throw new Failed("no connection, or no valid response");
  if (response.status !== 200) throw new Failed(`answered ${response.status}`);
  const answer = text === undefined ? undefined : parse(text);
  if (!answer) throw new Failed("the answer is too large, broken off, or no JSON object");
  return answer;
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function refused(error: unknown): Failed {
  // Slack's errors are short names. Anything else might be anything.
  const name = typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : "unknown";
  const message = "Slack does not know it, or not any more. Ask for the installation again.";
  const told = BAD_CODES.includes(name) ? new BadInput([{ path: "code", message }]) : undefined;
  return new Failed(`Slack refused: ${name}`, told);
}

/** Slack's webhooks are at `hooks.` of where it is; those of a stand-in may be where it is itself. */
function isOfSlack(text: string, slackOrigin: string): boolean {
  const { protocol, host } = new URL(slackOrigin);
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  const hooks = `${protocol}//hooks.${host}`;
  return url.origin === hooks || (host !== "slack.com" && url.origin === slackOrigin);
}
