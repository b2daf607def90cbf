import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client, type Reply } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import {
  accept,
  join,
  newInvitation,
  newKey,
  newProject,
  newServiceAccount,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

const tagOf = ({ headers }: Reply) => String(headers.get("etag"));

/** The versions of the keys of a membership, which their rate limiters have copies of. */
async function keyVersions(membershipId: string): Promise<number[]> {
  const select = env.DB.prepare("select version from api_keys where membership_id = ? order by id");
  const { results } = await select.bind(membershipId).all<{ version: number }>();
  return results.map(({ version }) => version);
}

async function storedResults(): Promise<string> {
  const select = env.DB.prepare("select * from idempotency_records where organization_id = ?");
  return JSON.stringify((await select.bind(world.id).all()).results);
}

/** The record, the keys and the tag that a refused change must leave as they are. */
async function expectRefused(path: string, membershipId: string, body: object): Promise<void> {
  const { text, headers } = await world.client.get(path);
  const versions = await keyVersions(membershipId);
  const etag = headers.get("etag");
  for (const method of ["PUT", "DELETE"]) {
    const sent = method === "PUT" ? body : undefined;
    const condition = { "if-match": '"77.000000000000000000000000", W/"x"' };
    const refused = await world.client.request(method, path, sent, condition);
    expect(refused).toMatchObject({ status: 409, body: { cause: { etag } } });
  }
  expect((await world.client.get(path)).text).toBe(text);
  expect(await keyVersions(membershipId)).toEqual(versions);
}

describe("members of an organization", () => {
  it("get a new version with each role, which conditions compare before anything is written", async () => {
    const { membershipId } = await join(world);
    const path = `/v1/orgs/${world.id}/members/${membershipId}`;
    const old = tagOf(await world.client.get(path));
    await expectRefused(path, membershipId, { role: "admin" });
    const changed = await world.client.request("PUT", path, { role: "admin" }, { "if-match": old });
    expect(changed).toMatchObject({ status: 200, body: { role: "admin" } });
    expect(tagOf(await world.client.get(path))).toBe(tagOf(changed));
    expect(tagOf(changed)).not.toBe(old);
    const late = await world.client.request("DELETE", path, undefined, { "if-match": old });
    expect(late.status).toBe(409);
    const current = { "if-match": tagOf(changed) };
    expect((await world.client.request("DELETE", path, undefined, current)).status).toBe(204);
  });

  it.each(["PUT", "DELETE"])(
    "that change between the read and the write of a %s stay",
    async (method) => {
      const { membershipId } = await join(world);
      const path = `/v1/orgs/${world.id}/members/${membershipId}`;
      const condition = { "if-match": tagOf(await world.client.get(path)) };
      const update = "update memberships set record_version = record_version + 1 where id = ?";
      const database = beforeBatch(1, () => env.DB.prepare(update).bind(membershipId).run());
      const client = world.client.via(new Instrumented({ database }).fetch);
      const body = method === "PUT" ? { role: "admin" } : undefined;
      const refused = await client.request(method, path, body, condition);
      const after = await world.client.get(path);
      expect(refused).toMatchObject({ status: 409, body: { cause: { etag: tagOf(after) } } });
      expect(after.body.role).toBe("member");
    },
  );

  it("are added once by repeats, also after they are removed", async () => {
    const body = { email: "grace@example.com", name: "Grace Höpper", profile: { github: "gh" } };
    const add = () =>
      world.client.request(
        "POST",
        `/v1/orgs/${world.id}/members`,
        { ...body, role: "member" },
        {
          "idempotency-key": "add-grace",
        },
      );
    const first = await add();
    const location = String(first.headers.get("location"));
    const read = await world.client.get(location);
    expect([read.text, tagOf(read)]).toEqual([first.text, tagOf(first)]);
    expect((await world.client.delete(location)).status).toBe(204);
    const second = await add();
    expect([second.text, second.status, tagOf(second)]).toEqual([first.text, 201, tagOf(first)]);
    expect((await world.client.get(location)).status).toBe(404);
    expect(await storedResults()).not.toContain("grace@example.com");
  });
});

describe("members of a project", () => {
  it("are added once by repeats, as a list without a tag and a location", async () => {
    const { id } = await newProject(world.client);
    const [one, two] = [await join(world), await join(world, "admin")];
    const body = { member_ids: [two.membershipId, one.membershipId], role: "contributor" };
    const members = `/v1/projects/${id}/members`;
    const add = () =>
      world.client.request("POST", members, body, { "idempotency-key": "add-both" });
    const first = await add();
    expect(first.headers.get("etag")).toBeNull();
    expect(first.headers.get("location")).toBeNull();
    await world.client.put(`${members}/${one.membershipId}`, { role: "viewer" });
    await world.client.delete(`${members}/${two.membershipId}`);
    const second = await add();
    expect([second.text, second.status]).toEqual([first.text, 201]);
    expect((await world.client.get(`${members}/${two.membershipId}`)).status).toBe(404);
  });

  it("have their own version, which conditions compare before a key is told", async () => {
    const { id } = await newProject(world.client);
    const { membershipId } = await join(world);
    await world.client.post(`/v1/projects/${id}/members`, {
      member_ids: [membershipId],
      role: "owner",
    });
    const path = `/v1/projects/${id}/members/${membershipId}`;
    await expectRefused(path, membershipId, { role: "viewer" });
    const old = tagOf(await world.client.get(path));
    const changed = await world.client.put(path, { role: "viewer" });
    expect(tagOf(changed)).not.toBe(old);
    expect(tagOf(await world.client.get(path))).toBe(tagOf(changed));
    await world.client.put(`/v1/orgs/${world.id}/members/${membershipId}`, { role: "admin" });
    // Its role in the organization is shown, but another record.
    const current = { "if-match": tagOf(changed) };
    expect((await world.client.request("DELETE", path, undefined, current)).status).toBe(204);
  });
});

describe("invitations", () => {
  it("are created once by repeats, which show the link that is stored sealed", async () => {
    const invitations = `/v1/orgs/${world.id}/invitations`;
    const body = { email: "ada@example.com", name: "Ada", role: "admin" };
    const invite = () =>
      world.client.request("POST", invitations, body, { "idempotency-key": "invite-ada" });
    const first = await invite();
    const location = String(first.headers.get("location"));
    expect(tagOf(await world.client.get(location))).toBe(tagOf(first));
    const secret = String(first.body.url.split("_").at(-1));
    expect(await storedResults()).not.toContain(secret);
    const stale = { "if-match": '"2.000000000000000000000000"' };
    expect((await world.client.request("DELETE", location, undefined, stale)).status).toBe(409);
    const current = { "if-match": tagOf(first) };
    expect((await world.client.request("DELETE", location, undefined, current)).status).toBe(204);
    expect((await invite()).text).toBe(first.text);
    const { length } = (await world.client.get(invitations)).body.data;
    expect(length).toBe(0);
  });

  it("lead to the member that their acceptance creates", async () => {
    const { token } = await newInvitation(world);
    const accepted = await new Client(undefined).post("/v1/invitations/accept", { token });
    const read = await world.client.get(String(accepted.headers.get("location")));
    expect(read.body).toEqual(accepted.body.membership);
    expect(tagOf(read)).toBe(tagOf(accepted));
  });
});

describe("service accounts", () => {
  const pathOf = (id: string) => `/v1/orgs/${world.id}/service-accounts/${id}`;

  it("keep a role that another request gives them while they are renamed", async () => {
    const id = await newServiceAccount(world);
    const database = beforeBatch(1, () => world.client.patch(pathOf(id), { role: "admin" }));
    const client = world.client.via(new Instrumented({ database }).fetch);
    const headers = { "idempotency-key": "rename" };
    const renamed = await client.request("PATCH", pathOf(id), { name: "Bötchen" }, headers);
    expect(renamed).toMatchObject({ status: 200, body: { name: "Bötchen", role: "admin" } });
    const repeated = await world.client.request("PATCH", pathOf(id), { name: "Bötchen" }, headers);
    expect([repeated.text, tagOf(repeated)]).toEqual([renamed.text, tagOf(renamed)]);
    expect(tagOf(await world.client.get(pathOf(id)))).toBe(tagOf(renamed));
  });

  it("are not changed and not deleted at another version", async () => {
    const id = await newServiceAccount(world);
    const old = tagOf(await world.client.get(pathOf(id)));
    const renamed = await world.client.patch(pathOf(id), { name: "newer" });
    const condition = { "if-match": old };
    for (const method of ["PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { role: "admin" } : undefined;
      const refused = await world.client.request(method, pathOf(id), body, condition);
      expect(refused).toMatchObject({ status: 409, body: { cause: { etag: tagOf(renamed) } } });
    }
    expect((await world.client.get(pathOf(id))).text).toBe(renamed.text);
  });

  it("invalidate their keys again when a lower role is repeated", async () => {
    const id = await newServiceAccount(world, "admin");
    const { client: bot } = await newKey(world, { membershipId: id, role: "admin" });
    const headers = { "idempotency-key": "demote" };
    const demote = (client: Client) =>
      client.request("PATCH", pathOf(id), { role: "member" }, headers);
    const first = await demote(world.client);
    const select = env.DB.prepare(
      "select changed_keys from idempotency_records where organization_id = ?",
    );
    const [stored] = (await select.bind(world.id).all<{ changed_keys: string }>()).results;
    expect(JSON.parse(String(stored?.changed_keys))).toMatchObject([
      { version: (await keyVersions(id))[0] },
    ]);
    expect((await demote(world.client)).text).toBe(first.text);
    expect((await bot.get(`/v1/orgs/${world.id}/members`)).status).toBe(403);
  });
});

describe("an account", () => {
  it("is changed once by repeats, and only at the expected version", async () => {
    const { client } = await accept(world, { name: "Ada Lovelace" });
    const read = await client.get("/v1/account");
    const patch = { display_name: "Ada", profile: { github: "ada", bio: "Ünïcode\nlines" } };
    const headers = { "if-match": tagOf(read), "idempotency-key": "profile" };
    const first = await client.request("PATCH", "/v1/account", patch, headers);
    const newer = await client.patch("/v1/account", { profile: { github: null } });
    const late = await client.request("PATCH", "/v1/account", patch, { "if-match": tagOf(first) });
    expect(late).toMatchObject({ status: 409, body: { cause: { etag: tagOf(newer) } } });
    const second = await client.request("PATCH", "/v1/account", patch, headers);
    expect([second.text, tagOf(second)]).toEqual([first.text, tagOf(first)]);
    const after = await client.get("/v1/account");
    expect(after.body.profile).toEqual({ bio: "Ünïcode\nlines" });
    const unchanged = { "if-none-match": tagOf(after) };
    expect(await client.get("/v1/account", unchanged)).toMatchObject({ status: 304, text: "" });
  });

  it("is erased in every organization only at the expected version", async () => {
    const { client } = await accept(world, { name: "Ada Lovelace" });
    const old = tagOf(await client.get("/v1/account"));
    const changed = await client.patch("/v1/account", { display_name: "Ada" });
    const remove = (etag: string) =>
      client.request("DELETE", "/v1/account", undefined, { "if-match": etag });
    expect((await remove(old)).body.cause.etag).toBe(tagOf(changed));
    expect((await client.get("/v1/account")).text).toBe(changed.text);
    expect((await remove(tagOf(changed))).status).toBe(204);
    const stored = "select name, email = id as erased from accounts where id = ?";
    const row = await env.DB.prepare(stored).bind(changed.body.id).first();
    expect(row).toEqual({ name: "Deleted account", erased: 1 });
    expect((await client.get("/v1/account")).status).toBe(401);
  });
});
