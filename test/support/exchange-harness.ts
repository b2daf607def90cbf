import { Client, type Reply } from "./client.ts";
import { Instrumented } from "./instruments.ts";
import { AUDIENCE, ISSUER, Issuer } from "./issuer.ts";
import { newServiceAccount, newWorld, type World } from "./world.ts";

export const CONDITIONS = { repository_id: "74", environment: "production" };

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

/** A harness in an organization, whose service account its trusts name. */
export class TrustingHarness extends ExchangeHarness {
  readonly world: World;
  readonly membershipId: string;

  private constructor(issuer: Issuer, world: World, membershipId: string) {
    super(issuer);
    this.world = world;
    this.membershipId = membershipId;
  }

  /** In a new organization, or in that of another harness. */
  static async create(
    algorithm?: "RS256" | "ES256",
    other?: Pick<TrustingHarness, "world" | "membershipId">,
  ): Promise<TrustingHarness> {
    const world = other?.world ?? (await newWorld());
    const membershipId = other?.membershipId ?? (await newServiceAccount(world));
    return new TrustingHarness(await Issuer.create(algorithm), world, membershipId);
  }

  createTrust(fields: object = {}, client = this.world.client): Promise<Reply> {
    return client.via(this.worker.fetch).post(`/v1/orgs/${this.world.id}/trusts`, {
      name: "deploy",
      issuer: ISSUER,
      audience: AUDIENCE,
      conditions: CONDITIONS,
      membership_id: this.membershipId,
      ...fields,
    });
  }

  exchange(token?: string, organizationId = this.world.id): Promise<Reply> {
    return this.exchangeIn(organizationId, token);
  }
}
