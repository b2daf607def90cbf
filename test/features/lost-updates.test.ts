import { beforeEach, describe, expect, it } from "vitest";
import type { Reply } from "../support/client.ts";
import { FaultyIsolate, SharedServices } from "../support/faulty-isolate.ts";
import { seededRandom } from "../support/random.ts";
import { newProject, newWorld, type World } from "../support/world.ts";

const CLIENTS = 50;
const ISOLATES = 4;
const MAXIMUM_DELAY_MS = 64;

let world: World;
let path: string;

beforeEach(async () => {
  world = await newWorld();
  path = `/v1/environments/${(await newProject(world.client)).default_environment_id}`;
  await world.client.put(path, { name: "production", configuration: { count: 0 } });
});

/** Clients of several isolates. */
const newClients = () => {
  const services = new SharedServices();
  const isolates = Array.from({ length: ISOLATES }, () => new FaultyIsolate(services));
  const faultless = { pass: <Result>(run: () => Promise<Result>) => run(), hasCrashed: false };
  return Array.from({ length: CLIENTS }, (_, at) =>
    world.client.via((request) => {
      const isolate = isolates[at % ISOLATES];
      if (!isolate) throw new Error("There is no isolate");
      return isolate.fetch(request, faultless);
    }),
  );
};

const countIn = ({ body }: Reply): number => body.configuration.count;
const withCount = (count: number) => ({ name: "production", configuration: { count } });

describe(`${CLIENTS} clients that each add one to a number`, () => {
  it("add up with If-Match, if they retry on conflict", async () => {
    const random = seededRandom(50);
    let conflicts = 0;
    const addOne = async (client: World["client"]) => {
      for (let delay = 1; ; delay = Math.min(2 * delay, MAXIMUM_DELAY_MS)) {
        const read = await client.get(path);
        const etag = String(read.headers.get("etag"));
        const body = withCount(countIn(read) + 1);
        const written = await client.request("PUT", path, body, { "if-match": etag });
        if (written.status === 200) return countIn(written);
        expect(written).toMatchObject({ status: 409, body: { code: "conflict" } });
        expect(written.body.cause.etag).not.toBe(etag);
        conflicts += 1;
        await scheduler.wait(random.below(delay * 4));
      }
    };
    const counts = await Promise.all(newClients().map(addOne));
    const last = await world.client.get(path);
    expect(countIn(last)).toBe(CLIENTS);
    expect(counts.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: CLIENTS }, (_, at) => at + 1),
    );
    // The first version is that of the creation, the second that of the zero.
    expect(last.headers.get("etag")).toMatch(new RegExp(`^"${CLIENTS + 2}\\.`));
    expect(conflicts).toBeGreaterThan(0);
  });

  it("lose updates without If-Match", async () => {
    const clients = newClients();
    const reads = await Promise.all(clients.map((client) => client.get(path)));
    const writes = reads.map((read, at) => clients[at]?.put(path, withCount(countIn(read) + 1)));
    for (const written of await Promise.all(writes)) expect(written?.status).toBe(200);
    expect(countIn(await world.client.get(path))).toBe(1);
  });
});
