import type { SystemContext } from "../../../context.ts";
import { DecryptionError } from "../../../lib/cipher.ts";
import type { Fetch } from "../../../lib/fetch.ts";
import { secretContext, targetProblem, urlContext } from "../integrations/index.ts";
import { toSlackMessage } from "../slack/index.ts";
import type { ClaimedDelivery } from "./claim.ts";
import {
  NOT_ALLOWED,
  NOT_READABLE,
  type Outcome,
  outcomeOf,
  TIMED_OUT,
  TIMEOUT_MS,
} from "./outcome.ts";
import { payloadOf } from "./payload.ts";
import { readExcerpt } from "./response-excerpt.ts";
import { readRetryAfter } from "./retry-schedule.ts";
import { sign } from "./signature.ts";
import { requestFailure, responseFailure } from "./transport-errors.ts";

export interface SendingContext extends SystemContext {
  fetch: Fetch;
}

/** What came of sending a delivery once. */
export interface Result {
  outcome: Outcome;
  statusCode?: number;
  /** The beginning of the answer. */
  response?: string;
  /** When the endpoint wants to be asked again, if it has said so. */
  notBefore?: number | undefined;
}

/** Sends a delivery once. Whatever the other side does, this does not throw. */
export async function send(ctx: SendingContext, claimed: ClaimedDelivery): Promise<Result> {
  const request = await prepare(ctx, claimed);
  if ("success" in request) return { outcome: request };
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  try {
    return await exchange(ctx, request, controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

interface Prepared {
  url: string;
  headers: Record<string, string>;
  body: string;
}

async function prepare(ctx: SendingContext, claimed: ClaimedDelivery): Promise<Prepared | Outcome> {
  const cipher = await ctx.cipher();
  const { organizationId, integrationId, integrationType } = claimed;
  try {
    const url = await cipher.open(claimed.url, urlContext(organizationId, integrationId));
    if (targetProblem(url, ctx.allowsInsecureWebhooks)) return NOT_ALLOWED;
    const payload = payloadOf({ ...claimed, type: claimed.eventType });
    const headers = {
      "content-type": "application/json",
      "user-agent": "Longshore-Webhooks/1",
    };
    if (integrationType === "slack") {
      return {
        url,
        headers,
        body: JSON.stringify(toSlackMessage(payload, claimed.linksTo ?? undefined)),
      };
    }
    const body = JSON.stringify(payload);
    return { url, headers: { ...headers, ...(await signatureOf(ctx, claimed, body)) }, body };
  } catch (error) {
    if (error instanceof DecryptionError) return NOT_READABLE;
    throw error;
  }
}

/** The headers of Standard Webhooks 1.0. A secret that was replaced signs along for a while. */
async function signatureOf(ctx: SendingContext, claimed: ClaimedDelivery, body: string) {
  const { organizationId, integrationId, eventId: id } = claimed;
  const { secret, previousSecret, previousSecretUntil } = claimed;
  const now = ctx.clock.now();
  const isRotating = previousSecretUntil !== null && previousSecretUntil > now;
  const sealed = [secret, isRotating ? previousSecret : null].filter((each) => each !== null);
  const cipher = await ctx.cipher();
  const place = secretContext(organizationId, integrationId);
  const secrets = await Promise.all(sealed.map((each) => cipher.open(each, place)));
  const timestamp = Math.floor(now / 1_000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await sign({ id, timestamp, body }, secrets),
  };
}

async function exchange(
  ctx: SendingContext,
  { url, headers, body }: Prepared,
  signal: AbortSignal,
): Promise<Result> {
  const init = { method: "POST", headers, body, redirect: "manual", signal } as const;
  const response = await ctx.fetch(url, init).catch(requestFailure);
  if ("success" in response) return { outcome: signal.aborted ? TIMED_OUT : response };
  const { status: statusCode } = response;
  const notBefore = readRetryAfter(response.headers.get("retry-after"), ctx.clock.now());
  const head = { statusCode, notBefore };
  const excerpt = await readExcerpt(response, signal);
  if ("text" in excerpt) {
    return { ...head, outcome: outcomeOf(statusCode), response: excerpt.text };
  }
  if (signal.aborted) return { ...head, outcome: TIMED_OUT };
  const failure = responseFailure(response.headers, excerpt.error, excerpt.bytesRead);
  return { ...head, outcome: failure };
}
