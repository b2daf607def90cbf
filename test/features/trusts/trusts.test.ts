import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { openForWriting } from "../../../src/db/client.ts";
import {
  insertKey,
  issueApiKey,
  newKeyRow,
} from "../../../src/features/identity/api-keys/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { Client, type Parsed, type Reply, refusal } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { AUDIENCE, ISSUER, Issuer } from "../../support/issuer.ts";
import {
  join,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newToken,
  newTrust,
  newWorld,
  type World,
} from "../../support/world.ts";

let world: World;
let issuer: Issuer;
let worker: Instrumented;
let membershipId: string;
let project: Parsed;

beforeEach(async () => {
  world = await newWorld();
  issuer = await Issuer.create();
  worker = new Instrumented({ network: issuer.fetch });
  membershipId = await newServiceAccount(world);
  project = await newProject(world.client);
});

const path = () => `/v1/orgs/${world.id}/trusts`;

function create(fields: object = {}, client: Client = world.client): Promise<Reply> {
  return client.via(worker.fetch).post(path(), {
    name: "deploy",
    issuer: ISSUER,
    audience: AUDIENCE,
    conditions: { environment: "production" },
    membership_id: membershipId,
    ...fields,
  });
}

/** An owner's key that is narrowed. */
async function narrowed(fields: object): Promise<Client> {
  const issued = await issueApiKey(newId(systemClock));
  const { membershipId: owner, id: organizationId } = world;
  await insertKey(openForWriting(env.DB).db, {
    ...newKeyRow(issued, Date.now()),
    organizationId,
    membershipId: owner,
    name: "narrowed",
    role: "owner",
    expiresAt: null,
    ...fields,
  });
  return new Client(issued.key);
}

async function refusedEscalations(): Promise<number | null> {
  return env.DB.prepare(
    `select count(*) as n from audit_log
     where organization_id = ? and action = 'escalation.refused' and outcome = 'refused'`,
  )
    .bind(world.id)
    .first("n");
}

