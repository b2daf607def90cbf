import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { clientOf, createKey, statusOf } from "../support/api-keys.ts";
import type { Parsed, Reply } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import {
  join,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../support/world.ts";

const DAY_MS = 86_400_000;
const at = (offset: number) => new Date(Date.now() + offset).toISOString();

let world: World;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
});

const pathOf = ({ id }: Parsed) => `${keys}/${id}`;

async function narrow(key: Parsed, fields: object, client = world.client): Promise<Parsed> {
  const reply = await client.patch(pathOf(key), fields);
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
}

async function expectConflict(key: Parsed, fields: object, message: string): Promise<void> {
  const read = async () => ({ ...(await world.client.get(pathOf(key))).body, last_used_at: "" });
  const before = await read();
  const { status, body } = await world.client.patch(pathOf(key), fields);
  expect([status, body.code, body.message]).toEqual([
    409,
    "conflict",
    expect.stringContaining(message),
  ]);
  expect(await read()).toEqual(before);
}

const pathsOf = ({ body }: Reply) => body.cause.issues.map(({ path }: Parsed) => path);

async function storedVersions(id: string): Promise<unknown> {
  return env.DB.prepare("select version, record_version from api_keys where id = ?")
    .bind(id)
    .first();
}

describe("narrowing a key", () => {
  it("keeps what is absent, and takes effect with the next request of every isolate", async () => {
    const project = await newProject(world.client);
    const key = await createKey(world);
    const other = clientOf(key).via(new Instrumented().fetch);
    expect((await other.get(`/v1/projects/${project.id}`)).status).toBe(200);
    const narrowed = await narrow(key, { scopes: ["environments:read"] });
    const { key: _, ...before } = key;
    const last_used_at = expect.any(String);
    expect(narrowed).toEqual({ ...before, scopes: ["environments:read"], last_used_at });
    expect((await other.get(`/v1/projects/${project.id}`)).body.code).toBe("unauthorized");
    const expiring = await narrow(key, { expires_at: at(DAY_MS), name: "ci of the shop" });
    expect(expiring).toMatchObject({ scopes: ["environments:read"], name: "ci of the shop" });
    const environment = project.default_environment_id;
    const bounded = await narrow(key, { environment_ids: [environment] });
    expect(bounded).toEqual({
      ...expiring,
      project_ids: [project.id],
      environment_ids: [environment],
    });
    expect((await other.get(`/v1/environments/${environment}`)).status).toBe(200);
    expect(await statusOf(other)).toBe(200);
  });

  it("changes the version of its credential; another name does not, and neither does nothing", async () => {
    const key = await createKey(world);
    await narrow(key, { name: "renamed" });
    expect(await storedVersions(key.id)).toEqual({ version: 1, record_version: 2 });
    await narrow(key, { scopes: ["keys:read", "keys:write"] });
    expect(await storedVersions(key.id)).toEqual({ version: 2, record_version: 3 });
    const etag = (await world.client.get(pathOf(key))).headers.get("etag");
    for (const fields of [{}, { name: "renamed" }, { scopes: ["keys:write", "keys:read"] }]) {
      const reply = await world.client.patch(pathOf(key), fields);
      expect([reply.status, reply.headers.get("etag")]).toEqual([200, etag]);
    }
  });

  it("never gives it more, and says what to send", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const key = await createKey(world, {
      scopes: ["deployments:write"],
      project_ids: [project.id],
      environment_ids: [project.default_environment_id],
      expires_at: at(DAY_MS),
    });
    const before = (await world.client.get(pathOf(key))).text;
    const wider = {
      scopes: [null, [], ["deployments:write", "keys:read"], ["variables:read"]],
      project_ids: [null, [], [project.id, other.id], [newId(systemClock)]],
      environment_ids: [null, [], [other.default_environment_id]],
      expires_at: [null, at(2 * DAY_MS), at(-DAY_MS), "tomorrow"],
    };
    for (const [name, values] of Object.entries(wider)) {
      for (const value of values) {
        const reply = await world.client.patch(pathOf(key), { name: "wide", [name]: value });
        expect([reply.status, pathsOf(reply)], JSON.stringify(value)).toEqual([400, [name]]);
        expect(reply.body.cause.issues[0].message).toMatch(/^Send /);
      }
    }
    expect((await world.client.get(pathOf(key))).text).toBe(before);
    const read = await narrow(key, { scopes: ["deployments:read"] });
    expect(read.scopes).toEqual(["deployments:read"]);
    const reply = await world.client.patch(pathOf(key), { scopes: ["deployments:write"] });
    expect(pathsOf(reply)).toEqual(["scopes"]);
  });

  it("accepts only projects and environments that exist and belong together", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const key = await createKey(world);
    const unknown = newId(systemClock);
    for (const fields of [
      { project_ids: [unknown] },
      { environment_ids: [unknown] },
      { project_ids: [(await newProject((await newWorld()).client)).id] },
    ]) {
      expect((await world.client.patch(pathOf(key), fields)).status).toBe(404);
    }
    const mixed = { project_ids: [project.id], environment_ids: [other.default_environment_id] };
    expect(pathsOf(await world.client.patch(pathOf(key), mixed))).toEqual(["environment_ids"]);
    await narrow(key, {
      project_ids: [project.id, other.id],
      environment_ids: [project.default_environment_id],
    });
    const stranded = await world.client.patch(pathOf(key), { project_ids: [other.id] });
    expect(pathsOf(stranded)).toEqual(["environment_ids"]);
    expect((await narrow(key, { project_ids: [project.id] })).project_ids).toEqual([project.id]);
  });

  it("does not tell a key with boundaries what exists outside of them", async () => {
    const [inside, outside] = [await newProject(world.client), await newProject(world.client)];
    const bounded = clientOf(await createKey(world, { project_ids: [inside.id] }));
    const stronger = await createKey(world);
    const refused = await bounded.patch(pathOf(stronger), { project_ids: [inside.id] });
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    const target = await createKey(world, { project_ids: [inside.id] });
    const replyTo = async (fields: object) => (await bounded.patch(pathOf(target), fields)).text;
    expect(await replyTo({ project_ids: [outside.id] })).toBe(
      await replyTo({ project_ids: [newId(systemClock)] }),
    );
    expect(await replyTo({ environment_ids: [outside.default_environment_id] })).toBe(
      await replyTo({ environment_ids: [newId(systemClock)] }),
    );
    const environment_ids = [inside.default_environment_id];
    expect((await narrow(target, { environment_ids }, bounded)).environment_ids).toEqual(
      environment_ids,
    );
  });

  it("is done by members for their own keys, and by owners for the keys of owners", async () => {
    const member = await join(world);
    const own = { id: member.keyId };
    expect((await narrow(own, { scopes: ["keys:write"] }, member.client)).scopes).toHaveLength(1);
    expect((await member.client.patch(pathOf(own), { name: "mine" })).status).toBe(200);
    const key = await createKey(world);
    const asMember = await member.client.patch(pathOf(key), { expires_at: at(DAY_MS) });
    expect(asMember.body.code).toBe("unauthorized");
    const admin = await join(world, "admin");
    const asAdmin = await admin.client.patch(pathOf(key), { expires_at: at(DAY_MS) });
    expect([asAdmin.status, asAdmin.body.code]).toEqual([403, "unauthorized"]);
    expect((await admin.client.patch(pathOf(key), { name: "of the owner" })).status).toBe(403);
    const lower = await createKey(world, { role: "admin" });
    expect((await admin.client.patch(pathOf(lower), { name: "of the owner" })).status).toBe(200);
  });

  it("is refused for a revoked key, and an expired one keeps its expiry", async () => {
    const key = await createKey(world, { expires_at: at(DAY_MS) });
    await env.DB.prepare("update api_keys set expires_at = ? where id = ?")
      .bind(Date.now() - 1000, key.id)
      .run();
    const reply = await world.client.patch(pathOf(key), { expires_at: at(1000) });
    expect(pathsOf(reply)).toEqual(["expires_at"]);
    expect(reply.body.cause.issues[0].message).toContain("leave this out");
    await world.client.delete(pathOf(key));
    expect((await world.client.patch(pathOf(key), { name: "gone" })).status).toBe(404);
  });
});

