import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client, type Parsed, type Reply } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIdsOf } from "../../support/long-lists.ts";
import {
  addEndedKeys,
  addKeys,
  addTokens,
  countIn,
  exists,
  largestUnits,
  MOST_UNITS,
  newJob,
  pathsOf,
} from "../../support/many-credentials.ts";
import {
  newKey,
  newPool,
  newProject,
  newTrust,
  newWorld,
  signIn,
  type World,
} from "../../support/world.ts";

const MANY = 12_000;
/** A chain is slow to insert. */
const LONG = 1_500;

let world: World;
let keys: string;
let leaked: string;

beforeEach(async () => {
  world = await newWorld();
  keys = pathsOf(world).keys;
  leaked = String((await newKey(world, { isOwn: true })).keyId);
});

/** In an isolate of its own, which knows no earlier costs of the organization. No batch takes more than 50 ms. */
async function send(method: string, path: string, body?: object): Promise<Reply> {
  const isolate = new Instrumented();
  const reply = await world.client.via(isolate.fetch).request(method, path, body);
  expect(largestUnits(isolate)).toBeLessThanOrEqual(MOST_UNITS);
  return reply;
}

const remove = (id: string, query = "") => send("DELETE", `${keys}/${id}${query}`);

/** A database in which something happens before the batch with this number of those that have a text in a statement. */
function interruptedBefore(
  { text, number }: { text: string; number: number },
  happen: () => Promise<unknown>,
): D1Database {
  let count = 0;
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    const batch = async (statements: (D1PreparedStatement & { statement?: string })[]) => {
      if (statements.some(({ statement }) => statement?.includes(text))) count += 1;
      if (count === number) {
        count += 1;
        await happen();
      }
      return session.batch(statements);
    };
    const prepare = (query: string) => session.prepare(query);
    return { prepare, batch, getBookmark: () => session.getBookmark() };
  };
  return { withSession } as unknown as D1Database;
}

/** A key that works, which the key with this ID has made. */
async function newKeyOf(maker: string | undefined): Promise<{ id: string; client: Client }> {
  const { body } = await world.client.post(keys, { name: "found" });
  await env.DB.prepare(
    "update api_keys set created_by_key_id = ?2, issued_by_key_id = ?2 where id = ?1",
  )
    .bind(body.id, maker)
    .run();
  return { id: body.id, client: new Client(body.key) };
}

async function namesOf(path: string): Promise<string[]> {
  const { status, body } = await send("GET", path);
  expect(status).toBe(200);
  return body.data.map((item: Parsed) => item.id).toSorted();
}

