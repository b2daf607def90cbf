import { type Operation, operations } from "../support/contract.ts";
import { PROVIDER } from "../support/identity-provider.ts";
import { seededRandom } from "../support/random.ts";
import { newEmail } from "../support/world.ts";
import { returnsSecret } from "./document.ts";
import type { Fixture } from "./fixtures.ts";
import { isFeasible, type Means, newCall } from "./requests.ts";
import type { LeakWorker, PlannedRequest, Reply } from "./worker.ts";

const RESOLUTION = 2 ** 20;
const REPEAT_CHANCE = 0.05;
/** More often than the others: they make credentials, or say who has them. */
const WEIGHT_OF_SECRETS = 20;
const WEIGHT_OF_ACCESS = 5;
const WEIGHT_OF_WRITES = 1;
const WEIGHT_OF_READS = 0.3;
/** Pages that are the same for everybody. */
const WEIGHT_OF_PAGES = 0.01;
const CONTINUED_FACTOR = 15;
/** Of what a browser opens by itself. */
const FOLLOWED_FACTOR = 60;
const REPEATED_FACTOR = 0.25;
const USELESS_FACTOR = 0.02;
const ACCESS = /orgs$|member|account|key|session|invitation|trust|sign-in/;

/** Operations that continue what others have begun: how much more often they are called then. */
const CONTINUES: Record<string, (attacker: Attacker) => number> = {
  acceptInvitation: () => CONTINUED_FACTOR,
  acceptInvitationOnPage: () => CONTINUED_FACTOR,
  finishSignIn: () => FOLLOWED_FACTOR,
  startSignIn: ({ usedAddresses }) => (usedAddresses.size > 0 ? CONTINUED_FACTOR : USELESS_FACTOR),
  showSignInOrganizations: after("finishSignIn", CONTINUED_FACTOR),
  chooseSignInOrganization: after("finishSignIn", FOLLOWED_FACTOR),
  declineSignInOrganization: after("finishSignIn", CONTINUED_FACTOR),
  exchangeToken: after("createTrust", CONTINUED_FACTOR),
  switchOrganization: after("finishSignIn", CONTINUED_FACTOR),
};

function after(operationId: string, factor: number): (attacker: Attacker) => number {
  return ({ succeeded }) => (succeeded.has(operationId) ? factor : USELESS_FACTOR);
}

const WEIGHTED = operations.map((operation) => ({ operation, weight: weightOf(operation) }));

function weightOf(operation: Operation): number {
  if (returnsSecret(operation) || operation.operationId === "createTrust") return WEIGHT_OF_SECRETS;
  if (operation.method === "GET") {
    return operation.security.length === 0 ? WEIGHT_OF_PAGES : WEIGHT_OF_READS;
  }
  const isEnd = operation.method === "DELETE";
  return ACCESS.test(operation.path) && !isEnd ? WEIGHT_OF_ACCESS : WEIGHT_OF_WRITES;
}

/** The operations that succeeded, each with the number of times. */
export type Coverage = Map<string, number>;

export class Attacker {
  readonly log: string[] = [];
  readonly addresses = [newEmail(), newEmail()];
  /** Those that the service has accepted. */
  readonly usedAddresses = new Set<string>();
  /** The operations, in this sequence. */
  readonly succeeded = new Set<string>();
  readonly #worker: LeakWorker;
  readonly #fixture: Fixture;
  readonly #coverage: Coverage;
  readonly #calls: { operation: Operation; call: PlannedRequest }[] = [];

  constructor(worker: LeakWorker, fixture: Fixture, coverage: Coverage) {
    this.#worker = worker;
    this.#fixture = fixture;
    this.#coverage = coverage;
    fixture.knowledge.addSecret(fixture.leak.secret, fixture.home);
    // It has begun with a sign-in.
    if (fixture.leak.type === "session_of_two") this.succeeded.add("finishSignIn");
  }

  get knowledge() {
    return this.#fixture.knowledge;
  }

  /** A call that the seed decides, with what is known until then. */
  async move(seed: number): Promise<void> {
    const random = seededRandom(seed);
    const { knowledge } = this;
    const means: Means = {
      knowledge,
      random,
      issuer: this.#worker.issuer,
      addresses: this.addresses,
    };
    const earlier = random.chance(REPEAT_CHANCE) ? random.pick(this.#calls) : undefined;
    const operation = earlier?.operation ?? this.#pickOperation(means);
    const call = earlier?.call ?? (await newCall(operation, means));
    const reply = await this.#worker.send(call);
    this.#calls.push({ operation, call });
    this.log.push(describeCall(call, reply));
    knowledge.learn(operation, call, reply);
    if (reply.status >= 400) return;
    const { operationId } = operation;
    this.#coverage.set(operationId, (this.#coverage.get(operationId) ?? 0) + 1);
    this.succeeded.add(operationId);
    const sent = JSON.stringify(call.body ?? "");
    const used = this.addresses.filter((address) => sent.includes(address));
    for (const address of used) this.usedAddresses.add(address);
    const known = this.usedAddresses.size > 0 ? [...this.usedAddresses] : this.addresses;
    this.#authorize(reply, random.pick(known));
  }

  /** At the identity provider, which returns to the service with a code. */
  #authorize({ headers }: Reply, email: string | undefined): void {
    const location = headers.get("location");
    if (!location?.startsWith(PROVIDER)) return;
    this.knowledge.addLink(this.#worker.provider.authorize(location, { claims: { email } }).href);
  }

  #pickOperation(means: Means): Operation {
    const feasible = WEIGHTED.filter(({ operation }) => isFeasible(operation, means)).map(
      ({ operation, weight }) => ({ operation, weight: weight * this.#factorOf(operation) }),
    );
    const total = feasible.reduce((sum, { weight }) => sum + weight, 0);
    let ticket = (means.random.below(RESOLUTION) / RESOLUTION) * total;
    for (const { operation, weight } of feasible) {
      ticket -= weight;
      if (ticket < 0) return operation;
    }
    throw new Error("There is no operation");
  }

  #factorOf({ operationId }: Operation): number {
    const repeated = this.succeeded.has(operationId) ? REPEATED_FACTOR : 1;
    return repeated * (CONTINUES[operationId]?.(this) ?? 1);
  }
}

function describeCall({ credential, method, path, body }: PlannedRequest, reply: Reply): string {
  const sent = body === undefined ? "" : ` ${JSON.stringify(body)}`;
  const reason = reply.status < 400 ? "" : ` ${reply.body?.message ?? reply.text}`;
  return `${credential ?? "no credential"}: ${method} ${path}${sent} → ${reply.status}${reason}`;
}
