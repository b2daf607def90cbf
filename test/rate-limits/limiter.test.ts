import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { multiplyTimeouts } from "../../src/lib/call-object.ts";
import type { LimiterNamespace } from "../../src/rate-limits/index.ts";
import type { Consumption, RateLimiter } from "../../src/rate-limits/rate-limiter.do.ts";
import type { Client } from "../support/client.ts";
import { extendTimeouts, freezeTime } from "../support/frozen-time.ts";
import { Instrumented } from "../support/instruments.ts";
import { newWorld, type World } from "../support/world.ts";

/** A path of each policy. */
const PATHS = { default: "/v1/orgs", polling: "/v1/deployments" };

/** Limiters that refuse the requests of one policy. */
function refusing(refused: string, by: "key" | "organization"): LimiterNamespace {
  const consume = async (policy: string) =>
    policy === refused
      ? { admitted: false, by, remaining: 0, waitMs: 60_000, version: 0 }
      : { admitted: true, by: "key", remaining: 1, waitMs: 0, version: 0 };
  return { getByName: () => ({ consume }) } as unknown as LimiterNamespace;
}

type Consume = (...args: Parameters<RateLimiter["consume"]>) => Promise<Consumption>;

/** The real limiters. `respond` gets each call with the number of its request's calls so far. */
function responding(
  respond: (call: () => ReturnType<Consume>, attempt: number) => ReturnType<Consume>,
): LimiterNamespace {
  const attempts = new Map<string | undefined, number>();
  const getByName = (name: string) => {
    const object = env.RATE_LIMITER.getByName(name);
    const consume: Consume = (...args) => {
      const id = args[5];
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      return respond(async () => object.consume(...args), attempt);
    };
    return { consume };
  };
  return { getByName } as unknown as LimiterNamespace;
}

const REQUESTS = 130;

const list = (caller: Client) => caller.get(PATHS.default);
const rename = (caller: Client, { id }: World) => caller.patch(`/v1/orgs/${id}`, { name: "Test" });

/** One request, which caches the key, and then 130 at once. */
async function sendBurst(
  limiters: LimiterNamespace,
  onSent: () => Promise<void>,
  send: typeof rename = list,
) {
  const world = await newWorld();
  const isolate = new Instrumented({ limiters });
  const caller = world.client.via(isolate.fetch);
  expect((await caller.get(PATHS.default)).status).toBe(200);
  isolate.forget();
  const sent = Array.from({ length: REQUESTS }, () => send(caller, world));
  await onSent();
  const replies = await Promise.all(sent);
  const withStatus = (status: number) => replies.filter((reply) => reply.status === status);
  return { isolate, admitted: withStatus(200), refused: withStatus(429) };
}

describe("a burst of 130 requests with a key that has 99 left", () => {
  beforeEach(freezeTime);

  it("has 99 admitted if the response to each call is lost, and that to its repeat is not", async () => {
    let isBurst = false;
    const limiters = responding(async (call, attempt) => {
      const decision = await call();
      if (isBurst && attempt === 1) throw new Error("Network connection lost.");
      return decision;
    });
    const { admitted, refused } = await sendBurst(limiters, async () => {
      isBurst = true;
    });
    expect(admitted).toHaveLength(99);
    expect(refused).toHaveLength(31);
  });

  it("has 99 admitted if each call is lost before the limiter has it", async () => {
    let isBurst = false;
    const limiters = responding(async (call, attempt) => {
      if (isBurst && attempt === 1) throw new Error("Network connection lost.");
      return call();
    });
    const { admitted, refused } = await sendBurst(limiters, async () => {
      isBurst = true;
    });
    expect(admitted).toHaveLength(99);
    expect(refused).toHaveLength(31);
  });
});

describe("a limiter that answers 130 writes late, and their repeats at once", () => {
  it("admits the 99 that a key has left, each with a different number of requests that remain", async () => {
    // On no machine, however slow, is a part of the burst in another window.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const late = Promise.withResolvers<void>();
    let isBurst = false;
    const limiters = responding(async (call, attempt) => {
      const isLate = isBurst && attempt === 1;
      // A write sets the timeout of its call now. That of no other call is short.
      if (isLate) multiplyTimeouts(1);
      queueMicrotask(extendTimeouts);
      const decision = await call();
      if (isLate) await late.promise;
      return decision;
    });
    const onSent = async () => {
      isBurst = true;
    };
    const { isolate, admitted, refused } = await sendBurst(limiters, onSent, rename);
    late.resolve();
    expect(isolate.objects).toHaveLength(2 * REQUESTS);
    expect(refused).toHaveLength(31);
    const remaining = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 99 }, (_, at) => at));
  });
});

describe("a refusal that the isolate remembers", () => {
  beforeEach(freezeTime);

  it.each([
    ["default", "polling", "key"],
    ["polling", "default", "key"],
    ["default", "polling", "organization"],
    ["polling", "default", "organization"],
  ] as const)(
    "under the policy %s does not apply to %s, by the window of the %s",
    async (refused, other, by) => {
      const isolate = new Instrumented({ limiters: refusing(refused, by) });
      const caller = (await newWorld()).client.via(isolate.fetch);
      expect((await caller.get(PATHS[refused])).status).toBe(429);
      isolate.forget();
      expect((await caller.get(PATHS[refused])).status).toBe(429);
      expect(isolate.exchanges).toEqual([]);
      expect((await caller.get(PATHS[other])).status).toBe(200);
      expect(isolate.objects).toHaveLength(1);
    },
  );

  it("does not apply to another key", async () => {
    const isolate = new Instrumented({ limiters: refusing("default", "key") });
    const [one, other] = [await newWorld(), await newWorld()];
    expect((await one.client.via(isolate.fetch).get(PATHS.default)).status).toBe(429);
    isolate.forget();
    expect((await other.client.via(isolate.fetch).get(PATHS.default)).status).toBe(429);
    expect(isolate.objects).toHaveLength(1);
  });
});
