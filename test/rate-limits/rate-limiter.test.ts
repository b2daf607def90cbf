import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { TokenRequest } from "../../src/rate-limits/organization-window.ts";
import type { PolicyName } from "../../src/rate-limits/policies.ts";
import { RateLimiter } from "../../src/rate-limits/rate-limiter.do.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { fillWindow, useWindow } from "../support/full-window.ts";

const ORGANIZATION = newId(systemClock);
/** At least as long as the interval between two saves. */
const SAVE_MS = 200;
const newLimiter = () => env.RATE_LIMITER.getByName(newId(systemClock));
const admittedOf = (consumptions: readonly { admitted: boolean }[]) =>
  consumptions.filter(({ admitted }) => admitted).length;

beforeEach(freezeTime);

type Organization = { lease(policy: string, request: TokenRequest): Promise<unknown> };

/** Grants every request. Unlike the real object, it sets no timers. */
const GRANTING: Organization = {
  lease: async (_, { waiting }) => ({
    admitted: waiting,
    prefetched: 0,
    waitMs: 0,
    overBudgetMs: 0,
  }),
};

/** Runs a limiter in the object of the stub, with this organization. */
function runWith<Result>(
  stub: ReturnType<typeof newLimiter>,
  organization: Organization,
  run: (limiter: RateLimiter, state: DurableObjectState) => Promise<Result>,
): Promise<Result> {
  return runInDurableObject(stub, async (_, state) => {
    const namespace = { getByName: () => organization } as unknown;
    const ORGANIZATION_LIMITER = namespace as typeof env.ORGANIZATION_LIMITER;
    const limiter = new RateLimiter(state, { ...env, ORGANIZATION_LIMITER });
    // Waits until the state is loaded. The runtime does so for objects that it creates.
    await state.storage.get("state");
    const result = await run(limiter, state);
    // Lets the request for more tokens end in this object.
    await scheduler.wait(1);
    return result;
  });
}

/** One request of an isolate. A repeat has the same ID. */
async function consume(
  limiter: Pick<RateLimiter, "consume">,
  policy: PolicyName = "default",
  { organizationId = ORGANIZATION, consumerId = "someone", id = crypto.randomUUID() } = {},
) {
  const options = { exemptFromBudget: false, cost: undefined };
  return limiter.consume(policy, 0, organizationId, undefined, consumerId, id, options);
}

const consumeAs = (limiter: RateLimiter, id: string, policy: PolicyName) =>
  consume(limiter, policy, { id });

const consumeAll = (limiter: Pick<RateLimiter, "consume">, times: number) =>
  Promise.all(Array.from({ length: times }, () => consume(limiter)));

/** Lets the object save, and waits until its state is stored. */
async function save({ storage }: DurableObjectState): Promise<void> {
  vi.advanceTimersByTime(SAVE_MS);
  await storage.sync();
}

describe("the rate limiter of a key", () => {
  it("admits exactly 100 of 1,000 requests at once", async () => {
    const limiter = newLimiter();
    expect(admittedOf(await consumeAll(limiter, 1_000))).toBe(100);
  });

  it("has a separate window for each policy", async () => {
    const limiter = newLimiter();
    const reveals = await Promise.all(Array.from({ length: 50 }, () => consume(limiter, "reveal")));
    expect(admittedOf(reveals)).toBe(30);
    expect(await consume(limiter)).toMatchObject({
      admitted: true,
      remaining: 99,
    });
    expect(await consume(limiter, "polling")).toMatchObject({
      admitted: true,
      remaining: 299,
    });
    expect(await consume(limiter, "runner")).toMatchObject({
      admitted: true,
      remaining: 1_199,
    });
  });

  it("keeps the window of a burst when it loses its memory", async () => {
    const stub = newLimiter();
    await runWith(stub, GRANTING, async (limiter, state) => {
      expect(admittedOf(await consumeAll(limiter, 100))).toBe(100);
      await save(state);
    });
    await evictDurableObject(stub);
    const refused = await consume(stub);
    expect(refused).toMatchObject({ admitted: false, by: "key", remaining: 0 });
  });

  it("returns the newest version of the key, also after it lost its memory", async () => {
    const limiter = newLimiter();
    await limiter.raiseVersion(3);
    await limiter.raiseVersion(2);
    expect(await consume(limiter)).toMatchObject({ version: 3 });
    await evictDurableObject(limiter);
    expect(await consume(limiter)).toMatchObject({ version: 3 });
  });

  it("stores a version before it responds", async () => {
    const limiter = newLimiter();
    await limiter.raiseVersion(3);
    await evictDurableObject(limiter);
    expect(await consume(limiter)).toMatchObject({ version: 3 });
  });

  it("saves every 200 ms in a burst of 1,000 requests", async () => {
    const saves = await runWith(newLimiter(), GRANTING, async (limiter, { storage }) => {
      const put = vi.spyOn(storage, "put");
      for (let each = 0; each < 1_000; each += 1) {
        void consume(limiter, "runner");
        // Lets the tokens arrive, which admits the request.
        await Promise.resolve();
        vi.advanceTimersByTime(1);
      }
      vi.advanceTimersByTime(SAVE_MS);
      return put.mock.calls.length;
    });
    expect(saves).toBe(5);
  });

  it("reports whether its key was used, and stores nothing for that", async () => {
    const limiter = newLimiter();
    expect(await limiter.isKnown()).toBe(false);
    const stored = await runInDurableObject(limiter, (_, { storage }) => storage.list());
    expect(stored.size).toBe(0);
    await runWith(limiter, GRANTING, async (used, state) => {
      await consume(used);
      expect(used.isKnown()).toBe(true);
      await save(state);
    });
    await evictDurableObject(limiter);
    expect(await limiter.isKnown()).toBe(true);
  });
});

