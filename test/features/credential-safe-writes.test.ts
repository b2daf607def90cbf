import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client, type Parsed, type Reply } from "../support/client.ts";
import { ExchangeHarness } from "../support/exchange-harness.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import { AUDIENCE, ISSUER, Issuer } from "../support/issuer.ts";
import {
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

const DAY_MS = 86_400_000;

let world: World;
let organization: string;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  organization = `/v1/orgs/${world.id}`;
  keys = `${organization}/api-keys`;
});

const repeatable = (method: string, path: string, body: object, key = "key-1") =>
  world.client.request(method, path, body, { "idempotency-key": key });
const conditional = (method: string, path: string, etag: string | null, body?: object) =>
  world.client.request(method, path, body, { "if-match": String(etag) });
const etagOf = ({ headers }: Reply) => headers.get("etag");

async function recordOf(key = "key-1"): Promise<Record<string, string>> {
  const record = await env.DB.prepare(
    "select * from idempotency_records where organization_id = ? and key = ?",
  )
    .bind(world.id, key)
    .first<Record<string, string>>();
  return record ?? {};
}

async function versionsOf(table: "api_keys" | "runner_tokens", id: string): Promise<unknown> {
  return env.DB.prepare(`select secret_hash as secretHash, version from ${table} where id = ?`)
    .bind(id)
    .first();
}

function expectRepeat(repeated: Reply, first: Reply): void {
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  expect([repeated.status, repeated.text]).toEqual([first.status, first.text]);
  for (const name of ["etag", "location"]) {
    expect(repeated.headers.get(name)).toBe(first.headers.get(name));
  }
}

async function newPoolOf(): Promise<{ pool: Pool; path: string; environmentId: string }> {
  const project = await newProject(world.client);
  const environmentId = project.default_environment_id;
  const pool = await newPool(world, [environmentId]);
  return { pool, path: `${organization}/runner-pools/${pool.id}`, environmentId };
}

const HEADERS = { "idempotency-key": "key-1" };

describe("a repeated rotation", () => {
  /** With the other overlaps: test/contract/safe-writes.test.ts. */
  it("of a key at once, or of a token later, is known to every isolate that repeats it", async () => {
    const { pool, path: poolPath } = await newPoolOf();
    const { keyId } = await newKey(world);
    for (const [table, path, id, overlap_seconds] of [
      ["api_keys", `${keys}/${keyId}/rotate`, keyId, 0],
      ["runner_tokens", `${poolPath}/tokens/${pool.tokenId}/rotate`, pool.tokenId, 60],
    ] as const) {
      const before = (await versionsOf(table, id)) as Parsed;
      const first = await repeatable("POST", path, { overlap_seconds }, table);
      expect(first.status).toBe(201);
      const [changed, ...more] = JSON.parse(String((await recordOf(table))["changed_keys"]));
      expect([changed.secretHash, more]).toEqual([before.secretHash, []]);
      if (overlap_seconds > 0) expect(changed).toEqual(await versionsOf(table, id));
      else expect(changed.version).toBeGreaterThan(Date.now() - DAY_MS);
      expectRepeat(await repeatable("POST", path, { overlap_seconds }, table), first);
    }
  });

  it("or narrowing invalidates the caches that the first request did not reach", async () => {
    const project = await newProject(world.client);
    const { body: key } = await world.client.post(keys, { name: "ci" });
    const cached = new Client(key.key).via(new Instrumented().fetch);
    const statusOf = async () => (await cached.get(`/v1/projects/${project.id}`)).status;
    expect(await statusOf()).toBe(200);
    const path = `${keys}/${key.id}`;
    const body = { scopes: ["keys:read"] };
    const dying = world.client.via(new Instrumented({ database: endingAfterBatch(4) }).fetch);
    expect((await dying.request("PATCH", path, body, HEADERS)).status).toBe(500);
    expect(JSON.parse(String((await recordOf())["changed_keys"]))).toEqual([
      await versionsOf("api_keys", key.id),
    ]);
    expect(await statusOf()).toBe(200);
    expect((await repeatable("PATCH", path, body)).body.scopes).toEqual(["keys:read"]);
    expect(await statusOf()).toBe(403);
  });
});

