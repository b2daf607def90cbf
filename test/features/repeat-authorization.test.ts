import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Reply } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import { ISSUER, Issuer } from "../support/issuer.ts";
import {
  accept,
  join,
  newKey,
  newProject,
  newServiceAccount,
  newWorld,
  type Person,
  signIn,
  type World,
} from "../support/world.ts";

const KEY = { "idempotency-key": "key-1" };
const KEY_2 = { "idempotency-key": "key-2" };

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

const repeatable = (client: Client, method: string, path: string, body: object) => () =>
  client.request(method, path, body, KEY);

function expectReplay(repeated: Reply, first: Reply): void {
  expect([repeated.status, repeated.text]).toEqual([first.status, first.text]);
  expect(first.status).toBeLessThan(300);
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
}

async function addToProject(id: string, { membershipId }: Person, role: string): Promise<void> {
  const body = { member_ids: [membershipId], role };
  const added = await world.client.post(`/v1/projects/${id}/members`, body);
  expect(added.status).toBe(201);
}

const refusals = async () => {
  const select =
    "select * from audit_log where action = 'escalation.refused' and organization_id = ?";
  return (await env.DB.prepare(select).bind(world.id).all()).results;
};

describe("the project that a member has created", () => {
  it("is shown by a repeat while the member may read it", async () => {
    const [member, other] = [await join(world), await join(world)];
    const create = repeatable(member.client, "POST", "/v1/projects", { name: "storefront" });
    const first = await create();
    const { id } = first.body;
    await addToProject(id, other, "owner");
    const path = `/v1/projects/${id}/members/${member.membershipId}`;
    expect((await world.client.put(path, { role: "viewer" })).status).toBe(200);
    expectReplay(await create(), first);
    expect((await world.client.delete(path)).status).toBe(204);
    const refused = await create();
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(refused.text).not.toContain(id);
    await addToProject(id, member, "viewer");
    expectReplay(await create(), first);
  });
});

describe("a repeat whose request has ended what its path names", () => {
  it("shows a member the key that has replaced its other key", async () => {
    const member = await accept(world);
    const keys = `/v1/orgs/${world.id}/api-keys`;
    const { keyId } = await newKey(world, { membershipId: member.membershipId, role: "member" });
    const rotate = repeatable(member.client, "POST", `${keys}/${keyId}/rotate`, {
      overlap_seconds: 0,
    });
    const first = await rotate();
    expectReplay(await rotate(), first);
  });

  it("shows a contributor a stack whose component was deleted since", async () => {
    const [member, other] = [await join(world), await join(world)];
    const project = await newProject(world.client);
    for (const each of [member, other]) await addToProject(project.id, each, "contributor");
    const environment = `/v1/environments/${project.default_environment_id}`;
    const component = { name: "api", kind: "service" };
    const { body } = await world.client.post(`${environment}/components`, component);
    const { body: stack } = await world.client.post(`${environment}/stacks`, { name: "api" });
    const change = { component_id: body.id };
    const set = repeatable(member.client, "PATCH", `/v1/stacks/${stack.id}`, change);
    const first = await set();
    await world.client.delete(`/v1/components/${body.id}`);
    expectReplay(await set(), first);
    await world.client.delete(`/v1/stacks/${stack.id}`);
    expect((await set()).status).toBe(404);
  });
});

describe("a repeat whose response its caller cannot read", () => {
  it("shows the founder of an organization its key, as long as the key may found one", async () => {
    const member = await accept(world);
    const found = repeatable(member.client, "POST", "/v1/orgs", { name: "Founded" });
    const first = await found();
    expectReplay(await found(), first);
    const path = String(first.headers.get("location"));
    expect((await member.client.get(path)).status).toBe(404);
    const forbidding = new Instrumented({ settings: { ALLOW_NEW_ORGANIZATIONS: "false" } });
    const refused = await member.client
      .via(forbidding.fetch)
      .request("POST", "/v1/orgs", { name: "Founded" }, KEY);
    expect(refused).toMatchObject({ status: 403, body: { code: "unauthorized" } });
  });

  it("shows a key of one project what it has made for a service account", async () => {
    const project = await newProject(world.client);
    const membership_id = await newServiceAccount(world);
    const { client } = await newKey(world, { projectIds: [project.id] });
    const body = { name: "ci", membership_id };
    const create = repeatable(client, "POST", `/v1/orgs/${world.id}/api-keys`, body);
    const first = await create();
    expect((await client.get(String(first.headers.get("location")))).status).toBe(404);
    expectReplay(await create(), first);
  });
});

