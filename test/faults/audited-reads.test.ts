import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { newCanarySecret } from "../support/canary-secrets.ts";
import { type Client, newAddress, type Parsed, type Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt } from "../support/runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newWorld,
  type World,
} from "../support/world.ts";

type Batch = (statements: D1PreparedStatement[]) => Promise<D1Result[]>;

/** A route that returns plain text, with a caller who may read it. */
interface Read {
  path: string;
  headers: Record<string, string>;
  client: Client;
  /** What the audit records name. */
  recordId: string;
}

let world: World;
let environmentId: string;
let value: string;
let variable: Parsed;
let attempt: Attempt;
let reads: { reveal: Read; "reveal of all": Read; delivery: Read };

beforeEach(async () => {
  world = await newWorld();
  const deployable = await newDeployableProject(world);
  ({ environmentId } = deployable);
  value = newCanarySecret();
  const input = { name: "TOKEN", storage_method: "secret", value };
  variable = (await world.client.post(`/v1/environments/${environmentId}/variables`, input)).body;
  await newDeployment(world.client, environmentId);
  const { runner } = deployable.pool;
  attempt = await Attempt.started(runner);
  const { attempt_id, lease_token } = attempt.claimed;
  reads = {
    reveal: {
      path: `/v1/variables/${variable.id}/value`,
      headers: {},
      client: (await newKey(world)).client,
      recordId: variable.id,
    },
    "reveal of all": {
      path: `/v1/environments/${environmentId}/variables/values`,
      headers: {},
      client: (await newKey(world)).client,
      recordId: environmentId,
    },
    delivery: {
      path: `/v1/runner/attempts/${attempt_id}/variables`,
      headers: { "lease-token": lease_token },
      client: runner,
      recordId: attempt_id,
    },
  };
});

async function recordsOf({ recordId }: Read): Promise<number> {
  const count = env.DB.prepare(`select count(*) as n from audit_log where target_id = ?
    and action in ('variable.revealed', 'variables.revealed', 'variables.delivered')`);
  return Number(await count.bind(recordId).first("n"));
}

