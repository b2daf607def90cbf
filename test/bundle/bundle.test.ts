import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import * as service from "../../src/index.ts";
import { RateLimiter as SourceRateLimiter } from "../../src/rate-limits/rate-limiter.do.ts";
import { Client } from "../support/client.ts";
import { newWorld } from "../support/world.ts";

describe("npm run test:bundle", () => {
  it("tests the minified bundle and not the source", () => {
    expect(SourceRateLimiter.name).toBe("RateLimiter");
    expect(service.RateLimiter.name).not.toBe("RateLimiter");
    expect(service.RateLimiter).not.toBe(SourceRateLimiter);
  });

  it("binds the objects of the bundle", async () => {
    const objects = [env.RATE_LIMITER.getByName("one"), env.RATE_LIMITER.getByName("two")];
    for (const object of objects) {
      const instance = await runInDurableObject(object, (each) => each);
      expect(instance).toBeInstanceOf(service.RateLimiter);
      expect(instance).not.toBeInstanceOf(SourceRateLimiter);
    }
  });

  it("sends the requests of the tests' client to the bundle", async () => {
    const { client } = await newWorld();
    const { fetch } = service.default;
    let calls = 0;
    service.default.fetch = (...parameters) => {
      calls += 1;
      return fetch(...parameters);
    };
    try {
      expect((await client.get("/v1/whoami")).status).toBe(200);
      expect((await new Client(undefined).get("/v1/whoami")).status).toBe(401);
      expect(calls).toBe(2);
    } finally {
      service.default.fetch = fetch;
    }
  });
});
