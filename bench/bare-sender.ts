import { sendSigned } from "./send-signed.ts";

export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface BareEnv {
  RECEIVER: string;
  SECRET: string;
  BODY: string;
}

/** The batch size of the service. */
const CONCURRENCY = 5;

/**
 * The minimum: signs and sends. It has no outbox, claims, decryption, target checks or records. A
 * request sends `count` webhooks; a queue message sends one.
 */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env) {
    const count = Number(new URL(request.url).searchParams.get("count"));
    const rest = Array.from({ length: count }, () => crypto.randomUUID()).values();
    // All loops share one iterator, so each sends its next webhook after the previous response.
    const sendRest = async () => {
      for (const id of rest) await send(env, id);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, sendRest));
    return new Response(null, { status: 204 });
  },
  async queue(batch, env) {
    await Promise.all(batch.messages.map(({ id }) => send(env, id)));
  },
} satisfies ExportedHandler<BareEnv>;

async function send({ RECEIVER: url, SECRET: secret, BODY: body }: BareEnv, id: string) {
  await sendSigned({ url, id, body, secret });
}
