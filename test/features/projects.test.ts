import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Client, Parsed } from "../support/client.ts";
import { join, newKey, newProject, newWorld, type Person, type World } from "../support/world.ts";

const CONNECTION = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };

let world: World;
let project: Parsed;
let path: string;

beforeEach(async () => {
  world = await newWorld();
  project = await newProject(world.client, { icon: "emoji:🚢", description: "A shop.\nOurs." });
  path = `/v1/projects/${project.id}`;
});

describe("projects", () => {
  it("have an owner and a production environment at first, and are disconnected", async () => {
    expect(project).toMatchObject({
      org_id: world.id,
      name: "storefront",
      description: "A shop.\nOurs.",
      icon: "emoji:🚢",
      connection_status: "disconnected",
    });
    const environment = await env.DB.prepare("select * from environments where id = ?")
      .bind(project.default_environment_id)
      .first();
    expect(environment).toMatchObject({ project_id: project.id, name: "production" });
    const { body } = await world.client.get(`${path}/members`);
    expect(body.data).toMatchObject([{ membership_id: world.membershipId, role: "owner" }]);
  });

  it("are read by every form of their ID, and have one form in responses", async () => {
    const hex = toHex(project.id);
    const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    for (const form of [project.id, hex, uuid]) {
      expect((await world.client.get(`/v1/projects/${form}`)).body).toEqual(project);
    }
  });

  it.each([
    ["too short", "abc", 400],
    ["with a letter outside the alphabet", "0OIl000000000000000000", 400],
    ["an upper-case UUID", "0196F0E0-0000-7000-8000-000000000000", 400],
    ["an invalid percent encoding", "%E0%A4%A", 400],
    ["beyond 128 bits", "z".repeat(22), 404],
    ["unknown", newId(systemClock), 404],
  ])("with an ID that is %s are not found, or rejected as malformed", async (_, id, status) => {
    expect((await world.client.get(`/v1/projects/${id}`)).status).toBe(status);
  });

  it("are replaced: fields that the body omits are cleared, except the name", async () => {
    const { default_environment_id } = project;
    const repo_id = newId(systemClock);
    const full = { default_environment_id, name: "shop", icon: "icon:cart", repo_id };
    const replaced = await world.client.put(path, full);
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({ name: "shop", icon: "icon:cart", repo_id });
    expect(replaced.body).not.toHaveProperty("description");
    const bare = await world.client.put(path, { default_environment_id, icon: null });
    expect(bare.body.name).toBe("shop");
    expect(bare.body).not.toHaveProperty("icon");
    expect(bare.body).not.toHaveProperty("repo_id");
    expect((await world.client.get(path)).body).toEqual(bare.body);
  });

  it("accept only one of their own environments as the default", async () => {
    const other = await newProject(world.client);
    for (const id of [other.default_environment_id, newId(systemClock)]) {
      const reply = await world.client.put(path, { default_environment_id: id });
      expect(reply.status).toBe(404);
    }
    expect((await world.client.get(path)).body).toEqual(project);
  });

  it("have names that are unique in their organization, and free once they are deleted", async () => {
    const create = (client: Client, name: string) => client.post("/v1/projects", { name });
    const other = await newProject(world.client, { name: "bookshop" });
    for (const name of ["storefront", "bookshop"]) {
      const refused = await create(world.client, name);
      expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
      expect(refused.body.message).toContain("already has a project with this name");
    }
    expect((await create(world.client, "Bookshop")).status).toBe(201);
    expect((await create((await newWorld()).client, "storefront")).status).toBe(201);
    const renamings = [
      world.client.patch(path, { name: "bookshop" }),
      world.client.put(path, {
        default_environment_id: project.default_environment_id,
        name: "bookshop",
      }),
    ];
    for (const { status } of await Promise.all(renamings)) expect(status).toBe(409);
    expect((await world.client.get(path)).body).toEqual(project);
    const missing = { name: "new", default_environment_id: other.default_environment_id };
    expect((await world.client.patch(path, missing)).status).toBe(404);
    expect((await world.client.patch(path, { name: "storefront", icon: null })).status).toBe(200);
    expect((await world.client.delete(`/v1/projects/${other.id}`)).status).toBe(204);
    expect((await world.client.patch(path, { name: "bookshop" })).body.name).toBe("bookshop");
    const both = await Promise.all([create(world.client, "race"), create(world.client, "race")]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await world.client.get("/v1/projects?name=race")).body.data).toHaveLength(1);
  });

  it("that share a name keep it until they are renamed", async () => {
    const { id } = await newProject(world.client, { name: "twin" });
    await env.DB.prepare("update projects set name = 'storefront' where id = ?").bind(id).run();
    const twin = `/v1/projects/${id}`;
    const change = await world.client.patch(twin, { name: "storefront", icon: "emoji:🚢" });
    expect([change.status, change.body.icon]).toEqual([200, "emoji:🚢"]);
    expect((await world.client.patch(twin, { name: "twin" })).status).toBe(200);
    expect((await world.client.patch(twin, { name: "storefront" })).status).toBe(409);
  });

  it.each([
    ["an icon of no kind", { icon: "ship" }, "icon"],
    ["an icon of nothing", { icon: "emoji:" }, "icon"],
    ["no name", { name: "" }, "name"],
    ["too long a name", { name: "x".repeat(101) }, "name"],
    ["a repo that is no ID", { repo_id: "github" }, "repo_id"],
    ["a name that is a number", { name: 7 }, "name"],
  ])("are refused with %s", async (_, fields, where) => {
    const reply = await world.client.post("/v1/projects", { name: "x", ...fields });
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues.map((issue: Parsed) => issue.path)).toContain(where);
  });

  it("preserve the lines of their description with every line ending", async () => {
    const description = "A shop.\r\nOurs.\n\tAlone.";
    const { status, body } = await world.client.post("/v1/projects", { name: "x", description });
    expect([status, body.description]).toEqual([201, description]);
  });

  it("connect to a provider, replace the connection, and disconnect repeatedly", async () => {
    const connected = await world.client.put(`${path}/connection`, CONNECTION);
    expect(connected.body.connection_status).toBe("connected");
    const role_arn = "arn:aws:iam::123456789012:role/teams/deploy";
    const { external_id } = (await world.client.get(`${path}/connection`)).body;
    expect(external_id).toMatch(/^[1-9A-Za-z]{22}$/);
    const again = { ...CONNECTION, region: "us-gov-west-1", role_arn };
    expect((await world.client.put(`${path}/connection`, again)).status).toBe(200);
    expect((await world.client.get(`${path}/connection`)).body).toEqual({ ...again, external_id });
    for (let time = 0; time < 2; time += 1) {
      expect((await world.client.patch(`${path}/disconnect`)).status).toBe(204);
      expect((await world.client.get(path)).body.connection_status).toBe("disconnected");
    }
    const left = await env.DB.prepare(
      "select count(*) as n from project_connections where project_id = ?",
    )
      .bind(project.id)
      .first("n");
    expect(left).toBe(0);
  });

  it("connect to a host with a name of at most 254 characters", async () => {
    const connect = (length: number) =>
      world.client.put(`${path}/connection`, { provider: "ssh", host: "h".repeat(length) });
    expect([(await connect(255)).status, (await connect(254)).status]).toEqual([400, 200]);
  });

  it.each([
    ["provider", { provider: "gcp" }],
    ["account_id", { account_id: "1234" }],
    ["region", { region: "Frankfurt" }],
    ["role_arn", { role_arn: "deploy" }],
    ["external_id", { external_id: "longshore" }],
    ["context", { provider: "kubernetes", context: "--kubeconfig=/tmp/x" }],
    ["namespace", { provider: "kubernetes", context: "prod", namespace: "Not_Valid" }],
    ["host", { provider: "ssh", host: "-oProxyCommand=id" }],
    ["user", { provider: "ssh", host: "web-1", user: "-l" }],
    ["account_id", { provider: "cloudflare", account_id: "123456789012" }],
    ["name", { provider: "other" }],
    ["region", { provider: "other", name: "x", region: "eu-central-1" }],
  ])("refuse a connection with a bad %s", async (where, fields) => {
    const connection = "account_id" in fields || !("provider" in fields) ? CONNECTION : {};
    const reply = await world.client.put(`${path}/connection`, { ...connection, ...fields });
    expect(reply.body.cause.issues[0].path).toBe(where);
  });
});