describe("a repeated request", () => {
  it("is the same admission, and another one is not", async () => {
    await runWith(newLimiter(), GRANTING, async (limiter) => {
      const first = await consumeAs(limiter, "one", "default");
      expect(first).toMatchObject({ admitted: true, remaining: 99 });
      expect(await consumeAs(limiter, "other", "default")).toMatchObject({ remaining: 98 });
      expect(await consumeAs(limiter, "one", "default")).toEqual(first);
      expect(await consumeAs(limiter, "third", "default")).toMatchObject({ remaining: 97 });
    });
  });

  it("is the same admission as long as that counts, however many follow", async () => {
    await runWith(newLimiter(), GRANTING, async (limiter) => {
      const idOf = (each: number) => `request ${each}`;
      const reveal = (each: number) => consumeAs(limiter, idOf(each), "reveal");
      for (let each = 0; each < 30; each += 1) await reveal(each);
      for (let each = 30; each < 1_000; each += 1) {
        expect(await reveal(each)).toMatchObject({ admitted: false });
      }
      vi.advanceTimersByTime(59_999);
      for (let each = 0; each < 30; each += 1) {
        expect(await reveal(each)).toMatchObject({ admitted: true, remaining: 29 - each });
      }
      expect(await reveal(30)).toMatchObject({ admitted: false });
      vi.advanceTimersByTime(1);
      expect(await reveal(30)).toMatchObject({ admitted: true, remaining: 29 });
    });
  });

  it("is the same admission while the first waits for the organization's object", async () => {
    const requests: TokenRequest[] = [];
    const granted = Promise.withResolvers<void>();
    const lease = async (_: string, request: TokenRequest) => {
      requests.push(request);
      await granted.promise;
      return GRANTING.lease(_, request);
    };
    await runWith(newLimiter(), { lease }, async (limiter) => {
      const ids = ["one", "one", "other", "one", "other"];
      const consumed = ids.map((id) => consumeAs(limiter, id, "default"));
      granted.resolve();
      const remaining = (await Promise.all(consumed)).map((each) => each.remaining);
      expect(remaining).toEqual([99, 99, 98, 99, 98]);
      // The second was not there when the first tokens were requested.
      expect(requests.map(({ waiting }) => waiting)).toEqual([1, 1]);
    });
  });

  it("of a refused one is decided again, and then counts once", async () => {
    let room = 0;
    const lease = async () => ({ admitted: room, prefetched: 0, waitMs: 1_000, overBudgetMs: 0 });
    await runWith(newLimiter(), { lease }, async (limiter) => {
      const once = (id: string) => consumeAs(limiter, id, "default");
      expect(await once("one")).toMatchObject({ admitted: false, by: "organization" });
      vi.advanceTimersByTime(1_000);
      room = 1;
      expect(await once("one")).toMatchObject({ admitted: true, remaining: 99 });
      expect(await once("one")).toMatchObject({ admitted: true, remaining: 99 });
      expect(await once("other")).toMatchObject({ admitted: true, remaining: 98 });
    });
  });

  it("is in no stored state", async () => {
    const stored = await runWith(newLimiter(), GRANTING, async (limiter, state) => {
      await consumeAs(limiter, "one", "default");
      await save(state);
      return state.storage.get("state");
    });
    expect(stored).toMatchObject({ logs: { default: [expect.any(Number)] } });
    expect(JSON.stringify(stored)).not.toContain("one");
  });
});