describe("a family of which many have ended", () => {
  it.each([
    ["side by side", MANY, false],
    ["one after another", LONG, true],
  ])(
    "%s, takes at most 50 ms in each batch, and nothing of it remains",
    async (_, count, isChain) => {
      const ended = await addEndedKeys(world, count, { maker: leaked, isChain });
      const [first, last] = [await newKeyOf(ended[10]), await newKeyOf(ended.at(-1))];
      const other = await newKeyOf(world.keyId);

      expect(await namesOf(`${keys}/${leaked}/family`)).toEqual([first.id, last.id].toSorted());
      expect((await remove(leaked)).body.code).toBe("conflict");
      expect((await remove(leaked, "?descendants=revoke")).status).toBe(204);
      for (const { client } of [first, last])
        expect((await client.get("/v1/whoami")).status).toBe(401);
      expect((await other.client.get("/v1/whoami")).status).toBe(200);
      expect(await countIn("revoked_keys", world.id)).toBe(count + 3);
      // Again, of a key that has ended.
      expect((await remove(leaked, "?descendants=revoke")).status).toBe(204);
    },
  );

  it("does not keep its key from being revoked alone if nothing of it is valid", async () => {
    await addEndedKeys(world, MANY, { maker: leaked });
    expect((await remove(leaked)).status).toBe(204);
    expect(await exists("revoked_keys", leaked)).toBe(true);
  });

  it("keeps the owner's last key, and everything else then", async () => {
    const [, ended] = await addEndedKeys(world, MANY, { maker: leaked });
    const found = await newKeyOf(ended);
    await env.DB.prepare(
      "update api_keys set created_by_key_id = ?2, issued_by_key_id = ?2 where id = ?1",
    )
      .bind(world.keyId, found.id)
      .run();
    const before = await countIn("api_keys", world.id);
    const { status, body } = await remove(leaked, "?descendants=revoke");
    expect([status, body.message]).toEqual([409, expect.stringContaining("no owner's key")]);
    expect(await countIn("api_keys", world.id)).toBe(before);
  });

  it("bounds the key that is narrowed, also after a rotation, which takes at most 50 ms", async () => {
    const ended = await addEndedKeys(world, MANY, { maker: leaked });
    const found = await newKeyOf(ended.at(-1));
    const rotated = await send("POST", `${keys}/${leaked}/rotate`, {});
    expect(rotated.status).toBe(201);
    const path = `${keys}/${rotated.body.id}`;
    const narrow = () => send("PATCH", path, { scopes: ["keys:read"] });
    const refused = await narrow();
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining("descend"),
    ]);
    expect((await remove(found.id)).status).toBe(204);
    expect((await narrow()).body.scopes).toEqual(["keys:read"]);
  });

  it("of which trusts have issued many is not written again by a rotation", async () => {
    const fields = { createdByKeyId: leaked };
    const trustId = await newTrust(world, { membershipId: world.membershipId }, fields);
    await addKeys(world, world.membershipId, 3_000, { trustId, maker: leaked });
    const rotate = (id: string, fields: object) => send("POST", `${keys}/${id}/rotate`, fields);
    const first = await rotate(leaked, {});
    expect(first.status).toBe(201);
    // They last for an hour, and descend from it.
    const soon = { expires_at: new Date(Date.now() + 60_000).toISOString() };
    expect((await rotate(first.body.id, soon)).body.code).toBe("conflict");
    const isolate = new Instrumented();
    const rotating = world.client.via(isolate.fetch);
    const path = `${keys}/${first.body.id}/rotate`;
    const second = await rotating.post(path, { expires_at: null });
    expect(second.status).toBe(201);
    expect(largestUnits(isolate)).toBeLessThan(1_000);
    const narrow = () => send("PATCH", `${keys}/${second.body.id}`, { scopes: ["keys:read"] });
    expect((await narrow()).body.message).toContain("descend");
    await env.DB.batch([
      env.DB.prepare("delete from api_keys where trust_id = ?").bind(trustId),
      env.DB.prepare("update trusts set scopes = '[\"keys:read\"]' where id = ?").bind(trustId),
    ]);
    expect((await narrow()).status).toBe(200);
  });

  it("of which some have made a thousand, takes few batches", async () => {
    const makers = await addEndedKeys(world, 14, { maker: leaked });
    for (const maker of makers) await addEndedKeys(world, 1_001, { maker });
    const found = await newKeyOf(makers.at(-1));
    const isolate = new Instrumented();
    expect((await world.client.via(isolate.fetch).delete(`${keys}/${leaked}`)).status).toBe(409);
    expect(isolate.database.length).toBeLessThan(60);
    expect(await namesOf(`${keys}/${leaked}/family`)).toEqual([found.id]);
  });

  it("in many chains, takes few batches", async () => {
    let makers = await addEndedKeys(world, 60, { maker: leaked });
    for (let depth = 1; depth < 200; depth += 1) makers = await addEndedKeys(world, 60, { makers });
    const found = await newKeyOf(makers.at(-1));
    const isolate = new Instrumented();
    const path = `${keys}/${leaked}?descendants=revoke`;
    expect((await world.client.via(isolate.fetch).delete(path)).status).toBe(204);
    expect((await found.client.get("/v1/whoami")).status).toBe(401);
    expect(isolate.database.length).toBeLessThan(200);
  });

  it.each([
    ["the walk finds", { text: "item.is_owner", number: 1 }],
    ["a part ends", { text: "revocation_parts", number: 2 }],
  ])("has nothing left that is made before %s it", async (_, moment) => {
    const ended = await addEndedKeys(world, 100, { maker: leaked });
    const found = await newKeyOf(ended[5]);
    await addKeys(world, world.membershipId, 30, { maker: found.id });
    const late: Parsed[] = [];
    const make = async () => late.push((await found.client.post(keys, { name: "late" })).body);
    const isolate = new Instrumented({ database: interruptedBefore(moment, make) });
    const path = `${keys}/${leaked}?descendants=revoke`;
    expect((await world.client.via(isolate.fetch).delete(path)).status).toBe(204);
    expect(late).toHaveLength(1);
    expect((await new Client(late[0].key).get("/v1/whoami")).status).toBe(401);
  });

  it.each([
    ["revoked alone", { text: "delete from", number: 1 }, "DELETE", undefined],
    ["revoked alone", { text: "delete from", number: 2 }, "DELETE", undefined],
    [
      "narrowed",
      { text: 'update "api_keys" set "version"', number: 1 },
      "PATCH",
      { scopes: ["keys:write"] },
    ],
  ])(
    "of a key that makes another one meanwhile is not %s (%o)",
    async (_, moment, method, body) => {
      const { body: maker } = await world.client.post(keys, { name: "maker" });
      const client = new Client(maker.key);
      // Keys that have expired are no family, and have all that the narrowed key will have.
      await addKeys(world, world.membershipId, 30, { maker: maker.id });
      await env.DB.prepare(
        `update api_keys set expires_at = 1, scopes = '["keys:write"]' where created_by_key_id = ?`,
      )
        .bind(maker.id)
        .run();
      await addEndedKeys(world, 300, { maker: maker.id });
      const late: Parsed[] = [];
      const make = async () => late.push((await client.post(keys, { name: "late" })).body);
      const isolate = new Instrumented({ database: interruptedBefore(moment, make) });
      const path = `${keys}/${maker.id}`;
      const reply = await world.client.via(isolate.fetch).request(method, path, body);
      expect(late).toHaveLength(1);
      expect([reply.status, reply.body.code]).toEqual([409, "conflict"]);
      for (const each of [client, new Client(late[0].key)]) {
        expect((await each.get("/v1/orgs")).status).toBe(200);
      }
    },
  );

  it("of a trust's key and of a member is followed as well", async () => {
    const { membershipId, trustId, job } = await newJob(world);
    await addKeys(world, membershipId, 150, { trustId });
    const ended = await addEndedKeys(world, MANY, { maker: String(job.keyId) });
    const found = await newKeyOf(ended[MANY / 2]);
    const before = await countIn("api_keys", world.id);
    expect((await send("DELETE", `/v1/orgs/${world.id}/trusts/${trustId}`)).status).toBe(204);
    expect((await found.client.get("/v1/whoami")).status).toBe(401);
    expect(await countIn("api_keys", world.id)).toBe(before - 152);

    const member = `/v1/orgs/${world.id}/members/${membershipId}`;
    const next = await newKeyOf(ended[1]);
    await env.DB.prepare("update revoked_keys set membership_id = ?2 where id = ?1")
      .bind(job.keyId, membershipId)
      .run();
    expect(await namesOf(`${member}/family`)).toContain(next.id);
    expect((await send("DELETE", `${member}?descendants=revoke`)).status).toBe(204);
    expect((await next.client.get("/v1/whoami")).status).toBe(401);
  });

  it("of a session is followed as well", async () => {
    const { sessionId, client, membershipId } = await signIn(await newKey(world, { isOwn: true }));
    const ended = await addEndedKeys(world, MANY, { maker: leaked });
    await env.DB.prepare(
      `update revoked_keys set created_by_key_id = null, issued_by_key_id = null, created_by_session_id = ?2
       where organization_id = ?1 and id <> ?3`,
    )
      .bind(world.id, sessionId, ended[2])
      .run();
    const [found, other] = [await newKeyOf(ended.at(-1)), await newKeyOf(ended[2])];
    const session = `/v1/orgs/${world.id}/members/${membershipId}/sessions/${sessionId}`;
    expect(await namesOf(`${session}/family`)).toEqual([found.id]);
    expect((await send("DELETE", `${session}?descendants=revoke`)).status).toBe(204);
    for (const each of [client, found.client])
      expect((await each.get("/v1/whoami")).status).toBe(401);
    expect((await other.client.get("/v1/whoami")).status).toBe(200);
  });
});

