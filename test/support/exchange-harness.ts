import { Client, type Reply } from "./client.ts";
import { Instrumented } from "./instruments.ts";
import type { Issuer } from "./issuer.ts";

/** An app with its own memory, one issuer on its network, and a clock that stands still. */
export class ExchangeHarness {
  readonly issuer: Issuer;
  readonly worker: Instrumented;
  aheadMs = 0;
  readonly #start = Date.now();

  constructor(issuer: Issuer, addressLimiter?: RateLimit) {
    this.issuer = issuer;
    this.worker = new Instrumented({
      clock: { now: () => this.now },
      network: issuer.fetch,
      ...(addressLimiter && { addressLimiter }),
    });
  }

  get now(): number {
    return this.#start + this.aheadMs;
  }

  client(key?: string): Client {
    return new Client(key, this.worker.fetch);
  }

  sign(claims: object = {}): Promise<string> {
    return this.issuer.sign(claims, { now: this.now });
  }

  async exchangeIn(organizationId: string, token?: string): Promise<Reply> {
    const body = { org_id: organizationId, token: token ?? (await this.sign()) };
    return this.client().post("/v1/oidc/token", body);
  }
}