describe("a trust", () => {
  it("is created, read, listed and deleted by admins only", async () => {
    const { status, body } = await create({ ttl_seconds: 60, scopes: ["deployments:write"] });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      membership_id: membershipId,
      role: "member",
      ttl_seconds: 60,
      created_by: { key_id: world.keyId, membership_id: world.membershipId },
    });
    const one = `${path()}/${body.id}`;
    expect((await world.client.get(path())).body.data).toEqual([body]);
    expect((await world.client.get(one)).body).toEqual(body);
    const member = await join(world);
    const stranger = await newWorld();
    for (const [client, expected] of [
      [member.client, [403, "unauthorized"]],
      [stranger.client, [404, "not_found"]],
    ] as const) {
      expect(refusal(await client.get(path()))).toEqual(expected);
      expect(refusal(await create({}, client))).toEqual(expected);
      expect(refusal(await client.get(one))).toEqual(expected);
      expect(refusal(await client.delete(one))).toEqual(expected);
    }
    expect((await world.client.delete(one)).status).toBe(204);
    expect((await world.client.delete(one)).status).toBe(404);
    const { results } = await env.DB.prepare(
      "select action from audit_log where target_id = ? order by id",
    )
      .bind(body.id)
      .all();
    expect(results).toEqual([{ action: "trust.created" }, { action: "trust.deleted" }]);
  });

  it("names one membership or one pool, and narrows only a membership", async () => {
    const pool = await newPool(world, [project.default_environment_id]);
    const both = await create({ pool_id: pool.id });
    const none = await create({ membership_id: undefined });
    const pools = { membership_id: undefined, pool_id: pool.id };
    const scoped = await create({ ...pools, scopes: ["projects:read"] });
    const bounded = await create({ ...pools, project_ids: [project.id] });
    for (const reply of [both, none, scoped, bounded])
      expect(refusal(reply)).toEqual([400, "bad_input"]);
    expect((await create(pools)).status).toBe(201);
  });

  it("refuses unknown scopes, times outside of the range, and records of others", async () => {
    const other = await newWorld();
    const foreign = await newProject(other.client);
    const second = await newProject(world.client);
    const invalid = [
      { scopes: ["everything"] },
      { scopes: [] },
      { ttl_seconds: 59 },
      { ttl_seconds: 3_601 },
    ];
    for (const fields of invalid) expect(refusal(await create(fields))).toEqual([400, "bad_input"]);
    const missing = [
      { membership_id: other.membershipId },
      {
        membership_id: undefined,
        pool_id: (await newPool(other, [foreign.default_environment_id])).id,
      },
      { project_ids: [project.id, foreign.id] },
      { environment_ids: [foreign.default_environment_id] },
    ];
    const outside = {
      project_ids: [project.id],
      environment_ids: [second.default_environment_id],
    };
    expect(refusal(await create(outside))).toEqual([400, "bad_input"]);
    for (const fields of missing) expect(refusal(await create(fields))).toEqual([404, "not_found"]);
    const environment_ids = [project.default_environment_id];
    expect((await create({ project_ids: [project.id], environment_ids })).status).toBe(201);
    const derived = await create({ environment_ids });
    expect(derived.body.project_ids).toEqual([project.id]);
  });

  it("never exceeds the key that creates it, and a refused attempt is recorded", async () => {
    const admin = await join(world, "admin");
    expect(refusal(await create({ membership_id: world.membershipId }, admin.client))).toEqual([
      403,
      "unauthorized",
    ]);
    expect((await create({ membership_id: world.membershipId })).body.role).toBe("owner");
    const asAdmin = await newKey(world, { role: "admin" });
    const own = await create({ membership_id: world.membershipId }, asAdmin.client);
    expect(own.body.role).toBe("admin");
    const before = await refusedEscalations();
    const client = await narrowed({ scopes: ["keys:write", "deployments:write"] });
    const wider = await create({ scopes: ["variables:reveal"] }, client);
    expect(refusal(wider)).toEqual([403, "unauthorized"]);
    expect((await create({ scopes: ["deployments:read"] }, client)).status).toBe(201);
    const inherited = await create({ scopes: undefined }, client);
    expect(inherited.body.scopes).toEqual(["keys:write", "deployments:write"]);
    expect(await refusedEscalations()).toBe(Number(before) + 1);
  });

  it("of a pool needs the scope of runners, too", async () => {
    const pool = await newPool(world, [project.default_environment_id]);
    const target = { membership_id: undefined, pool_id: pool.id };
    const keys = await narrowed({ scopes: ["keys:write"] });
    expect(refusal(await create(target, keys))).toEqual([403, "unauthorized"]);
    const both = await narrowed({ scopes: ["keys:write", "runners:write"] });
    expect((await create(target, both)).status).toBe(201);
  });

  it("is not found with a key that is narrowed to projects, nor is a pool", async () => {
    const client = await narrowed({ projectIds: [project.id] });
    const pool = await newPool(world, [project.default_environment_id]);
    const { body: trust } = await create();
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    for (const reply of [
      await create({ project_ids: [project.id] }, client),
      await client.get(`${path()}/${trust.id}`),
      await client.get(tokens),
      await client.post(tokens, { name: "t" }),
    ]) {
      expect(refusal(reply)).toEqual([404, "not_found"]);
    }
  });

  it("cannot be created with a key that expires, such as one of a trust: it would outlive it", async () => {
    const trustId = await newTrust(world, { membershipId });
    const expiresAt = Date.now() + 60_000;
    for (const fields of [{ trustId, expiresAt }, { expiresAt }]) {
      const client = await narrowed(fields);
      expect((await client.get(path())).status).toBe(200);
      expect(refusal(await create({}, client))).toEqual([403, "unauthorized"]);
    }
  });

  it("is limited to 100 for each organization", async () => {
    for (let at = 0; at < 99; at += 1) await newTrust(world, { membershipId });
    const { client } = await newKey(world);
    expect((await create({}, client)).status).toBe(201);
    expect(refusal(await create({}, client))).toEqual([409, "conflict"]);
  });

  it("descends from the key that replaces its creator, which says what happens to it", async () => {
    const keys = `/v1/orgs/${world.id}/api-keys`;
    const creator = (await world.client.post(keys, { name: "creator" })).body;
    const client = new Client(creator.key);
    const { body: trust } = await create({}, client);
    const pool = await newPool(world, [project.default_environment_id]);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    const { body: token } = await client.post(tokens, { name: "t" });
    const runner = new Client(token.token);
    expect((await runner.get("/v1/runner/attempts")).status).toBe(200);
    const { body: rotated } = await world.client.post(`${keys}/${creator.id}/rotate`, {});
    expect(refusal(await world.client.delete(`${keys}/${rotated.id}`))).toEqual([409, "conflict"]);
    expect((await world.client.get(`${path()}/${trust.id}`)).status).toBe(200);
    const all = await world.client.delete(`${keys}/${rotated.id}?descendants=revoke`);
    expect(all.status).toBe(204);
    expect((await world.client.get(`${path()}/${trust.id}`)).status).toBe(404);
    expect((await runner.get("/v1/runner/attempts")).status).toBe(401);
    expect((await pool.runner.get("/v1/runner/attempts")).status).toBe(200);
  });

  it("descends from the key that created it: it ends with the key, if descendants are revoked", async () => {
    const creator = await newKey(world);
    const pool = await newPool(world, [project.default_environment_id]);
    const ended = await newTrust(world, { membershipId }, { createdByKeyId: creator.keyId });
    const kept = await newTrust(world, { membershipId });
    const token = await newToken(world, pool);
    await env.DB.prepare("update runner_tokens set issued_by_key_id = ? where id = ?")
      .bind(creator.keyId, token.tokenId)
      .run();
    const key = `/v1/orgs/${world.id}/api-keys/${creator.keyId}`;
    expect((await world.client.delete(`${key}?descendants=revoke`)).status).toBe(204);
    expect((await token.runner.get("/v1/runner/attempts")).status).toBe(401);
    expect((await world.client.get(`${path()}/${ended}`)).status).toBe(404);
    expect((await world.client.get(`${path()}/${kept}`)).status).toBe(200);
  });
});
