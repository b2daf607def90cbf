import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { issueSession } from "../../src/features/identity/sessions/credentials.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Client, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { expectSignedOut } from "../support/sessions.ts";
import {
  join,
  newKey,
  newPool,
  newProject,
  newWorld,
  sessionIn,
  signIn,
  type World,
} from "../support/world.ts";

const HOUR_MS = 3_600_000;

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

const visitor = new Client(undefined);
const whoAmI = async (client: Client): Promise<Parsed> => (await client.get("/v1/whoami")).body;

describe("signing in with an API key", () => {
  it("starts a session with the role, scopes and boundaries of the key, and sets its cookie", async () => {
    const { project, other } = {
      project: await newProject(world.client),
      other: await newProject(world.client),
    };
    const person = await join(world, "admin");
    const { client, keyId } = await newKey(world, {
      membershipId: person.membershipId,
      role: "admin",
      scopes: ["projects:read", "keys:read"],
      projectIds: [project.id],
    });
    const reply = await visitor.request(
      "POST",
      "/v1/sessions",
      { api_key: client.key },
      { "user-agent": "Browser/1.0" },
    );
    expect(reply.status).toBe(201);
    expect(reply.headers.get("set-cookie")).toMatch(
      /^__Host-longshore=lss_\w{72}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/,
    );
    const secret = sessionIn(reply);
    expect(reply.text).not.toContain(secret.slice("lss_".length + 22));
    expect(reply.body).toMatchObject({
      source: "api_key",
      key_id: keyId,
      user_agent: "Browser/1.0",
      current: true,
    });
    const session = Client.withSession(secret);
    expect(await whoAmI(session)).toMatchObject({
      organization: { id: world.id },
      membership: { id: person.membershipId },
      credential: {
        type: "session",
        id: reply.body.id,
        key_id: keyId,
        role: "admin",
        scopes: ["projects:read", "keys:read"],
        project_ids: [project.id],
        expires_at: reply.body.expires_at,
      },
      limits: [
        { name: "console", limit: 600 },
        { name: "reveal", limit: 30 },
      ],
    });
    expect((await session.get(`/v1/projects/${project.id}`)).status).toBe(200);
    expect((await session.get(`/v1/projects/${other.id}`)).status).toBe(404);
    const refused = await session.patch(`/v1/projects/${project.id}`, { name: "renamed" });
    expect(refused.body.message).toBe("This key lacks the scope projects:write.");
  });

  it("stores only a hash of the secret", async () => {
    const { client } = await signIn(world);
    const secret = String(client.session).slice(27, -6);
    const { results } = await env.DB.prepare("select * from sessions").all();
    expect(results.length).toBeGreaterThan(0);
    expect(JSON.stringify(results)).not.toContain(secret);
  });

  it("refuses every key that is of no use with one message", async () => {
    const revoked = await newKey(world, { role: "admin" });
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${revoked.keyId}`);
    const expired = await newKey(world, { expiresAt: Date.now() - 1 });
    const { default_environment_id } = await newProject(world.client);
    const { runner } = await newPool(world, [default_environment_id]);
    const { client: session } = await signIn(world);
    const keys = [
      revoked.client.key,
      expired.client.key,
      runner.key,
      session.session,
      `${world.client.key}x`,
      "nonsense",
    ];
    const replies = [];
    for (const api_key of keys) replies.push(await visitor.post("/v1/sessions", { api_key }));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.body.code).toBe("unauthenticated");
    expect(replies.every(({ headers }) => !headers.has("set-cookie"))).toBe(true);
    for (const body of [{}, { api_key: "" }, { api_key: 7 }, { key: world.client.key }]) {
      expect((await visitor.post("/v1/sessions", body)).body.code).toBe("bad_input");
    }
  });

  it("always starts a new session, whatever cookie the request has", async () => {
    const { client: first } = await signIn(world);
    const forged = await issueSession(newId(systemClock));
    for (const session of [String(first.session), forged.key]) {
      const reply = await Client.withSession(session).post("/v1/sessions", {
        api_key: world.client.key,
      });
      expect(reply.status).toBe(201);
      expect(sessionIn(reply)).toMatch(/^lss_/);
      expect(sessionIn(reply)).not.toBe(session);
    }
    expect((await first.get("/v1/whoami")).status).toBe(200);
    expectSignedOut(await Client.withSession(forged.key).get("/v1/whoami"));
  });

  it("is limited to 100 sessions of a membership, of which the ended ones do not count", async () => {
    const other = await newWorld();
    const sessions = await Promise.all(Array.from({ length: 10 }, () => signIn(other)));
    await env.DB.prepare(
      `insert into sessions (id, organization_id, membership_id, source, key_id, secret_hash,
         created_at, expires_at)
       select lower(hex(randomblob(11))), organization_id, membership_id, source, key_id,
         lower(hex(randomblob(32))), created_at, expires_at
       from sessions, json_each('[1,2,3,4,5,6,7,8,9]') where membership_id = ?`,
    )
      .bind(other.membershipId)
      .run();
    const body = { api_key: other.client.key };
    const full = await visitor.post("/v1/sessions", body);
    expect(full.body).toMatchObject({ code: "conflict" });
    expect(full.body.message).toContain("100 sessions of a membership");
    await env.DB.prepare("update sessions set expires_at = 5 where id = ?")
      .bind(sessions[0]?.sessionId)
      .run();
    expect((await visitor.post("/v1/sessions", body)).status).toBe(201);
  });
});

describe("a session", () => {
  it("ends with its key on its next request, in every isolate", async () => {
    const { client, keyId } = await newKey(world, { role: "admin" });
    const mine = await signIn({ client });
    const others = await signIn(world);
    const isolates = [new Instrumented(), new Instrumented()];
    const callers = isolates.map((worker) => mine.client.via(worker.fetch));
    for (const caller of callers) expect((await caller.get("/v1/orgs")).status).toBe(200);
    const path = `/v1/orgs/${world.id}/api-keys/${keyId}`;
    expect((await world.client.delete(path)).status).toBe(204);
    for (const caller of callers) expectSignedOut(await caller.get("/v1/orgs"));
    expect((await others.client.get("/v1/orgs")).status).toBe(200);
    const { results } = await env.DB.prepare("select id from sessions where key_id = ?")
      .bind(keyId)
      .all();
    expect(results).toEqual([]);
  });

  it("is narrowed with its key", async () => {
    const { client, keyId } = await newKey(world, { role: "admin" });
    const session = (await signIn({ client })).client;
    const members = `/v1/orgs/${world.id}/members`;
    expect((await session.get(members)).status).toBe(200);
    const path = `/v1/orgs/${world.id}/api-keys/${keyId}`;
    await world.client.patch(path, { scopes: ["projects:read"] });
    expect((await session.get(members)).body.message).toContain("lacks the scope members:read");
    expect((await session.get("/v1/projects")).status).toBe(200);
  });

  it("is demoted with its membership, and ends with it", async () => {
    const admin = await join(world, "admin");
    const session = (await signIn(admin)).client;
    const member = `/v1/orgs/${world.id}/members/${admin.membershipId}`;
    expect((await session.get(`/v1/orgs/${world.id}/trusts`)).status).toBe(200);
    await world.client.put(member, { role: "member" });
    expect((await session.get(`/v1/orgs/${world.id}/trusts`)).body.code).toBe("unauthorized");
    expect((await session.get("/v1/projects")).status).toBe(200);
    expect((await world.client.delete(member)).status).toBe(204);
    expectSignedOut(await session.get("/v1/projects"));
  });

  it("ends when its key expires", async () => {
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const { client } = await newKey(world, { expiresAt: now + HOUR_MS });
    const { client: session, sessionId } = await signIn({ client: client.via(worker.fetch) });
    const caller = session.via(worker.fetch);
    const listed = async (by: Client) =>
      (await by.get("/v1/sessions?limit=240")).body.data.find(({ id }: Parsed) => id === sessionId);
    expect((await listed(caller)).expires_at).toBe(new Date(now + HOUR_MS).toISOString());
    now += HOUR_MS - 1;
    expect((await caller.get("/v1/orgs")).status).toBe(200);
    const other = world.client.via(worker.fetch);
    expect(await listed(other)).toBeDefined();
    now += 1;
    expectSignedOut(await caller.get("/v1/orgs"));
    expect(await listed(other)).toBeUndefined();
  });

  it("ends after 12 hours without use, and after 7 days in any case", async () => {
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const [busy, idle] = [await signIn(world), await signIn(world)];
    const caller = busy.client.via(worker.fetch);
    const ending = idle.client.via(worker.fetch);
    expect((await ending.get("/v1/orgs")).status).toBe(200);
    const start = now;
    while (now < start + 6.9 * 24 * HOUR_MS) {
      now += 12 * HOUR_MS - 60_000;
      expect((await caller.get("/v1/orgs")).status).toBe(200);
    }
    expectSignedOut(await ending.get("/v1/orgs"));
    now = start + 7 * 24 * HOUR_MS + 60_000;
    expectSignedOut(await caller.get("/v1/orgs"));
    expectSignedOut(await new Client(undefined, worker.fetch, busy.client.session).get("/v1/orgs"));
  });

  it.each([
    ["12 hours without use", 12 * HOUR_MS, 0],
    ["7 days in any case", 7 * 24 * HOUR_MS, 7 * 24 * HOUR_MS - 1],
  ])(
    "ends after %s, at the same millisecond for a request, the list and the sweep",
    async (...given) => {
      const [, endsAfter, usedAfter] = given;
      const start = Date.now();
      let now = start + endsAfter - 1;
      const worker = new Instrumented({ clock: { now: () => now } });
      const other = await newWorld();
      const [ending, used] = [await signIn(other), await signIn(other)];
      await env.DB.prepare(
        `update sessions set created_at = ?2, last_used_at = ?3, expires_at = ?4
       where organization_id = ?1`,
      )
        .bind(other.id, start, start + usedAfter, start + 7 * 24 * HOUR_MS)
        .run();
      const listed = async () => {
        const { body } = await other.client.via(worker.fetch).get("/v1/sessions");
        return body.data.map(({ id }: Parsed) => id).toSorted();
      };
      const stored = async () => {
        await worker.sweep();
        const { results } = await env.DB.prepare(
          "select id from sessions where organization_id = ?",
        )
          .bind(other.id)
          .all<{ id: string }>();
        return results.map(({ id }) => id).toSorted();
      };
      const both = [ending.sessionId, used.sessionId].toSorted();
      expect([await listed(), await stored()]).toEqual([both, both]);
      expect((await used.client.via(worker.fetch).get("/v1/orgs")).status).toBe(200);
      now += 1;
      expectSignedOut(await ending.client.via(worker.fetch).get("/v1/orgs"));
      const remaining = usedAfter === 0 ? [used.sessionId] : [];
      expect([await listed(), await stored()]).toEqual([remaining, remaining]);
    },
  );

  it("is not ended by 12 hours in one isolate if another one was used", async () => {
    let now = Date.now();
    const clock = { now: () => now };
    const [one, other] = [new Instrumented({ clock }), new Instrumented({ clock })];
    const { client } = await signIn(world);
    expect((await client.via(one.fetch).get("/v1/orgs")).status).toBe(200);
    now += 11 * HOUR_MS;
    expect((await client.via(other.fetch).get("/v1/orgs")).status).toBe(200);
    now += 11 * HOUR_MS;
    expect((await client.via(one.fetch).get("/v1/orgs")).status).toBe(200);
  });

  it("records its last use at most every 5 minutes, beside the request", async () => {
    const { client, sessionId } = await signIn(world);
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const caller = client.via(worker.fetch);
    const lastUse = async () => {
      const { data } = (await caller.get("/v1/sessions?limit=240")).body;
      return data.find(({ id }: Parsed) => id === sessionId).last_used_at;
    };
    await lastUse();
    const used = new Date(now).toISOString();
    expect(await lastUse()).toBe(used);
    now += 5 * 60_000 - 1;
    worker.forget();
    expect(await lastUse()).toBe(used);
    expect(
      worker.database.flatMap(({ statements }) => statements).map(({ sql }) => sql),
    ).not.toContainEqual(expect.stringMatching(/^update/));
    now += 1;
    await lastUse();
    expect(await lastUse()).toBe(new Date(now).toISOString());
  });

  it("creates keys that descend from its key, and have no more than it", async () => {
    const creator = await newKey(world, { role: "admin" });
    const session = (await signIn(creator)).client;
    const keys = `/v1/orgs/${world.id}/api-keys`;
    const { body: created } = await session.post(keys, { name: "made in a session" });
    expect(created.created_by).toEqual({
      key_id: creator.keyId,
      membership_id: world.membershipId,
    });
    expect((await session.post(keys, { name: "wider", role: "owner" })).body.code).toBe(
      "unauthorized",
    );
    const path = `${keys}/${creator.keyId}`;
    expect((await world.client.delete(path)).body.code).toBe("conflict");
    expect((await world.client.delete(`${path}?descendants=revoke`)).status).toBe(204);
    expect((await new Client(created.key).get("/v1/orgs")).status).toBe(401);
    expectSignedOut(await session.get("/v1/orgs"));
  });

  it("has an Idempotency-Key of its own, apart from that of its key", async () => {
    const { client } = await signIn(world);
    const other = (await signIn(world)).client;
    const headers = { "idempotency-key": crypto.randomUUID() };
    const create = (caller: Client, name = "once") =>
      caller.request("POST", "/v1/projects", { name }, headers);
    const first = await create(client);
    const repeat = await create(client);
    expect(repeat.headers.get("idempotency-replayed")).toBe("true");
    expect(repeat.body.id).toBe(first.body.id);
    const ids = [
      first.body.id,
      (await create(other, "twice")).body.id,
      (await create(world.client, "thrice")).body.id,
    ];
    expect(new Set(ids).size).toBe(3);
  });

  it("is the actor in the audit log of what is done with it", async () => {
    const { client, sessionId } = await signIn(world);
    const { body: project } = await client.post("/v1/projects", { name: "audited" });
    await client.delete("/v1/sessions/current");
    const { body } = await world.client.get(`/v1/orgs/${world.id}/audit-log?actor=${sessionId}`);
    const [ended, created] = body.data;
    const actor = {
      type: "session",
      credential_id: sessionId,
      membership_id: world.membershipId,
      account_id: world.accountId,
      created_by: { key_id: world.keyId, membership_id: world.membershipId },
    };
    expect(created).toMatchObject({
      action: "project.created",
      actor,
      target: { id: project.id },
    });
    expect(ended).toMatchObject({ action: "session.revoked", actor, target: { id: sessionId } });
    const started = await world.client.get(`/v1/orgs/${world.id}/audit-log?target=${sessionId}`);
    expect(started.body.data.at(-1)).toMatchObject({
      action: "session.created",
      actor: { type: "api_key", credential_id: world.keyId },
      changes: { after: { source: "api_key", key_id: world.keyId } },
    });
  });
});
