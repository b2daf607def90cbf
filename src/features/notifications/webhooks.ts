import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { LIMITS } from "../../lib/limits.ts";
import { EXAMPLE_ID } from "../../lib/schemas.ts";
import { WEBHOOKS } from "./webhook-schemas.ts";

const Headers = z.object({
  "webhook-id": z.string().openapi({
    description: "The ID of the event: the same each time that it is sent, so drop what you have.",
    example: EXAMPLE_ID,
  }),
  "webhook-timestamp": z.string().openapi({
    description: "When this was sent, in seconds since 1970. Refuse what is over five minutes off.",
    example: "1795253400",
  }),
  "webhook-signature": z.string().openapi({
    description:
      "`v1,` and base64 of the HMAC-SHA-256, by the secret, of ID, time stamp and body, with dots " +
      "between. For a day after a rotation there are two, with a space between: one that fits is " +
      "enough.",
    example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  }),
});

const SECONDS = LIMITS.deliveryTimeoutMs.value / 1_000;

const ANSWERS = {
  "2XX": {
    description: `It has arrived. Respond within ${SECONDS} seconds, and do the work afterwards.`,
  },
  "3XX": { description: "A failure. Redirects are never followed." },
  410: { description: "The endpoint is gone: the integration is disabled." },
  429: {
    description:
      "A failure, as 502 and 504: whatever else is to be sent there waits too. `Retry-After` is " +
      "honoured, up to 12 hours.",
  },
  default: {
    description:
      `A failure, as is no response within ${SECONDS} seconds. It is sent again after 5 s, ` +
      "5 min, 30 min, 2 h, 5 h, 10 h and 10 h, give or take a tenth, and then given up. " +
      "`Retry-After` is honoured, up to 12 hours. After five days of nothing but failures the integration is disabled.",
  },
};

/** Describes what is sent to webhooks, for the OpenAPI document. */
export function describeWebhooks(registry: OpenAPIHono["openAPIRegistry"]): void {
  for (const { type, summary, body } of WEBHOOKS) {
    registry.registerWebhook({
      method: "post",
      path: type,
      operationId: operationIdOf(type),
      tags: ["Webhooks"],
      summary,
      security: [],
      request: {
        headers: Headers,
        body: { required: true, content: { "application/json": { schema: body } } },
      },
      responses: ANSWERS,
    });
  }
}

/** `onDeploymentsInProgress` for `deployments.in_progress`. */
function operationIdOf(type: string): string {
  return `on_${type}`.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase());
}