describe("a key's share in its organization's window", () => {
  it("is refused while that is full, and a refusal consumes nothing of the key's window", async () => {
    const organizationId = newId(systemClock);
    await fillWindow(organizationId, "default", 1_999);
    const limiter = newLimiter();
    const once = () => consume(limiter, "default", { organizationId });
    expect(await once()).toMatchObject({ admitted: true, by: "key", remaining: 99 });
    const refused = await once();
    expect(refused).toMatchObject({ admitted: false, by: "organization", remaining: 0 });
    expect(refused.waitMs).toBeGreaterThanOrEqual(60_000);
    expect(refused.waitMs).toBeLessThanOrEqual(60_050);
    expect((await once()).waitMs).toBe(refused.waitMs);
    const polling = await consume(limiter, "polling", { organizationId });
    expect(polling).toMatchObject({ admitted: true });
    const other = await consume(newLimiter(), "default", { organizationId: newId(systemClock) });
    expect(other).toMatchObject({ admitted: true });
  });

  it("is refused at four fifths of that if its consumer has used a fifth, and others are not", async () => {
    const organizationId = newId(systemClock);
    const consumeFor = (consumerId: string) =>
      consume(newLimiter(), "default", { organizationId, consumerId });
    await useWindow(organizationId, "default", "busy", 1_599);
    expect(await consumeFor("busy")).toMatchObject({ admitted: true });
    const refused = await consumeFor("busy");
    expect(refused).toMatchObject({ admitted: false, by: "organization", remaining: 0 });
    expect(refused.waitMs).toBeGreaterThanOrEqual(60_000);
    expect(refused.waitMs).toBeLessThanOrEqual(60_050);
    expect(await consumeFor("quiet")).toMatchObject({ admitted: true });
    await useWindow(organizationId, "default", "other", 400);
    expect(await consumeFor("other")).toMatchObject({ admitted: false, by: "organization" });
    expect(await consumeFor("quiet")).toMatchObject({ admitted: false, by: "organization" });
  });

  it("survives the memory loss of the organization's object", async () => {
    const organizationId = newId(systemClock);
    const organization = env.ORGANIZATION_LIMITER.getByName(organizationId);
    await runInDurableObject(organization, async (object, state) => {
      const request = { waiting: 1_600, exempt: 0, prefetch: 0, reports: [], units: 0 };
      object.lease("default", { ...request, id: "busy", consumerId: "busy" });
      await save(state);
    });
    await evictDurableObject(organization);
    const consumeFor = (consumerId: string) =>
      consume(newLimiter(), "default", { organizationId, consumerId });
    expect(await consumeFor("busy")).toMatchObject({ admitted: false, by: "organization" });
    expect(await consumeFor("quiet")).toMatchObject({ admitted: true });
  });

  it("is a quarter of the key's limit while the organization's object fails", async () => {
    const lease = () => Promise.reject(new Error("The object failed"));
    const consumptions = await runWith(newLimiter(), { lease }, (each) => consumeAll(each, 60));
    expect(admittedOf(consumptions)).toBe(25);
  });

  it("is a quarter of the key's limit after 400 ms without a response of the organization's object", async () => {
    const hanging = { lease: () => new Promise<never>(() => undefined) };
    const consumptions = await runWith(newLimiter(), hanging, async (limiter) => {
      const decided = vi.fn();
      const consumed = consumeAll(limiter, 60).finally(decided);
      await vi.advanceTimersByTimeAsync(399);
      expect(decided).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      return consumed;
    });
    expect(admittedOf(consumptions)).toBe(25);
  });

  it.each([false, true])(
    "takes the costs that it could not report to the next request for tokens, overloaded: %s",
    async (overloaded) => {
      const failure = Object.assign(new Error("The object failed"), { overloaded });
      let isFailing = true;
      const units: number[] = [];
      const lease = async (policy: string, request: TokenRequest) => {
        if (isFailing) throw failure;
        units.push(request.units);
        return GRANTING.lease(policy, request);
      };
      await runWith(newLimiter(), { lease }, async (limiter) => {
        const payer = ["default", ORGANIZATION, "someone"] as const;
        limiter.report({ id: "one", units: 5_000 }, ...payer);
        await vi.advanceTimersByTimeAsync(2_000);
        isFailing = false;
        limiter.report({ id: "two", units: 7 }, ...payer);
        await vi.advanceTimersByTimeAsync(2_000);
        expect(units.filter((each) => each > 0)).toEqual([5_007]);
      });
    },
  );

  it("is zero while the organization's object is overloaded", async () => {
    const overloaded = Object.assign(new Error("Overloaded"), { overloaded: true });
    const organization = { lease: () => Promise.reject(overloaded) };
    const [refused] = await runWith(newLimiter(), organization, (each) => consumeAll(each, 1));
    expect(refused).toMatchObject({ admitted: false, by: "organization", waitMs: 1_000 });
  });
});