describe("permissions in a project", () => {
  it("limit an owner's key with the role member to that role", async () => {
    const otherProject = await newProject((await join(world, "owner")).client);
    const { client } = await newKey(world, { role: "member" });
    expect((await client.get(`/v1/projects/${otherProject.id}`)).status).toBe(403);
    expect((await client.get(path)).status).toBe(200);
  });

  it("limit lists to the projects that the caller may read", async () => {
    const member = await join(world);
    const admin = await join(world, "admin");
    const own = await newProject(member.client, { name: "own" });
    const idsFor = async ({ client }: Person, list: string) =>
      (await client.get(list)).body.data.map((each: Parsed) => each.id);
    for (const list of ["/v1/projects", `/v1/orgs/${world.id}/projects`]) {
      expect(await idsFor(member, list)).toEqual([own.id]);
      expect(await idsFor(admin, list)).toEqual([own.id, project.id]);
    }
  });
});

describe("members of a project", () => {
  let people: Person[];
  let members: string;

  beforeEach(async () => {
    people = [await join(world), await join(world, "admin"), await join(world)];
    members = `${path}/members`;
  });

  it("are added in the order of the request, as viewers by default", async () => {
    const member_ids = people.map(({ membershipId }) => membershipId).toReversed();
    const { status, body } = await world.client.post(members, { member_ids });
    expect(status).toBe(201);
    expect(body.map((each: Parsed) => each.membership_id)).toEqual(member_ids);
    expect(body[0]).toMatchObject({ project_id: project.id, role: "viewer", org_role: "member" });
    expect(body[1]).toMatchObject({ org_role: "admin" });
  });

  it("are added all together or not at all", async () => {
    const [first, second] = people.map(({ membershipId }) => membershipId);
    await world.client.post(members, { member_ids: [first] });
    const foreign = await newWorld();
    const known = await world.client.post(members, { member_ids: [second, first] });
    expect(known.status).toBe(409);
    for (const id of [foreign.membershipId, newId(systemClock)]) {
      const unknown = await world.client.post(members, { member_ids: [second, id] });
      expect(unknown.status).toBe(404);
    }
    const { body } = await world.client.get(members);
    expect(body.data).toHaveLength(2);
  });

  it("are added at most 100 at a time", async () => {
    const ids = await bulkMemberships(world, 101);
    const tooMany = await world.client.post(members, { member_ids: ids });
    expect(tooMany.status).toBe(400);
    const { status, body } = await world.client.post(members, { member_ids: ids.slice(1) });
    expect(status).toBe(201);
    expect(body.map((each: Parsed) => each.membership_id)).toEqual(ids.slice(1));
    expect((await world.client.post(members, { member_ids: [] })).status).toBe(400);
  });

  it("are rejected as duplicates in a request, also in different forms of the ID", async () => {
    const [first] = people;
    const id = String(first?.membershipId);
    const reply = await world.client.post(members, { member_ids: [id, toHex(id)] });
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues[0].path).toBe("member_ids.1");
  });

  it("change their role and leave, except the last owner, also concurrently", async () => {
    const [first] = people;
    const own = `${members}/${world.membershipId}`;
    const other = `${members}/${first?.membershipId}`;
    expect((await world.client.put(own, { role: "viewer" })).status).toBe(409);
    expect((await world.client.delete(own)).status).toBe(409);
    await world.client.post(members, { member_ids: [first?.membershipId], role: "owner" });
    const replies = await Promise.all([
      world.client.delete(own),
      world.client.put(other, { role: "viewer" }),
    ]);
    expect(replies.map(({ status }) => status).toSorted()).toContain(409);
    const owners = (await world.client.get(`${members}?role=owner`)).body.data;
    expect(owners).toHaveLength(1);
  });
});

function toHex(id: string): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = 0n;
  for (const digit of id) value = value * 58n + BigInt(alphabet.indexOf(digit));
  return value.toString(16).padStart(32, "0");
}

async function bulkMemberships(world: World, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId(systemClock));
  await env.DB.batch(
    ids.flatMap((id) => [
      env.DB.prepare(
        "insert into accounts values (?1, ?1 || '@example.com', 'Bulk', 'Bulk', null, '{}', 0, 0, 1)",
      ).bind(id),
      env.DB.prepare(`insert into memberships
          (id, organization_id, account_id, role, created_at, updated_at)
          values (?1, ?2, ?1, 'member', 0, 0)`).bind(id, world.id),
    ]),
  );
  return ids;
}