/** Unused links, which are of no leaked key. */
async function addSignInLinks(count: number): Promise<void> {
  await env.DB.prepare(
    `insert into sign_in_links (id, organization_id, membership_id, key_id, secret_hash, created_at, expires_at)
       select value, ?1, ?2, ?3, 'hash ' || value, 1, ?4 from json_each(?5)`,
  )
    .bind(
      world.id,
      world.membershipId,
      world.keyId,
      Date.now() + 3_600_000,
      JSON.stringify(newIdsOf(count)),
    )
    .run();
}

/** Tokens of trusts, which a key has made, in a pool of an organization. */
async function addTokensOfTrusts(owner: World, count: number, maker: string): Promise<void> {
  const { default_environment_id: environmentId } = await newProject(owner.client);
  const pool = await newPool(owner, [environmentId]);
  for (let made = 0; made < count; made += 1_000) {
    const lineage = { createdByKeyId: maker };
    const trustId = await newTrust(owner, { poolId: pool.id }, lineage);
    await addTokens(owner, pool.id, Math.min(1_000, count - made), { trustId, maker });
  }
}

describe("a family whose trusts have issued many credentials", () => {
  it("is listed in batches of at most 50 ms, with all runner tokens", async () => {
    const founded = await newWorld();
    await addTokensOfTrusts(world, 4_000, leaked);
    await addTokensOfTrusts(founded, 4_010, leaked);
    await addSignInLinks(120);
    const path = `${keys}/${leaked}/family?limit=100`;
    const { body: first } = await send("GET", path);
    const { body: second } = await send(
      "GET",
      `${path}&after=${encodeURIComponent(first.next_page)}`,
    );
    const items = [...first.data, ...second.data];
    expect(new Set(items.map(({ id }) => id)).size).toBe(200);
    const ofType = Map.groupBy(items, ({ type }) => type);
    expect(ofType.get("trust")).toHaveLength(4);
    expect(ofType.get("runner_token")).toHaveLength(195);
    const counts = { api_keys: 0, runner_tokens: 4_010, trusts: 5, invitations: 0 };
    expect(ofType.get("organization")).toMatchObject([{ id: founded.id, counts }]);
  });

  it("costs nothing more to revoke or to rotate another owner's key", async () => {
    const lineage = { createdByKeyId: leaked };
    const { membershipId } = world;
    const trustId = await newTrust(world, { membershipId }, lineage);
    await addKeys(world, membershipId, 3_000, { trustId, maker: leaked });
    await env.DB.prepare("update api_keys set role = 'owner' where trust_id = ?")
      .bind(trustId)
      .run();
    const [revoked, rotated] = [await newKey(world), await newKey(world, { isOwn: true })];
    const soon = new Date(Date.now() + 60_000).toISOString();
    const calls = [
      ["DELETE", `${keys}/${revoked.keyId}`, undefined, 204],
      ["POST", `${keys}/${rotated.keyId}/rotate`, { expires_at: soon }, 201],
    ] as const;
    for (const [method, path, body, expected] of calls) {
      const isolate = new Instrumented();
      const reply = await world.client.via(isolate.fetch).request(method, path, body);
      expect(reply.status).toBe(expected);
      expect(largestUnits(isolate)).toBeLessThan(1_000);
    }
    // The keys of the trust expire, so that they are no owner's last key.
    await env.DB.prepare(
      "delete from api_keys where organization_id = ? and role = 'owner' and trust_id is null and id <> ?",
    )
      .bind(world.id, world.keyId)
      .run();
    expect((await send("DELETE", `${keys}/${world.keyId}`)).body.code).toBe("conflict");
  });
});
