import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { OrgRole } from "../../src/lib/roles.ts";
import type { Reply } from "../support/client.ts";
import type { Operation } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { type Fixture, prepare, withApiKey } from "../support/operation-requests.ts";
import { proveIdentity } from "../support/protection.ts";
import { join, newKey, newProject, type Person, SharedKeys, type World } from "../support/world.ts";

/** Of owners of the organization alone: test/features/protection/overrides.test.ts. */
const OF_OWNERS = "overrideDeployment";
const repeatable = withApiKey.filter(
  ({ method, operationId }) =>
    (method === "POST" || method === "PATCH") && operationId !== OF_OWNERS,
);
/** Those that a project's owner may use who is no admin. */
const inProject = repeatable.filter(({ path }) => !/^\/v1\/(orgs|account|sign-in)/.test(path));
const ofProject = inProject.filter(({ operationId }) => operationId !== "createProject");
const named = (each: Operation) => [each.operationId, each] as const;

const SECRET = /"(?:key|token|secret|url|link)":"(?:ls|whsec|http)[^"]{20,}"/;

const owners = new WeakMap<World, SharedKeys>();

/** With a key that few tests share: many share the organization. */
async function ownerOf({ world }: Fixture): Promise<World> {
  const keys = owners.get(world) ?? new SharedKeys(world);
  owners.set(world, keys);
  return { ...world, client: await keys.next() };
}

/** A person who has made the key, and has signed in. */
async function newPerson(fixture: Fixture, role: OrgRole): Promise<Person> {
  const { membershipId } = await join(await ownerOf(fixture), role);
  await proveIdentity({ membershipId });
  return newKey(fixture.world, { membershipId, role, isOwn: true });
}

async function newProjectOwner(fixture: Fixture): Promise<Person> {
  const person = await newPerson(fixture, "member");
  const body = { member_ids: [person.membershipId], role: "owner" };
  const added = await (await ownerOf(fixture)).client.post(membersOf(fixture), body);
  expect(added.status).toBe(201);
  return person;
}

const membersOf = ({ project }: Fixture) => `/v1/projects/${project.id}/members`;

type Send = Awaited<ReturnType<typeof prepare>>["send"];

/** The first request, which succeeds, and what repeats it. */
async function sendFirst(send: Send) {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const first = await send({ headers });
  expect(first.status, first.text).toBeLessThan(300);
  return { first, headers, repeat: () => send({ headers }) };
}

function expectReplay(repeated: Reply, first: Reply): void {
  expect([repeated.status, repeated.text]).toEqual([first.status, first.text]);
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
}

function expectRefusal(reply: Reply, statuses: readonly number[]): void {
  expect(statuses, reply.text).toContain(reply.status);
  expect(reply.headers.get("idempotency-replayed")).toBeNull();
  expect(reply.headers.get("location")).toBeNull();
}

/** As without the key, unless that succeeds: then the stored response, but no secret of it. */
async function expectAsWithoutKey(send: Send, first: Reply, repeated: Reply): Promise<boolean> {
  const fresh = await send();
  if ([401, 403, 404].includes(fresh.status)) {
    expectRefusal(repeated, [fresh.status]);
    expect(repeated.body).toEqual(fresh.body);
    return true;
  }
  if (SECRET.test(first.text)) expectRefusal(repeated, [403]);
  else expectReplay(repeated, first);
  return false;
}

/** Ends the deployments of the organization, which a project is not deleted with. */
async function endDeployments({ world }: Fixture): Promise<void> {
  await env.DB.prepare("update deployments set status = 'canceled' where organization_id = ?")
    .bind(world.id)
    .run();
}

