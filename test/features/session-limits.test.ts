import { beforeAll, describe, expect, it } from "vitest";
import { issueSession } from "../../src/features/identity/sessions/credentials.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newWorld, signIn, type World } from "../support/world.ts";

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

describe("the rate limits of a session", () => {
  it("are a window of its own of 600, and the key's own window for revealed values", async () => {
    const key = await newKey(world);
    const [first, second] = [(await signIn(key)).client, (await signIn(key)).client];
    const left = async (client: Client, path: string) => {
      const { headers } = await client.get(path);
      return [headers.get("ratelimit-policy"), headers.get("x-ratelimit-remaining")];
    };
    expect(await left(first, "/v1/orgs")).toEqual(['"console";q=600;w=60', "599"]);
    expect(await left(first, "/v1/deployments")).toEqual(['"console";q=600;w=60', "598"]);
    expect(await left(second, "/v1/orgs")).toEqual(['"console";q=600;w=60', "599"]);
    expect(await left(key.client, "/v1/orgs")).toEqual(['"default";q=100;w=60', "99"]);
    const value = `/v1/variables/${newId(systemClock)}/value`;
    expect(await left(first, value)).toEqual(['"reveal";q=30;w=60', "29"]);
    expect(await left(second, value)).toEqual(['"reveal";q=30;w=60', "28"]);
    expect(await left(key.client, value)).toEqual(['"reveal";q=30;w=60', "27"]);
  });

  it("are at most nine windows for all sessions of a key, and those of another key are apart", async () => {
    const [key, other] = [await newKey(world), await newKey(world)];
    const left = async (caller: typeof key) => {
      const { headers } = await (await signIn(caller)).client.get("/v1/orgs");
      return Number(headers.get("x-ratelimit-remaining"));
    };
    const remaining = [];
    for (let count = 0; count < 11; count += 1) remaining.push(await left(key));
    expect(remaining).toEqual([...Array(9).fill(599), 598, 597]);
    expect(await left(other)).toBe(599);
  });

  it("admit a known session from a client address that is over its limit", async () => {
    const addressLimiter = { limit: async () => ({ success: false }) } as unknown as RateLimit;
    const { client } = await signIn(world);
    const refused = new Instrumented({ addressLimiter });
    const unknown = (await issueSession(newId(systemClock))).key;
    expect((await Client.withSession(unknown).via(refused.fetch).get("/v1/orgs")).status).toBe(429);
    await client.via(new Instrumented().fetch).get("/v1/orgs");
    expect((await client.via(refused.fetch).get("/v1/orgs")).status).toBe(200);
  });
});
