import { sendSigned } from "./send-signed.ts";

export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface BareEnv {
  RECEIVER: string;
  SECRET: string;
  BODY: string;
}

/** As many at a time as the service gets in a batch. */
const AT_A_TIME = 5;

/**
 * The floor: signs and sends, and nothing else. It reads no outbox, claims nothing, opens no seal,
 * checks no target and records nothing. A request has it send as many as it asks for; a message of the
 * queue, one.
 */
// biome-ignore lint/style/noDefaultExport: the runtime looks for it.
export default {
  async fetch(request, env) {
    const count = Number(new URL(request.url).searchParams.get("count"));
    const rest = Array.from({ length: count }, () => crypto.randomUUID()).values();
    // All draw from the one iterator, each as soon as its last one is answered.
    const line = async () => {
      for (const id of rest) await send(env, id);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, line));
    return new Response(null, { status: 204 });
  },
  async queue(batch, env) {
    await Promise.all(batch.messages.map(({ id }) => send(env, id)));
  },
} satisfies ExportedHandler<BareEnv>;

async function send({ RECEIVER: url, SECRET: secret, BODY: body }: BareEnv, id: string) {
  await sendSigned({ url, id, body, secret });
}