describe("a repeat that exceeds the role that its caller has now", () => {
  it("is refused, recorded, and writes nothing else", async () => {
    const { client, membershipId } = await join(world, "owner");
    const path = `/v1/orgs/${world.id}/members`;
    const body = { email: "grace@example.com", name: "Grace", role: "owner" };
    const add = repeatable(client, "POST", path, body);
    const first = await add();
    await world.client.put(`${path}/${membershipId}`, { role: "admin" });
    const members = (await world.client.get(path)).body.data.length;
    expect(await refusals()).toEqual([]);
    expect(await add()).toMatchObject({ status: 403, body: { code: "unauthorized" } });
    expect(await refusals()).toMatchObject([{ outcome: "refused", membership_id: membershipId }]);
    expect((await world.client.get(path)).body.data).toHaveLength(members);
    await world.client.put(`${path}/${membershipId}`, { role: "owner" });
    expectReplay(await add(), first);
  });

  it("is refused although the time that the request names has passed", async () => {
    const { client, membershipId } = await join(world, "admin");
    const target = await newKey(world, { ...(await join(world)), role: "member" });
    const organization = `/v1/orgs/${world.id}`;
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const path = `${organization}/api-keys/${target.keyId}/rotate`;
    const rotate = repeatable(client, "POST", path, { overlap_seconds: 30, expires_at });
    const first = await rotate();
    expectReplay(await rotate(), first);
    const clock = { now: () => Date.now() + 3_600_000 };
    const later = client.via(new Instrumented({ clock }).fetch);
    const rotateLater = repeatable(later, "POST", path, { overlap_seconds: 30, expires_at });
    expectReplay(await rotateLater(), first);
    const members = `${organization}/members`;
    await world.client.put(`${members}/${target.membershipId}`, { role: "owner" });
    const refused = await rotateLater();
    expect(refused).toMatchObject({ status: 403, body: { code: "unauthorized" } });
    expect(refused.text).not.toContain(first.body.key);

    const pools = `${organization}/runner-pools`;
    const { default_environment_id } = await newProject(world.client);
    const { body: pool } = await world.client.post(pools, {
      name: "pool",
      environment_ids: [default_environment_id],
    });
    const tokens = `${pools}/${pool.id}/tokens`;
    const create = (caller: Client) =>
      caller.request("POST", tokens, { name: "runner", expires_at }, KEY_2);
    const created = await create(client);
    expectReplay(await create(later), created);
    await world.client.put(`${members}/${membershipId}`, { role: "member" });
    const message = "This needs the role admin in the organization.";
    expect((await create(later)).body).toEqual({ code: "unauthorized", message });
  });
});

describe("a repeat of a declared trust", () => {
  it("does not ask the issuer again", async () => {
    const issuer = await Issuer.create();
    const worker = new Instrumented({ network: issuer.fetch });
    const body = {
      name: "deploy",
      issuer: ISSUER,
      audience: "https://longshore.example.com",
      conditions: { repository_id: "74" },
      membership_id: await newServiceAccount(world),
    };
    const client = world.client.via(worker.fetch);
    const declare = repeatable(client, "POST", `/v1/orgs/${world.id}/trusts`, body);
    const first = await declare();
    const { length } = issuer.requests;
    expect(length).toBeGreaterThan(0);
    expectReplay(await declare(), first);
    expect(issuer.requests).toHaveLength(length);
  });
});

describe("a request that another one with its key overtakes", () => {
  it("is refused if its caller has lost access meanwhile", async () => {
    const [owner, added] = [await join(world), await join(world)];
    const { id } = await newProject(world.client);
    await addToProject(id, owner, "owner");
    const path = `/v1/projects/${id}/members`;
    const body = { member_ids: [added.membershipId] };
    const add = repeatable(owner.client, "POST", path, body);
    const lose = async () => {
      expect((await add()).status).toBe(201);
      await world.client.put(`${path}/${owner.membershipId}`, { role: "viewer" });
    };
    const overtaken = owner.client.via(new Instrumented({ database: beforeBatch(2, lose) }).fetch);
    const refused = await overtaken.request("POST", path, body, KEY);
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(refused.headers.get("idempotency-replayed")).toBeNull();
  });
});

describe("a session and its key", () => {
  it("do not repeat each other's requests, and lose access together", async () => {
    const owner = await join(world);
    const { id } = await newProject(world.client);
    await addToProject(id, owner, "owner");
    const session = await signIn(owner);
    const environments = `/v1/projects/${id}/environments`;
    const create = ({ client }: Person, name: string) =>
      client.request("POST", environments, { name }, KEY);
    const [first, second] = [await create(owner, "staging"), await create(session, "test")];
    expect([first.status, second.status]).toEqual([201, 201]);
    expectReplay(await create(session, "test"), second);
    await world.client.delete(`/v1/projects/${id}/members/${owner.membershipId}`);
    for (const [person, name] of [
      [owner, "staging"],
      [session, "test"],
    ] as const) {
      expect(await create(person, name)).toMatchObject({
        status: 403,
        body: { code: "forbidden" },
      });
    }
  });
});
