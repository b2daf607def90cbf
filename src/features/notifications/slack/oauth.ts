import type { Settings } from "../../../context.ts";
import { ApiError, BadInput, NotConfigured } from "../../../lib/errors.ts";
import type { Fetch } from "../../../lib/fetch.ts";
import { readResponseBody } from "../../../lib/fetch.ts";
import type { Log } from "../../../lib/log.ts";
import type { SlackChannel } from "../integrations/index.ts";
import { shorten } from "./block-kit.ts";
import { FAILED, TIMED_OUT } from "./model.ts";

const TIMEOUT_MS = 10_000;
/** A response of Slack has about a kilobyte. */
const MAXIMUM_RESPONSE_BYTES = 65_536;
/** Of a workspace or a channel. Slack allows 80 for a channel. */
const NAME_LENGTH = 100;
const INVALID_CODE_ERRORS = ["invalid_code", "code_already_used"];

const INVALID_CODE = "Slack does not accept this code. Ask for the installation again.";

export interface SlackSettings {
  /** The origin of Slack, or of a server that replaces it in tests. */
  origin: string;
  clientId: string;
  clientSecret: string;
}

export function slackSettingsOf(
  settings: Pick<Settings, "SLACK_ORIGIN" | "SLACK_CLIENT_ID" | "SLACK_CLIENT_SECRET">,
): SlackSettings {
  return {
    origin: settings.SLACK_ORIGIN,
    clientId: settings.SLACK_CLIENT_ID,
    clientSecret: settings.SLACK_CLIENT_SECRET ?? "",
  };
}

export function requireSlackApp({ clientId, clientSecret }: SlackSettings): void {
  const missing = [
    ...(clientId ? [] : ["SLACK_CLIENT_ID"]),
    ...(clientSecret ? [] : ["SLACK_CLIENT_SECRET"]),
  ];
  if (missing.length > 0) throw new NotConfigured("Slack", missing);
}

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

/** Where messages will go. */
export interface Grant {
  /** A credential. */
  url: string;
  channel: SlackChannel;
}

interface CodeExchange {
  settings: SlackSettings;
  code: string;
  redirectUri: string;
}

/**
 * Slack, "oauth.v2.access". Neither the reply nor the log contains any part of Slack's response,
 * except for an error name.
 */
export async function exchangeCode(
  { fetch: network, log }: { fetch: Fetch; log: Log },
  exchange: CodeExchange,
): Promise<Grant> {
  try {
    return await requestGrant(network, exchange);
  } catch (error) {
    if (!(error instanceof ExchangeFailed)) throw error;
    log("error", "slack.not_installed", { reason: error.message });
    throw error.reply;
  }
}

/** The message is for the log, the reply for the client. */
class ExchangeFailed extends Error {
  readonly reply: ApiError;

  constructor(reason: string, reply = new ApiError("internal", FAILED)) {
    super(reason);
    this.reply = reply;
  }
}

async function requestGrant(network: Fetch, exchange: CodeExchange): Promise<Grant> {
  const response = await requestAccess(network, exchange);
  const { ok, error, team, incoming_webhook } = response as {
    ok?: unknown;
    error?: unknown;
    team?: { id?: unknown; name?: unknown } | null;
    incoming_webhook?: { url?: unknown; channel?: unknown; channel_id?: unknown } | null;
  };
  if (ok !== true) throw refusal(error);
  const url = incoming_webhook?.url;
  if (typeof url !== "string" || !isSlackWebhook(url, exchange.settings.origin)) {
    throw new ExchangeFailed("the response has no webhook URL of Slack");
  }
  const channel = {
    workspaceId: readId(team?.id),
    workspaceName: readName(team?.name),
    channelId: readId(incoming_webhook?.channel_id),
    channelName: readName(incoming_webhook?.channel),
  };
  return { url, channel };
}

function readId(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z0-9]{1,32}$/.test(value) ? value : undefined;
}

/** Without control and formatting characters, which could make a name look like another one. */
function readName(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value.toWellFormed().replace(/[\s\p{Cc}\p{Cf}]+/gu, " ");
  return shorten(line.trim(), NAME_LENGTH) || undefined;
}

async function requestAccess(network: Fetch, exchange: CodeExchange): Promise<object> {
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
  const text = response && (await readResponseBody(response, MAXIMUM_RESPONSE_BYTES, signal));
  if (signal.aborted) throw new ExchangeFailed("no response in time", TIMED_OUT);
  if (!response) throw new ExchangeFailed("no connection, or no valid response");
  if (response.status !== 200) throw new ExchangeFailed(`answered ${response.status}`);
  const body = text === undefined ? undefined : parseObject(text);
  if (!body) throw new ExchangeFailed("the response is too large, incomplete, or no JSON object");
  return body;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(error: unknown): ExchangeFailed {
  // The errors of Slack are short names. Any other text could contain secrets.
  const name = typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : "unknown";
  const reply = INVALID_CODE_ERRORS.includes(name)
    ? new BadInput([{ path: "code", message: INVALID_CODE }])
    : undefined;
  return new ExchangeFailed(`Slack refused: ${name}`, reply);
}

/** Webhooks of Slack are on its subdomain `hooks`; those of a replacement may be on its own host. */
function isSlackWebhook(text: string, slackOrigin: string): boolean {
  const { protocol, host } = new URL(slackOrigin);
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  const hooks = `${protocol}//hooks.${host}`;
  return url.origin === hooks || (host !== "slack.com" && url.origin === slackOrigin);
}
