import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client, refusal } from "../support/client.ts";
import {
  join,
  newKey,
  newProject,
  newServiceAccount,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;
let accounts: string;

beforeEach(async () => {
  world = await newWorld();
  accounts = `/v1/orgs/${world.id}/service-accounts`;
});

async function records(action: string) {
  const { results } = await env.DB.prepare(
    "select target_id, target_name, changes, credential_id from audit_log where organization_id = ? and action = ?",
  )
    .bind(world.id, action)
    .all<Record<string, string>>();
  return results;
}

/** A key of the service account, made by the existing route. */
async function keyOf(membershipId: string): Promise<Client> {
  const body = { name: "bot", membership_id: membershipId };
  return new Client((await world.client.post(`/v1/orgs/${world.id}/api-keys`, body)).body.key);
}

describe("a service account", () => {
  it("has no e-mail address, is listed, and counts as a member", async () => {
    const usage = async () =>
      (await world.client.get(`/v1/orgs/${world.id}/usage`)).body.records.members.used;
    const before = await usage();
    const { status, body } = await world.client.post(accounts, { name: "bot", role: "member" });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: "bot", role: "member", org_id: world.id });
    expect(await usage()).toBe(before + 1);
    const row = await env.DB.prepare(
      `select accounts.email = accounts.id as isOwnId, memberships.email, memberships.kind
       from memberships join accounts on accounts.id = account_id where memberships.id = ?`,
    )
      .bind(body.membership_id)
      .first();
    expect(row).toEqual({ isOwnId: 1, email: null, kind: "service_account" });
    expect((await world.client.get(accounts)).body.data).toEqual([body]);
    expect((await world.client.get(`${accounts}/${body.membership_id}`)).body).toEqual(body);
    expect((await world.client.get(`${accounts}/${world.membershipId}`)).status).toBe(404);
  });

  it("is never an owner", async () => {
    const owner = await world.client.post(accounts, { name: "bot", role: "owner" });
    expect(refusal(owner)).toEqual([400, "bad_input"]);
    const id = await newServiceAccount(world);
    const promoted = await world.client.patch(`${accounts}/${id}`, { role: "owner" });
    expect(refusal(promoted)).toEqual([400, "bad_input"]);
  });

  it("has keys that get its new role with the next request", async () => {
    const id = await newServiceAccount(world, "admin");
    const client = await keyOf(id);
    expect((await client.get(accounts)).status).toBe(200);
    const { body } = await world.client.patch(`${accounts}/${id}`, { role: "member", name: "b" });
    expect(body).toMatchObject({ role: "member", name: "b" });
    expect(refusal(await client.get(accounts))).toEqual([403, "unauthorized"]);
    expect((await client.get("/v1/orgs")).status).toBe(200);
    expect((await world.client.get(`${accounts}/${id}`)).body).toEqual(body);
    const [record] = await records("service_account.updated");
    expect(JSON.parse(String(record?.["changes"]))).toMatchObject({
      before: { role: "admin" },
      after: { role: "member", name: "b" },
    });
    expect((await world.client.patch(`${accounts}/${id}`, { name: "b" })).status).toBe(200);
    expect(await records("service_account.updated")).toHaveLength(1);
    await world.client.patch(`${accounts}/${id}`, { name: "b", role: "admin" });
    const last = (await records("service_account.updated")).at(-1);
    expect(JSON.parse(String(last?.["changes"]))).toEqual({
      before: { role: "member" },
      after: { role: "admin" },
    });
  });

  it.each([{ name: "renamed" }, { role: "admin" }, { name: "renamed", role: "admin" }])(
    "is changed by %j only if If-Match has its tag",
    async (patch) => {
      const path = `${accounts}/${await newServiceAccount(world, "member")}`;
      const before = await world.client.get(path);
      const etag = String(before.headers.get("etag"));
      const stale = '"77.000000000000000000000000"';
      const refused = await world.client.request("PATCH", path, patch, { "if-match": stale });
      expect(refused).toMatchObject({ status: 409, body: { cause: { etag } } });
      expect((await world.client.get(path)).text).toBe(before.text);
      expect(await records("service_account.updated")).toEqual([]);
      const changed = await world.client.request("PATCH", path, patch, { "if-match": etag });
      expect(changed).toMatchObject({ status: 200, body: patch });
    },
  );

  it("has an account whose tag changes with its name, and not with its role", async () => {
    const id = await newServiceAccount(world, "member");
    const client = await keyOf(id);
    const tag = async () => (await client.get("/v1/account")).headers.get("etag");
    const before = await tag();
    await world.client.patch(`${accounts}/${id}`, { name: "renamed" });
    const renamed = await tag();
    const version = (text: string | null) => text?.slice(1).split(".")[0];
    expect([version(before), version(renamed)]).toEqual(["1", "2"]);
    await world.client.patch(`${accounts}/${id}`, { role: "admin" });
    expect(version(await tag())).toBe("2");
  });

  it("remains when the member who created it leaves, and its key too", async () => {
    const admin = await join(world, "admin");
    const id = await newServiceAccount({ ...world, client: admin.client });
    const client = await keyOf(id);
    const members = `/v1/orgs/${world.id}/members`;
    expect((await world.client.delete(`${members}/${admin.membershipId}`)).status).toBe(204);
    expect((await client.get("/v1/orgs")).status).toBe(200);
  });

  it("is deleted with its keys, which leave tombstones", async () => {
    const id = await newServiceAccount(world);
    const client = await keyOf(id);
    expect((await client.get("/v1/orgs")).status).toBe(200);
    expect((await world.client.delete(`${accounts}/${id}`)).status).toBe(204);
    expect((await client.get("/v1/orgs")).status).toBe(401);
    expect((await world.client.get(`${accounts}/${id}`)).status).toBe(404);
    const tombstones = "select name, revoked_by_key_id from revoked_keys where membership_id = ?";
    expect((await env.DB.prepare(tombstones).bind(id).all()).results).toEqual([
      { name: "bot", revoked_by_key_id: world.keyId },
    ]);
  });

  it("is kept, with its keys, while it is the only owner of a project", async () => {
    const id = await newServiceAccount(world);
    const client = await keyOf(id);
    const project = await newProject(client);
    expect(refusal(await world.client.delete(`${accounts}/${id}`))).toEqual([409, "conflict"]);
    expect((await client.get(`/v1/projects/${project.id}`)).status).toBe(200);
    expect(await records("service_account.deleted")).toEqual([]);
    const { client: other } = await newKey(world);
    expect((await other.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    expect((await world.client.delete(`${accounts}/${id}`)).status).toBe(204);
  });
});