describe("the last owner's key", () => {
  it("is not narrowed, and is renamed, until an owner has another", async () => {
    const own = { id: world.keyId };
    for (const fields of [{ expires_at: at(DAY_MS) }, { scopes: ["keys:write"] }]) {
      await expectConflict(own, fields, "owner");
    }
    expect((await narrow(own, { name: "first" })).name).toBe("first");
    const second = await newKey(world);
    expect((await narrow(own, { expires_at: at(DAY_MS) })).expires_at).toBeDefined();
    await expectConflict({ id: second.keyId }, { scopes: ["keys:write"] }, "owner");
  });

  it("remains when the last two are narrowed at the same time", async () => {
    const second = await newKey(world);
    const replies = await Promise.all(
      [world.keyId, second.keyId].map((id) =>
        world.client.patch(`${keys}/${id}`, { expires_at: at(DAY_MS) }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });
});

describe("what descends from a narrowed key", () => {
  it("must not last longer: a key, a trust or a runner token, also through a revoked key", async () => {
    const parent = await createKey(world);
    const child = await createKey(world, {}, clientOf(parent));
    const grandchild = await createKey(world, {}, clientOf(child));
    const fields = { expires_at: at(DAY_MS) };
    await expectConflict(parent, fields, "lasts longer");
    await narrow(grandchild, { expires_at: at(DAY_MS / 2) });
    await narrow(child, fields);
    await narrow(child, { expires_at: at(DAY_MS / 2) });
    expect((await narrow(parent, fields)).expires_at).toBe(fields.expires_at);
    const end = Date.parse((await world.client.get(pathOf(child))).body.expires_at);
    const [before, same] = [end - 1, end].map((time) => new Date(time).toISOString());
    await expectConflict(parent, { expires_at: before }, "lasts longer");
    expect((await narrow(parent, { expires_at: same })).expires_at).toBe(same);

    const holder = await createKey(world);
    const middle = await createKey(world, {}, clientOf(holder));
    await createKey(world, {}, clientOf(middle));
    await world.client.delete(`${pathOf(middle)}?descendants=keep`);
    await expectConflict(holder, fields, "lasts longer");
    await world.client.delete(`${pathOf(middle)}?descendants=revoke`);
    await narrow(holder, fields);
  });

  it("must not access more, in scopes, projects or environments", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const within = { project_ids: [project.id] };
    const parent = await createKey(world);
    const child = await createKey(
      world,
      { scopes: ["deployments:read", "keys:write"], ...within },
      clientOf(parent),
    );
    await expectConflict(parent, { scopes: ["deployments:write"] }, "access more");
    await expectConflict(parent, { project_ids: [other.id] }, "access more");
    await expectConflict(
      parent,
      { environment_ids: [project.default_environment_id] },
      "access more",
    );
    await narrow(parent, within);
    await narrow(parent, { scopes: ["deployments:write", "keys:write"] });
    await narrow(child, { environment_ids: [project.default_environment_id] });
    await narrow(parent, { environment_ids: [project.default_environment_id] });
    expect(await statusOf(clientOf(child))).toBe(200);
  });

  it("includes the key that a rotation replaces, for as long as it is there", async () => {
    const old = await createKey(world);
    const rotated = (await world.client.post(`${pathOf(old)}/rotate`, { overlap_seconds: 60 }))
      .body;
    await expectConflict(rotated, { scopes: ["keys:read"] }, "access more");
    await narrow(old, { scopes: ["keys:read"] });
    await narrow(rotated, { scopes: ["keys:read"] });
  });

  it("includes trusts and runner tokens, which need access to the organization and its pools", async () => {
    const project = await newProject(world.client);
    const membershipId = await newServiceAccount(world);
    const origin = (key: Parsed) => ({ createdByKeyId: key.id });
    const [narrowTrust, wideTrust, poolTrust] = [
      await createKey(world),
      await createKey(world),
      await createKey(world),
    ];
    await newTrust(world, { membershipId }, { ...origin(narrowTrust), scopes: ["keys:read"] });
    await newTrust(world, { membershipId }, origin(wideTrust));
    const pool = await newPool(world, [project.default_environment_id]);
    await newTrust(world, { poolId: pool.id }, origin(poolTrust));
    for (const key of [narrowTrust, wideTrust, poolTrust]) {
      await expectConflict(key, { expires_at: at(DAY_MS) }, "lasts longer");
      await expectConflict(key, { project_ids: [project.id] }, "access more");
    }
    await narrow(narrowTrust, { scopes: ["keys:write"] });
    await expectConflict(wideTrust, { scopes: ["keys:write"] }, "access more");
    await expectConflict(poolTrust, { scopes: ["keys:write"] }, "access more");
    await narrow(poolTrust, { scopes: ["keys:write", "runners:write"] });

    const creator = await createKey(world);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    await clientOf(creator).post(tokens, { name: "eu", expires_at: at(DAY_MS) });
    await expectConflict(creator, { expires_at: at(DAY_MS / 2) }, "lasts longer");
    await expectConflict(creator, { scopes: ["keys:write"] }, "access more");
    await narrow(creator, { expires_at: at(2 * DAY_MS), scopes: ["runners:write"] });
  });

  it("is not created by a request that the narrowing overtakes", async () => {
    const { default_environment_id } = await newProject(world.client);
    const pool = await newPool(world, [default_environment_id]);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    const late = [
      [2, keys, { name: "late" }],
      [1, tokens, { name: "late" }],
      [2, `${tokens}/${pool.tokenId}/rotate`, {}],
    ] as const;
    for (const fields of [
      { scopes: ["keys:write", "runners:write"] },
      { expires_at: at(DAY_MS) },
    ]) {
      for (const [batch, path, body] of late) {
        const key = await createKey(world);
        const database = beforeBatch(batch, () => narrow(key, fields));
        const client = clientOf(key).via(new Instrumented({ database }).fetch);
        const { status, body: refusal } = await client.post(path, body);
        expect([status, refusal.code], path).toEqual([409, "conflict"]);
      }
    }
    expect((await pool.runner.get("/v1/runner/attempts")).status).toBe(200);
  });

  it("does not outlive it by a rotation that its expiry overtakes", async () => {
    const parent = await createKey(world, { expires_at: at(3 * DAY_MS) });
    const child = await createKey(world, { expires_at: at(DAY_MS) }, clientOf(parent));
    const database = beforeBatch(3, () => narrow(parent, { expires_at: at(2 * DAY_MS) }));
    const client = world.client.via(new Instrumented({ database }).fetch);
    const body = { expires_at: at(2.5 * DAY_MS) };
    const { status } = await client.post(`${pathOf(child)}/rotate`, body);
    expect(status).toBe(409);
    expect((await world.client.get(pathOf(child))).body.expires_at).toBe(child.expires_at);
  });
});

describe("two requests at once", () => {
  it("that narrow a key leave the narrower of both, or one of them is a conflict", async () => {
    const key = await createKey(world, {
      scopes: ["keys:write", "members:write", "projects:write"],
    });
    const scopes = [["keys:write"], ["members:write"]];
    const replies = await Promise.all(
      scopes.map((each) => world.client.patch(pathOf(key), { scopes: each })),
    );
    const [done] = replies.filter(({ status }) => status === 200);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await world.client.get(pathOf(key))).body.scopes).toEqual(done?.body.scopes);
  });

  it("of which one narrows a key and the other rotates it never give the new key more", async () => {
    const key = await createKey(world);
    const database = beforeBatch(3, () => narrow(key, { scopes: ["keys:read"] }));
    const client = world.client.via(new Instrumented({ database }).fetch);
    expect((await client.post(`${pathOf(key)}/rotate`, {})).status).toBe(409);
    const rotated = (await world.client.post(`${pathOf(key)}/rotate`, {})).body;
    expect(rotated.scopes).toEqual(["keys:read"]);
  });
});