describe("a repeat by an admin", () => {
  /** These need no role. */
  const ofEveryone = ["createOrganization", "createProject", "createSignInLink", "updateAccount"];

  it.each(repeatable.map(named))(
    "of %s is refused as the request is while the role is lower, and replayed after",
    async (operationId, operation) => {
      const { fixture, caller, send } = await prepare(operation, "api_key", {
        newCaller: (each) => newPerson(each, "admin"),
      });
      const { id, client } = await ownerOf(fixture);
      const { first, repeat } = await sendFirst(send);
      expectReplay(await repeat(), first);
      const member = `/v1/orgs/${id}/members/${caller.membershipId}`;
      expect((await client.put(member, { role: "member" })).status).toBe(200);
      const isRefused = await expectAsWithoutKey(send, first, await repeat());
      expect(isRefused).toBe(!ofEveryone.includes(operationId));
      await client.put(member, { role: "admin" });
      expectReplay(await repeat(), first);
    },
  );

  it.each(repeatable.map(named))(
    "of %s is refused as the request is once the key has another project only, or other scopes",
    async (_, operation) => {
      const { fixture, caller, send } = await prepare(operation, "api_key", {
        newCaller: (each) => newPerson(each, "admin"),
      });
      const { first, headers } = await sendFirst(send);
      const { id } = await newProject((await ownerOf(fixture)).client);
      for (const [column, value] of [
        ["project_ids", id],
        ["scopes", "audit:read"],
      ] as const) {
        const narrowed = await narrow(send, caller, column, [value]);
        const repeated = await narrowed({ headers });
        const isRefused = await expectAsWithoutKey(narrowed, first, repeated);
        const mustBe = column === "scopes" ? operation["x-scope"] : inProject.includes(operation);
        if (mustBe) expect(isRefused).toBe(true);
      }
    },
  );

  /** Also below the keys that it has made, which the API refuses. Returns the narrowed sender. */
  async function narrow(send: Send, { keyId }: Person, column: string, value: object) {
    const update = `update api_keys set ${column} = ?, version = version + 1 where id = ?`;
    await env.DB.prepare(update).bind(JSON.stringify(value), keyId).run();
    const worker = new Instrumented();
    return (options: Parameters<Send>[0]) => send({ ...options, worker });
  }
});

describe("a repeat by an owner of a project", () => {
  it.each(ofProject.map(named))(
    "of %s is refused as the request is while the owner has a lower role or none, and replayed after",
    async (_, operation) => {
      const { fixture, caller, send } = await prepare(operation, "api_key", {
        newCaller: newProjectOwner,
      });
      const { client } = await ownerOf(fixture);
      const { first, repeat } = await sendFirst(send);
      expectReplay(await repeat(), first);
      const members = membersOf(fixture);
      const member = `${members}/${caller.membershipId}`;
      await client.put(member, { role: "viewer" });
      expect(await expectAsWithoutKey(send, first, await repeat())).toBe(true);
      await client.delete(member);
      expect(await expectAsWithoutKey(send, first, await repeat())).toBe(true);
      await client.post(members, { member_ids: [caller.membershipId], role: "owner" });
      expectReplay(await repeat(), first);
    },
  );

  it.each(inProject.map(named))(
    "of %s is not_found once the project is deleted",
    async (_, operation) => {
      const { fixture, send } = await prepare(operation, "api_key", {
        newCaller: newProjectOwner,
        needsOwnFixture: true,
      });
      const { repeat } = await sendFirst(send);
      await deleteProjects(fixture);
      expectRefusal(await repeat(), [404]);
    },
  );
});

describe("a repeat by an admin after the project is deleted", () => {
  it.each(inProject.map(named))("of %s is replayed", async (_, operation) => {
    const { fixture, send } = await prepare(operation, "api_key", {
      newCaller: (each) => newPerson(each, "admin"),
      needsOwnFixture: true,
    });
    const { first, repeat } = await sendFirst(send);
    await deleteProjects(fixture);
    expectReplay(await repeat(), first);
  });
});

async function deleteProjects(fixture: Fixture): Promise<void> {
  const { client } = fixture.world;
  await endDeployments(fixture);
  const { body } = await client.get("/v1/projects");
  expect(body.data.length).toBeGreaterThan(0);
  for (const { id } of body.data) {
    expect((await client.delete(`/v1/projects/${id}`)).status).toBe(204);
  }
}

/** Their `Location` is of a record that nobody deletes, or they have none. */
const WITHOUT_DELETION = [
  "addProjectMembers",
  "cancelDeployment",
  "createApproval",
  "createDeployment",
  "createRecovery",
  "pingIntegration",
  "previewDeployment",
  "promoteDeployment",
  "redeliver",
  "redeployDeployment",
  "rotateIntegrationSecret",
];

describe("a repeat after the created record is deleted", () => {
  const creations = inProject.filter(
    ({ method, operationId }) => method === "POST" && !WITHOUT_DELETION.includes(operationId),
  );

  it.each(creations.map(named))("of %s is replayed for an admin only", async (_, operation) => {
    for (const newCaller of [newProjectOwner, (each: Fixture) => newPerson(each, "admin")]) {
      const { fixture, send } = await prepare(operation, "api_key", {
        newCaller,
        needsOwnFixture: true,
      });
      const { first, repeat } = await sendFirst(send);
      const path = String(first.headers.get("location"));
      expect((await fixture.world.client.delete(path)).status).toBe(204);
      const repeated = await repeat();
      if (newCaller === newProjectOwner) expectRefusal(repeated, [404]);
      else expectReplay(repeated, first);
    }
  });
});