/** A database whose batches pass through `pass`. */
function databaseWith(pass: (run: () => Promise<D1Result[]>) => Promise<D1Result[]>): D1Database {
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    const batch: Batch = (statements) => pass(() => session.batch(statements));
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch,
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

const get = ({ client, path, headers }: Read, fetch: (request: Request) => Promise<Response>) =>
  client.via(fetch).get(path, headers);

const containsValue = ({ text }: Reply) => text.includes(JSON.stringify(value));

const ROUTES = ["reveal", "reveal of all", "delivery"] as const;

describe.each(ROUTES)("the plain text of a %s", (route) => {
  it("is read only in the batch that writes the record, in the primary", async () => {
    const isolate = new Instrumented();
    expect(containsValue(await get(reads[route], isolate.fetch))).toBe(true);
    const reading = isolate.database.filter(({ statements }) =>
      statements.some(({ sql }) => /^select .*"value".* from "variables"/s.test(sql)),
    );
    expect(reading).toHaveLength(1);
    const [{ constraint, statements } = { statements: [] }] = reading;
    expect(constraint).toBe("first-primary");
    expect(statements.filter(({ sql }) => sql.startsWith('insert into "audit_log"'))).toHaveLength(
      1,
    );
    expect(await recordsOf(reads[route])).toBe(1);
  });

  it("does not leave if the batch fails, and then there is no record", async () => {
    const database = databaseWith(async () => {
      throw new Error("Injected fault");
    });
    const reply = await get(reads[route], new Instrumented({ database }).fetch);
    expect([reply.status, containsValue(reply)]).toEqual([500, false]);
    expect(await recordsOf(reads[route])).toBe(0);
  });

  it("does not leave if the reply to the batch is lost, and the record stays", async () => {
    const database = databaseWith(async (run) => {
      await run();
      throw new Error("Injected fault");
    });
    const reply = await get(reads[route], new Instrumented({ database }).fetch);
    expect([reply.status, containsValue(reply)]).toEqual([500, false]);
    expect(await recordsOf(reads[route])).toBe(1);
  });

  it("does not leave if it cannot be decrypted, and the record stays", async () => {
    await env.DB.prepare("update variables set value = 'test.v2.AAAA' where id = ?")
      .bind(variable.id)
      .run();
    const reply = await get(reads[route], new Instrumented().fetch);
    expect([reply.status, reply.body.code]).toEqual([500, "internal"]);
    expect(await recordsOf(reads[route])).toBe(1);
  });

  it("is not read without a keyring, and then there is no record", async () => {
    const app = createApp({ log: () => undefined });
    const bindings = { ...env, ENCRYPTION_KEYS: "malformed" };
    const reply = await get(reads[route], (request) =>
      app.fetch(request, bindings, { waitUntil: () => undefined } as unknown as ExecutionContext),
    );
    expect([reply.status, reply.body.code]).toEqual([500, "internal"]);
    expect(await recordsOf(reads[route])).toBe(0);
  });

  it("has its record when the client has disconnected before the batch was sent", async () => {
    const { path, headers, client } = reads[route];
    const reached = Promise.withResolvers<void>();
    const resume = Promise.withResolvers<void>();
    let isHolding = false;
    const DB = databaseWith(async (run) => {
      if (!isHolding) return run();
      reached.resolve();
      await resume.promise;
      return run();
    });
    const app = createApp({ log: () => undefined });
    // After a disconnect, the runtime continues only these.
    const background: Promise<unknown>[] = [];
    const execution = { waitUntil: (work: Promise<unknown>) => background.push(work) };
    const fetch = (request: Request) =>
      app.fetch(request, { ...env, DB }, execution as unknown as ExecutionContext);
    // The first request of a key also records the use of the key.
    await client
      .via(fetch)
      .get(path.replace(/\/values?$/, "").replace(/\/variables$/, ""), headers);
    await Promise.all(background.splice(0));
    const before = await recordsOf(reads[route]);
    isHolding = true;
    const abort = new AbortController();
    const request = new Request(`https://longshore.test${path}`, {
      headers: { "x-api-key": client.key ?? "", "cf-connecting-ip": newAddress(), ...headers },
      signal: abort.signal,
    });
    const response = fetch(request);
    await reached.promise;
    abort.abort();
    expect(background).toHaveLength(1);
    resume.resolve();
    await Promise.all(background);
    expect(await recordsOf(reads[route])).toBe(before + 1);
    await (await response).body?.cancel();
    expect(await recordsOf(reads[route])).toBe(before + 1);
  });

  it("has a record for each time that it leaves, also to HEAD without a body", async () => {
    const { client, path, headers } = reads[route];
    for (const records of [1, 2]) {
      expect(containsValue(await client.get(path, headers))).toBe(true);
      expect(await recordsOf(reads[route])).toBe(records);
    }
    // No condition makes the service answer without reading.
    const conditional = {
      ...headers,
      "if-none-match": "*",
      "if-modified-since": new Date().toUTCString(),
    };
    const reply = await client.get(path, conditional);
    expect([reply.status, containsValue(reply)]).toEqual([200, true]);
    const { status, text } = await client.request("HEAD", path, undefined, headers);
    expect([status, text]).toEqual([200, ""]);
    expect(await recordsOf(reads[route])).toBe(4);
  });
});

describe.each(["reveal", "reveal of all"] as const)("a refused %s", (route) => {
  it("leaves no record, whatever the reason", async () => {
    const reveal = reads[route];
    const stranger = await newWorld();
    const viewer = await join(world);
    const member = { member_ids: [viewer.membershipId], role: "viewer" };
    await world.client.post(`/v1/projects/${await projectId()}/members`, member);
    const outsider = await join(world);
    expect((await viewer.client.get(reveal.path)).status).toBe(403);
    expect((await outsider.client.get(reveal.path)).status).toBe(403);
    expect((await stranger.client.get(reveal.path)).status).toBe(404);
    expect((await reads.delivery.client.get(reveal.path)).status).toBe(401);
    expect(await recordsOf(reveal)).toBe(0);
    expect((await world.client.get(reveal.path)).status).toBe(200);
    expect(await recordsOf(reveal)).toBe(1);
  });

  async function projectId(): Promise<string> {
    return String(
      await env.DB.prepare("select project_id from variables where id = ?")
        .bind(variable.id)
        .first("project_id"),
    );
  }
});

describe("a reveal", () => {
  it("leaves no record if the variable is deleted before the batch", async () => {
    const database = databaseWith(async (run) => {
      await env.DB.prepare("delete from variables where id = ?").bind(variable.id).run();
      return run();
    });
    const reply = await get(reads.reveal, new Instrumented({ database }).fetch);
    expect([reply.status, reply.body.code]).toEqual([404, "not_found"]);
    expect(await recordsOf(reads.reveal)).toBe(0);
  });

  it("of all variables of a component leaves no record if that is deleted before the batch", async () => {
    const { client } = world;
    const components = `/v1/environments/${environmentId}/components`;
    const { body } = await client.post(components, { name: "api", kind: "service" });
    const path = `/v1/components/${body.id}`;
    await client.post(`${path}/variables`, { name: "A", storage_method: "secret", value });
    const database = databaseWith(async (run) => {
      expect((await client.delete(path)).status).toBe(204);
      return run();
    });
    const read = { ...reads.reveal, path: `${path}/variables/values`, recordId: body.id };
    const reply = await get(read, new Instrumented({ database }).fetch);
    expect([reply.status, reply.body.message]).toEqual([404, "There is no such component."]);
    expect(await recordsOf(read)).toBe(0);
  });

  it("of all variables has the names and values of the same moment", async () => {
    const path = `/v1/environments/${environmentId}/variables`;
    const database = databaseWith(async (run) => {
      const added = { name: "ADDED", storage_method: "secret", value };
      expect((await world.client.post(path, added)).status).toBe(201);
      return run();
    });
    const { body } = await get(reads["reveal of all"], new Instrumented({ database }).fetch);
    expect(body.data.map(({ name }: Parsed) => name)).toEqual(["ADDED", "TOKEN"]);
    const changes = await env.DB.prepare("select changes from audit_log where target_id = ?")
      .bind(environmentId)
      .first<string>("changes");
    const after = { variables: ["ADDED", "TOKEN"], count: 2 };
    expect(JSON.parse(String(changes))).toEqual({ after });
  });
});

describe("a refused delivery", () => {
  it("leaves no record, whatever the reason", async () => {
    const { delivery } = reads;
    const { client, path, headers } = delivery;
    const { pool } = await newDeployableProject(world);
    expect((await client.get(path, { "lease-token": "wrong" })).status).toBe(409);
    expect((await client.get(path)).status).toBe(409);
    expect((await pool.runner.get(path, headers)).status).toBe(404);
    expect((await world.client.get(path, headers)).status).toBe(401);
    expect(await recordsOf(delivery)).toBe(0);
    expect((await client.get(path, headers)).status).toBe(200);
    expect(await recordsOf(delivery)).toBe(1);
    await attempt.succeed();
    expect((await client.get(path, headers)).status).toBe(409);
    expect(await recordsOf(delivery)).toBe(1);
  });

  it("leaves no record if the attempt ends before the batch", async () => {
    const database = databaseWith(async (run) => {
      await attempt.complete("failed");
      return run();
    });
    const reply = await get(reads.delivery, new Instrumented({ database }).fetch);
    expect([reply.status, containsValue(reply)]).toEqual([409, false]);
    expect(await recordsOf(reads.delivery)).toBe(0);
  });
});

describe.each(ROUTES)("no cache stores the response of a %s", (route) => {
  it("whatever its status and method", async () => {
    const { client, path, headers } = reads[route];
    const stranger = (await newWorld()).client;
    const failing = databaseWith(async () => {
      throw new Error("Injected fault");
    });
    const malformed = path.replace(reads[route].recordId, "!");
    const replies = [
      await client.get(path, headers),
      await client.request("HEAD", path, undefined, headers),
      await client.get(path, { ...headers, "if-none-match": "*" }),
      await client.get(malformed, headers),
      await client
        .via((request) => {
          const anonymous = new Request(request);
          anonymous.headers.delete("x-api-key");
          return new Instrumented().fetch(anonymous);
        })
        .get(path, headers),
      await stranger.get(path, headers),
      await client.get(`${path}/`, headers),
      await client.request("POST", path, {}, headers),
      await client.request("OPTIONS", path, undefined, headers),
      await get(reads[route], new Instrumented({ database: failing }).fetch),
    ];
    const limited = await client
      .via(new Instrumented({ limiters: EXHAUSTED }).fetch)
      .get(path, headers);
    expect(limited.status).toBe(429);
    expect(new Set(replies.map(({ status }) => status)).size).toBeGreaterThan(4);
    for (const reply of [...replies, limited]) {
      expect(reply.headers.get("cache-control"), String(reply.status)).toBe("private, no-store");
    }
  });
});

/** Refuses every request of a valid key. */
const EXHAUSTED = {
  getByName: () => ({
    consume: async () => ({ admitted: false, by: "key", remaining: 0, waitMs: 1_000, version: 0 }),
    isKnown: async () => true,
    raiseVersion: async () => undefined,
  }),
} as unknown as typeof env.RATE_LIMITER;
