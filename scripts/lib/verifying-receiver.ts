import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** The first request of one event in this many is refused. */
const REFUSES_ONE_IN = 10;

/** A local endpoint that verifies each request, and counts those of each event. */
export class VerifyingReceiver {
  readonly requestsOf = new Map<string, number>();
  requests = 0;
  unverified = 0;
  /** By the path of the integration. */
  readonly #webhooks = new Map<string, Webhook>();
  readonly #server = createServer(async (request, response) => {
    const body = await text(request);
    const id = String(request.headers["webhook-id"]);
    const earlier = this.requestsOf.get(id) ?? 0;
    this.requests += 1;
    this.requestsOf.set(id, earlier + 1);
    const path = request.url ?? "";
    // The ping may arrive before its secret is known: its next attempt is verified.
    const isKnown = this.#webhooks.has(path);
    if (isKnown && !this.#isVerified(path, body, request.headers)) this.unverified += 1;
    const isRefused = !isKnown || (earlier === 0 && this.requestsOf.size % REFUSES_ONE_IN === 0);
    response.writeHead(isRefused ? 503 : 204).end();
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  expect(path: string, secret: string): void {
    this.#webhooks.set(path, new Webhook(secret));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #isVerified(path: string, body: string, headers: NodeJS.Dict<string | string[]>): boolean {
    try {
      const payload = this.#webhooks.get(path)?.verify(body, headers as Record<string, string>);
      return (payload as { id?: string } | undefined)?.id === headers["webhook-id"];
    } catch {
      return false;
    }
  }
}
