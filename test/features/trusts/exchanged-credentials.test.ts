import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { Client, type Parsed, refusal } from "../../support/client.ts";
import { CONDITIONS, ExchangeHarness, TrustingHarness } from "../../support/exchange-harness.ts";
import { Instrumented } from "../../support/instruments.ts";
import { AUDIENCE, ISSUER, Issuer } from "../../support/issuer.ts";
import { addKeys, addTokens } from "../../support/many-credentials.ts";
import {
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../../support/world.ts";

const MINUTE_MS = 60_000;

const UNAUTHENTICATED = [401, "unauthenticated"];

describe("the exchange of a token", () => {
  let harness: TrustingHarness;
  let world: World;
  let membershipId: string;
  let trust: Parsed;

  beforeEach(async () => {
    harness = await TrustingHarness.create();
    ({ world, membershipId } = harness);
    trust = (await harness.createTrust()).body;
  });

  it("uses the oldest trust that the token meets", async () => {
    harness.aheadMs = 1;
    const { body: staging } = await harness.createTrust({
      conditions: { environment: "staging" },
    });
    harness.aheadMs = 2;
    await harness.createTrust({ conditions: { repository_id: "74" } });
    expect((await harness.exchange()).body.trust_id).toBe(trust.id);
    const token = await harness.sign({ environment: "staging" });
    expect((await harness.exchange(token)).body.trust_id).toBe(staging.id);
  });

  it.each(["keys", "runner tokens"])(
    "is refused while as many %s of the trust live as may",
    async (kind) => {
      const { default_environment_id: environmentId } = await newProject(world.client);
      const pool = await newPool(world, [environmentId]);
      const conditions = { environment: "full" };
      const target = kind === "keys" ? {} : { membership_id: undefined, pool_id: pool.id };
      const full = (await harness.createTrust({ conditions, ...target })).body;
      const lineage = { trustId: full.id };
      const count = LIMITS.liveKeysOfTrust.value - 1;
      if (kind === "keys") await addKeys(world, membershipId, count, lineage);
      else await addTokens(world, pool.id, count, lineage);
      const exchange = async () => harness.exchange(await harness.sign(conditions));
      expect((await exchange()).status).toBe(201);
      expect(refusal(await exchange())).toEqual([409, "conflict"]);
      harness.aheadMs = full.ttl_seconds * 1_000;
      expect((await exchange()).status).toBe(201);
    },
  );

  it("of a pool gives a runner token", async () => {
    const { body: project } = await world.client.post("/v1/projects", { name: "p" });
    const pools = `/v1/orgs/${world.id}/runner-pools`;
    const environment_ids = [project.default_environment_id];
    const { body: pool } = await world.client.post(pools, { name: "eu", environment_ids });
    const conditions = { environment: "runners" };
    const fields = { membership_id: undefined, pool_id: pool.id, conditions };
    expect((await harness.createTrust(fields)).status).toBe(201);
    const { body } = await harness.exchange(await harness.sign({ environment: "runners" }));
    expect(body.type).toBe("runner_token");
    const claims = { request_id: "r" };
    const runner = harness.client(body.key);
    expect((await runner.post("/v1/runner/claims", claims)).status).toBe(204);
    expect((await runner.get("/v1/orgs")).status).toBe(401);
    const { body: listed } = await world.client.get(`${pools}/${pool.id}/tokens`);
    expect(listed.data).toMatchObject([{ id: body.id, trust_id: body.trust_id }]);
    expect(JSON.stringify(listed)).not.toContain(body.key);
    const usage = await world.client.get(`/v1/orgs/${world.id}/usage`);
    expect(usage.body.records.runner_tokens.used).toBe(0);
    expect((await world.client.delete(`${pools}/${pool.id}`)).status).toBe(204);
    expect((await runner.post("/v1/runner/claims", claims)).status).toBe(401);
    const again = await harness.exchange(await harness.sign({ environment: "runners" }));
    expect(refusal(again)).toEqual(UNAUTHENTICATED);
    await env.DB.prepare("update usage set records = records").run();
    const after = await world.client.get(`/v1/orgs/${world.id}/usage`);
    expect(after.body.records.runner_tokens.used).toBe(0);
  });

  it("gives keys that do not count toward the quota, and that the sweep removes once expired", async () => {
    const used = async () =>
      (await world.client.get(`/v1/orgs/${world.id}/usage`)).body.records.api_keys.used;
    const before = await used();
    const { body } = await harness.exchange();
    expect(await used()).toBe(before);
    const rows = "select count(*) as n from api_keys where id = ?";
    harness.aheadMs = 899_999;
    await harness.worker.sweep();
    expect(await env.DB.prepare(rows).bind(body.id).first("n")).toBe(1);
    harness.aheadMs = 900_000;
    await harness.worker.sweep();
    expect(await env.DB.prepare(rows).bind(body.id).first("n")).toBe(0);
    expect(await used()).toBe(before);
  });

  it("is a conflict while 1,000 keys of the trust are valid, and works once one has expired", async () => {
    await env.DB.prepare(
      `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash, last_four,
         version, expires_at, created_at, trust_id)
       select 'full-' || value || ?1, ?1, ?2, 'n', 'member', 'h' || value || ?1, 'abcd', 1, ?3, 1, ?4
       from json_each(?5)`,
    )
      .bind(
        world.id,
        membershipId,
        harness.now + MINUTE_MS,
        trust.id,
        JSON.stringify(Array.from({ length: 1_000 }, (_, at) => at)),
      )
      .run();
    const token = await harness.sign();
    expect(refusal(await harness.exchange(token))).toEqual([409, "conflict"]);
    harness.aheadMs = MINUTE_MS - 1;
    expect(refusal(await harness.exchange(token))).toEqual([409, "conflict"]);
    harness.aheadMs = MINUTE_MS;
    // The refused exchange has not used the token.
    expect((await harness.exchange(token)).status).toBe(201);
  });

  it("ends with its trust: the keys, and everything that was created with them, stop at once", async () => {
    const admin = await newServiceAccount(world, "admin");
    const conditions = { environment: "admin" };
    const { body: own } = await harness.createTrust({ membership_id: admin, conditions });
    const { body: issued } = await harness.exchange(await harness.sign({ environment: "admin" }));
    const client = harness.client(issued.key);
    expect((await client.get(`/v1/orgs/${world.id}/members`)).status).toBe(200);
    const { body: kept } = await harness.exchange();
    const path = `/v1/orgs/${world.id}/trusts/${own.id}`;
    expect((await world.client.via(harness.worker.fetch).delete(path)).status).toBe(204);
    expect((await client.get(`/v1/orgs/${world.id}/members`)).status).toBe(401);
    expect((await harness.client(kept.key).get("/v1/orgs")).status).toBe(200);
    expect((await world.client.get(path)).status).toBe(404);
    const again = await harness.exchange(await harness.sign({ environment: "admin" }));
    expect(refusal(again)).toEqual(UNAUTHENTICATED);
  });

  it("ends in every isolate with its trust, as do the runner tokens that its key has created", async () => {
    const admin = await newServiceAccount(world, "admin");
    const conditions = { environment: "admin" };
    const { body: own } = await harness.createTrust({ membership_id: admin, conditions });
    const { body: issued } = await harness.exchange(await harness.sign({ environment: "admin" }));
    const { default_environment_id } = await newProject(world.client);
    const pool = await newPool(world, [default_environment_id]);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    const { body: token } = await harness.client(issued.key).post(tokens, { name: "by the job" });
    const other = new Instrumented({ clock: { now: () => harness.now } });
    const statuses = async ({ fetch }: Instrumented) => {
      const runners = [new Client(token.token, fetch), pool.runner.via(fetch)];
      const replies = [await new Client(issued.key, fetch).get("/v1/orgs")];
      for (const each of runners) replies.push(await each.get("/v1/runner/attempts"));
      return replies.map(({ status }) => status);
    };
    const isolates = [harness.worker, other];
    for (const each of isolates) expect(await statuses(each)).toEqual([200, 200, 200]);
    const deletion = world.client.via(harness.worker.fetch);
    expect((await deletion.delete(`/v1/orgs/${world.id}/trusts/${own.id}`)).status).toBe(204);
    for (const each of isolates) expect(await statuses(each)).toEqual([401, 401, 200]);
  });

  it("ends with its service account", async () => {
    const { body } = await harness.exchange();
    const path = `/v1/orgs/${world.id}/service-accounts/${membershipId}`;
    expect((await world.client.via(harness.worker.fetch).delete(path)).status).toBe(204);
    expect((await harness.client(body.key).get("/v1/orgs")).status).toBe(401);
    expect(refusal(await harness.exchange())).toEqual(UNAUTHENTICATED);
  });

  it("never gives more than the role at the creation, although the membership gets a higher one", async () => {
    const path = `/v1/orgs/${world.id}/service-accounts/${membershipId}`;
    expect((await world.client.patch(path, { role: "admin" })).status).toBe(200);
    const { body } = await harness.exchange();
    const members = await harness.client(body.key).get(`/v1/orgs/${world.id}/members`);
    expect(refusal(members)).toEqual([403, "unauthorized"]);
  });
});

describe("200 CI jobs in 15 minutes through one trust and one address", () => {
  it("all get a key of their own that works, and take nothing from the limits of others", async () => {
    const own = await newWorld();
    const admitted = new Map<string, number[]>();
    let now = () => 0;
    // Cloudflare's limit of 300 in 60 s, on the virtual clock.
    const addressLimiter: RateLimit = {
      limit: async ({ key }) => {
        const recent = (admitted.get(key) ?? []).filter((at) => at > now() - MINUTE_MS);
        admitted.set(key, [...recent, now()]);
        return { success: recent.length < 300 };
      },
    };
    const harness = new ExchangeHarness(await Issuer.create(), addressLimiter);
    now = () => harness.now;
    const trustee = await newServiceAccount(own);
    await newTrust(
      own,
      { membershipId: trustee },
      { issuer: ISSUER, audience: AUDIENCE, conditions: CONDITIONS },
    );
    const headers = { "cf-connecting-ip": "203.0.113.7" };
    const send = (client: Client, method: string, path: string, body?: object) =>
      client.request(method, path, body, headers);
    const { client: member } = await newKey(own);
    const others = member.via(harness.worker.fetch);
    const keys = new Set<string>();
    for (let job = 0; job < 200; job += 1) {
      harness.aheadMs = (job * 15 * MINUTE_MS) / 200;
      const body = { org_id: own.id, token: await harness.sign() };
      const reply = await send(harness.client(), "POST", "/v1/oidc/token", body);
      expect(reply.status).toBe(201);
      keys.add(reply.body.key);
      expect((await send(harness.client(reply.body.key), "GET", "/v1/orgs")).status).toBe(200);
    }
    expect(keys.size).toBe(200);
    expect((await send(harness.client(), "GET", "/health")).status).toBe(200);
    const { status, headers: limits } = await send(others, "GET", "/v1/orgs");
    expect(status).toBe(200);
    expect(Number(limits.get("x-ratelimit-remaining"))).toBe(
      Number(limits.get("x-ratelimit-limit")) - 1,
    );
    const created = await others.post(`/v1/orgs/${own.id}/api-keys`, { name: "after the jobs" });
    expect(created.status).toBe(201);
    expect(harness.issuer.requests.length).toBeLessThanOrEqual(4);
  });
});