/** A database that commits the batch with this number, and whose isolate ends then. */
function endingAfterBatch(number: number): D1Database {
  let batches = 0;
  const requireAlive = () => {
    if (batches >= number) throw new Error("The isolate has ended");
  };
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => {
        requireAlive();
        return session.prepare(sql);
      },
      batch: async (statements: D1PreparedStatement[]) => {
        const results = await session.batch(statements);
        batches += 1;
        requireAlive();
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

describe("If-Match", () => {
  it("ignores uses of a key, and knows what a caller has changed of it", async () => {
    const created = await world.client.post(keys, { name: "ci" });
    const path = `${keys}/${created.body.id}`;
    await new Client(created.body.key).get("/v1/orgs");
    const renamed = await conditional("PATCH", path, etagOf(created), { name: "shop" });
    expect(renamed.status).toBe(200);
    for (const [method, body] of [
      ["PATCH", { name: "other" }],
      ["PATCH", { scopes: ["keys:read"] }],
      ["DELETE", undefined],
    ] as const) {
      const refused = await conditional(method, path, etagOf(created), body);
      expect(refused.status).toBe(409);
      expect(refused.body.cause.etag).toBe(etagOf(await world.client.get(path)));
    }
    const narrowed = await conditional("PATCH", path, etagOf(renamed), { scopes: ["keys:read"] });
    expect(narrowed.status).toBe(200);
    expect((await conditional("DELETE", path, etagOf(renamed))).status).toBe(409);
    expect((await conditional("DELETE", path, etagOf(narrowed))).status).toBe(204);
  });

  it("revokes a key with all that descends from it, or nothing, also if it changes meanwhile", async () => {
    const parent = await world.client.post(keys, { name: "parent" });
    const child = await new Client(parent.body.key).post(keys, { name: "child" });
    await newTrust(
      world,
      { membershipId: await newServiceAccount(world) },
      { createdByKeyId: child.body.id },
    );
    const path = `${keys}/${parent.body.id}`;
    const family = `${path}?descendants=revoke`;
    const rename = () => world.client.patch(path, { name: "renamed" });
    const late = world.client.via(new Instrumented({ database: beforeBatch(2, rename) }).fetch);
    const headers = { "if-match": String(etagOf(parent)) };
    const refused = await late.request("DELETE", family, undefined, headers);
    expect(refused.status).toBe(409);
    expect((await world.client.get(`${keys}/${child.body.id}`)).body).not.toHaveProperty(
      "revoked_at",
    );
    expect((await world.client.get(`${organization}/trusts`)).body.data).toHaveLength(1);
    const revoked = await conditional("DELETE", family, refused.body.cause.etag);
    expect(revoked.status).toBe(204);
    expect((await world.client.get(`${organization}/trusts`)).body.data).toEqual([]);
    const tombstone = await world.client.get(path);
    expect(tombstone.body.revoked_at).toBeDefined();
    expect((await conditional("DELETE", family, '"7.000000000000000000000000"')).status).toBe(409);
    expect((await conditional("DELETE", family, etagOf(tombstone))).status).toBe(204);
  });

  it("of a runner token knows its rotation", async () => {
    const { pool, path } = await newPoolOf();
    const token = `${path}/tokens/${pool.tokenId}`;
    const before = await world.client.get(token);
    await world.client.post(`${token}/rotate`, { overlap_seconds: 60 });
    expect((await conditional("DELETE", token, etagOf(before))).status).toBe(409);
    expect((await pool.runner.get("/v1/runner/attempts")).status).toBe(200);
  });
});

describe("an exchange of a token", () => {
  it("says where the key or the runner token is, with its ETag", async () => {
    const harness = new ExchangeHarness(await Issuer.create());
    const { pool } = await newPoolOf();
    const membership_id = await newServiceAccount(world);
    for (const target of [{ membership_id }, { pool_id: pool.id }]) {
      const created = await harness.client(world.client.key).request(
        "POST",
        `${organization}/trusts`,
        {
          name: "ci",
          issuer: ISSUER,
          audience: AUDIENCE,
          conditions: { environment: "production" },
          ...target,
        },
        { "idempotency-key": JSON.stringify(target) },
      );
      expect(created.status, created.text).toBe(201);
      const trust = String(created.headers.get("location"));
      expect(etagOf(await world.client.get(trust))).toBe(etagOf(created));
      const exchanged = await harness.exchangeIn(world.id);
      const read = await world.client.get(String(exchanged.headers.get("location")));
      expect(read.status).toBe(200);
      expect([read.body.id, etagOf(read)]).toEqual([exchanged.body.id, etagOf(exchanged)]);
      await world.client.delete(trust);
    }
  });
});
