import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { EVENT_PAYLOADS } from "../events/event-payloads.ts";
import { SECRET_OVERLAP_MS } from "../integrations/index.ts";
import { JITTER, RETRY_DELAYS_MS } from "./retry-schedule.ts";

const TIMEOUT = durationOf(LIMITS.deliveryTimeoutMs.value);
const DELAYS = RETRY_DELAYS_MS.map(durationOf);
const RETRY_AFTER = `\`Retry-After\` is honoured, up to ${durationOf(LIMITS.retryAfterMs.value)}.`;

const Headers = z.object({
  "webhook-id": z.string().openapi({
    description:
      "The ID of the event. It is the same each time that the event is sent: ignore an ID that you " +
      "have handled.",
    example: EXAMPLE_IDS.event,
  }),
  "webhook-timestamp": z.string().openapi({
    description:
      "When this request was sent, in seconds since 1970. Refuse one that is more than five minutes off.",
    example: "1795253400",
  }),
  "webhook-signature": z.string().openapi({
    description:
      "`v1,` and the base64 of an HMAC-SHA-256, keyed with the secret, over the ID, the timestamp " +
      `and the body, joined by dots. For ${durationOf(SECRET_OVERLAP_MS)} after a rotation there are two signatures, separated ` +
      "by a space: accept the request if either matches.",
    example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  }),
});

const REPLIES = {
  "2XX": {
    description: `Success. Respond within ${TIMEOUT}, and do the work afterwards.`,
  },
  "3XX": { description: "A failure. Redirects are never followed." },
  410: { description: "The endpoint is gone: the integration is disabled." },
  429: {
    description: `A failure, as are 502 and 504. The other deliveries of the integration wait too. ${RETRY_AFTER}`,
  },
  default: {
    description:
      `A failure, as is no response within ${TIMEOUT}. The event is sent again ` +
      `after ${DELAYS.slice(0, -1).join(", ")} and ${DELAYS.at(-1)}, each varied by up to ` +
      `${100 * JITTER} %; then the delivery fails. ${RETRY_AFTER} The integration is disabled after ` +
      `${durationOf(LIMITS.failingMs.value)} of nothing but failures.`,
  },
};

export function describeWebhooks(registry: OpenAPIHono["openAPIRegistry"]): void {
  for (const { type, name, summary, schema } of EVENT_PAYLOADS) {
    registry.registerWebhook({
      method: "post",
      path: type,
      operationId: `on${name}`,
      tags: ["Webhooks"],
      summary,
      security: [],
      request: {
        headers: Headers,
        body: { required: true, content: { "application/json": { schema: schema } } },
      },
      responses: REPLIES,
    });
  }
}
