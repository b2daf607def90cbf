import type { SystemContext } from "../../../context.ts";
import { DecryptionError } from "../../../lib/cipher.ts";
import { allowsInsecureWebhooks } from "../../../lib/settings.ts";
import { targetProblem } from "../../../lib/target-url.ts";
import { toPayload } from "../../housekeeping/outbox/model.ts";
import { secretContext, urlContext } from "../integrations/index.ts";
import { toSlackMessage } from "../slack/index.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { sign } from "./signature.ts";

export interface DeliveryRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const HEADERS = { "content-type": "application/json" };

export async function buildRequest(
  ctx: SystemContext,
  claimed: ClaimedDelivery,
): Promise<DeliveryRequest | { error: string }> {
  try {
    const url = await openUrl(ctx, claimed);
    // The target was checked when it was stored; the rules may have become stricter since.
    if (targetProblem(url, allowsInsecureWebhooks(ctx.settings)))
      return { error: "the URL is not allowed" };
    const payload = toPayload({ ...claimed, type: claimed.eventType });
    if (claimed.integrationType === "slack") {
      const message = toSlackMessage(payload, claimed.linksTo ?? undefined, claimed.creatorName);
      return { url, headers: HEADERS, body: JSON.stringify(message) };
    }
    const body = JSON.stringify(payload);
    const headers = { ...HEADERS, ...(await signatureHeaders(ctx, claimed, body)) };
    return { url, headers, body };
  } catch (error) {
    if (error instanceof DecryptionError)
      return { error: "the URL or the secret could not be decrypted" };
    throw error;
  }
}

async function openUrl(ctx: SystemContext, claimed: ClaimedDelivery): Promise<string> {
  const cipher = await ctx.cipher();
  return cipher.open(claimed.url, urlContext(integrationOf(claimed)));
}

function integrationOf({ integrationId, integrationProjectId, organizationId }: ClaimedDelivery) {
  return { id: integrationId, projectId: integrationProjectId, organizationId };
}

/** Standard Webhooks 1.0. After a rotation, the previous secret signs for a while. */
async function signatureHeaders(ctx: SystemContext, claimed: ClaimedDelivery, body: string) {
  const { eventId: id, secret, previousSecret, previousSecretUntil } = claimed;
  const now = ctx.clock.now();
  const isRotating = previousSecretUntil !== null && previousSecretUntil > now;
  const sealed = [secret, isRotating ? previousSecret : null].filter((each) => each !== null);
  const cipher = await ctx.cipher();
  const context = secretContext(integrationOf(claimed));
  const secrets = await Promise.all(sealed.map((each) => cipher.open(each, context)));
  const timestamp = Math.floor(now / 1_000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await sign({ id, timestamp, body }, secrets),
  };
}
