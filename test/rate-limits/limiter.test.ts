import { beforeEach, describe, expect, it } from "vitest";
import type { LimiterNamespace } from "../../src/rate-limits/index.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { Instrumented } from "../support/instruments.ts";
import { newWorld } from "../support/world.ts";

/** A path of each policy. */
const PATHS = { default: "/v1/orgs", polling: "/v1/deployments" };

beforeEach(freezeTime);

/** Limiters that refuse the requests of one policy. */
function refusing(refused: string, by: "key" | "organization"): LimiterNamespace {
  const consume = async (policy: string) =>
    policy === refused
      ? { admitted: false, by, remaining: 0, waitMs: 60_000, version: 0 }
      : { admitted: true, by: "key", remaining: 1, waitMs: 0, version: 0 };
  return { getByName: () => ({ consume }) } as unknown as LimiterNamespace;
}

describe("a refusal that the isolate remembers", () => {
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
