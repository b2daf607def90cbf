import { Client, type Reply } from "../support/client.ts";
import type { Invocation } from "../support/delivery-harness.ts";
import { FaultyIsolate, SharedServices } from "../support/faulty-isolate.ts";
import { type Fault, FaultInjector } from "./fault-injector.ts";
import { type Fixture, newFixture, type RepeatableRequest } from "./repeated-operations.ts";

/** A request that is repeated with its key. */
export interface Repeatable extends RepeatableRequest {
  key: string;
}

/** An attempt to send a request, and what the client learned. */
export interface Attempt {
  /** Undefined: the response was lost. */
  reply: Reply | undefined;
  injector: FaultInjector;
}

/** A client that sends requests with `Idempotency-Key` to isolates that fail. */
export class RetryingClient {
  readonly fixture: Fixture;
  readonly services: SharedServices;
  readonly #isolates = new Map<number, FaultyIsolate>();

  private constructor(fixture: Fixture, services: SharedServices) {
    this.fixture = fixture;
    this.services = services;
  }

  static async create(): Promise<RetryingClient> {
    const services = new SharedServices();
    const isolate = new FaultyIsolate(services);
    const fixture = await newFixture((request) => isolate.fetch(request, FAULTLESS));
    return new RetryingClient(fixture, services);
  }

  /** Ends all isolates, with their caches. */
  evict(): void {
    this.#isolates.clear();
  }

  /** @param choose The fault at each external call, counted from 1. The last is the response. */
  async attempt(
    { key, method, path, body }: Repeatable,
    { isolate = 0, choose = NEVER }: { isolate?: number; choose?: Choose } = {},
  ): Promise<Attempt> {
    const injector = new FaultInjector(choose);
    const invocation = injector.newInvocation();
    const headers = { "idempotency-key": key };
    const reply = await this.request(method, path, body, { headers, isolate, invocation });
    // A crash ends the isolate with its caches.
    if (invocation.hasCrashed) this.#isolates.delete(isolate);
    return { reply, injector };
  }

  async request(
    method: string,
    path: string,
    body?: object,
    {
      headers = {} as Record<string, string>,
      isolate = 0,
      invocation = FAULTLESS as Invocation,
    } = {},
  ): Promise<Reply | undefined> {
    const worker = this.#isolateAt(isolate);
    let isLost = false;
    const { key } = this.fixture.world.client;
    const client = new Client(key, (request) =>
      worker.fetch(request, invocation).catch((error: unknown) => {
        isLost = true;
        throw error;
      }),
    );
    return client.request(method, path, body, headers).catch((error: unknown) => {
      if (isLost) return undefined;
      throw error;
    });
  }

  #isolateAt(at: number): FaultyIsolate {
    const isolate = this.#isolates.get(at) ?? new FaultyIsolate(this.services);
    this.#isolates.set(at, isolate);
    return isolate;
  }
}

export type Choose = (point: number) => Fault | undefined;

const NEVER: Choose = () => undefined;
const FAULTLESS: Invocation = { pass: (run) => run(), hasCrashed: false };

export const isSuccess = ({ status }: Reply): boolean => status < 300;

/** What equal keys get equal, byte for byte. */
export function shownBy({ status, text, headers }: Reply) {
  const shown = ["content-type", "etag", "location"].map((name) => headers.get(name));
  return JSON.stringify([status, text, ...shown]);
}
