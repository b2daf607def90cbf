import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import page from "../../docs/api-keys.md?raw";
import { ONLY_IN_ENVIRONMENTS } from "../../src/actor.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { OrgRole } from "../../src/lib/roles.ts";
import { grantsScope, SCOPES, type Scope } from "../../src/lib/scopes.ts";
import type { Client, Reply } from "../support/client.ts";
import { exampleBody, type Operation, operations } from "../support/contract.ts";
import { type Ids, newIds, pathWith } from "../support/operations.ts";
import {
  CREDENTIAL_KINDS,
  type CredentialKind,
  join,
  newDeployment,
  newInside,
  newKey,
  newResource,
  newWorld,
  SharedKeys,
  type World,
} from "../support/world.ts";

const withKey = operations.filter(({ security }) => security.some((each) => "api_key" in each));
const title = ({ method, path }: Operation) => `${method} ${path}`;
const scopeOf = (operation: Operation) => operation["x-scope"] as Scope | undefined;

/** The operations that every key may call, with the reason. */
const WITHOUT_SCOPE: Record<string, string> = {
  listOrganizations: "It tells a client which organization its key belongs to.",
  whoAmI: "It tells a client what its key may do.",
};

it("docs/api-keys.md lists every scope once, in order", () => {
  const named = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
    [...String(cell).matchAll(/`(\w+:\w+)`/g)].map(([, scope]) => scope),
  );
  expect(named).toEqual(SCOPES);
});

/** A caller of the same organization: each key has its own rate limit. */
async function callerOf(world: World): Promise<World> {
  return { ...world, client: (await newKey(world)).client };
}

/** The tests of sessions are those of keys. They take a part of the cases, and `.ci/run` takes all. */
function sampleOf<Case>(credential: CredentialKind, cases: readonly Case[], offset = 0): Case[] {
  const stride = strideOf(credential);
  return cases.filter((_, at) => (at + offset) % stride === 0);
}

const strideOf = (credential: CredentialKind) =>
  credential === "session" ? env.EFFORT.sessionStride : 1;

const SCOPE_CASES = CREDENTIAL_KINDS.flatMap((credential) =>
  SCOPES.map((scope, at) => [credential, scope, at] as const),
);

describe("every operation", () => {
  it("that accepts an API key needs a scope, except for these", () => {
    const without = withKey.filter((each) => !scopeOf(each)).map(({ operationId }) => operationId);
    expect(without).toEqual(Object.keys(WITHOUT_SCOPE));
    const others = operations.filter((each) => !withKey.includes(each) && scopeOf(each));
    expect(others).toEqual([]);
  });

  it("that only reads needs a scope that reads, and every other one that writes", () => {
    const accesses = withKey.flatMap((operation) => {
      const [subject, access] = scopeOf(operation)?.split(":") ?? [];
      return subject ? [`${operation.method === "GET" ? "GET" : "other"} ${access}`] : [];
    });
    expect([...new Set(accesses)].toSorted()).toEqual([
      "GET read",
      "GET reveal",
      "GET write",
      "other write",
    ]);
    const exceptions = withKey.filter(
      (each) => each.method === "GET" && !scopeOf(each)?.endsWith(":read"),
    );
    expect(exceptions.map(({ operationId }) => operationId).toSorted()).toEqual([
      "installSlack",
      "listOrganizations",
      "revealComponentVariables",
      "revealEnvironmentVariables",
      "revealVariable",
      "whoAmI",
    ]);
  });

  it("has its scope in its description", () => {
    for (const operation of withKey) {
      const scope = scopeOf(operation);
      if (scope) expect(operation.description).toContain(`Needs the scope \`${scope}\`.`);
    }
  });

  it.each(SCOPE_CASES)(
    "%s: is open to one that has only %s, if it needs that, and refused to one that has all others",
    async (credential, scope, at) => {
      const world = await newWorld();
      const only = new SharedKeys(world, { scopes: [scope] }, credential);
      const without = SCOPES.filter((each) => !grantsScope([each], scope));
      const others = new SharedKeys(world, { scopes: [...without] }, credential);
      const opened = withKey.filter((operation) => {
        const needed = scopeOf(operation);
        return needed === undefined || grantsScope([scope], needed);
      });
      for (const operation of sampleOf(credential, opened, at)) {
        const needed = scopeOf(operation);
        const refusal = `This key lacks the scope ${needed}.`;
        const reply = await callEmpty(await only.next(), operation);
        expect(reply.body?.message, title(operation)).not.toBe(refusal);
        if (needed !== scope) continue;
        const { status, body } = await callEmpty(await others.next(), operation);
        expect([status, body], title(operation)).toEqual([403, unauthorized(refusal)]);
      }
    },
  );

  it.each(CREDENTIAL_KINDS)("%s: is open to one that is not narrowed", async (credential) => {
    const keys = new SharedKeys(await newWorld(), {}, credential);
    for (const operation of sampleOf(credential, withKey)) {
      const client = await keys.next();
      const { body } = await callEmpty(client, operation);
      expect(body?.message ?? "", title(operation)).not.toContain("scope");
    }
  });

  /** Names no record, and has no fields. */
  function callEmpty(client: Client, { method, path, requestBody }: Operation): Promise<Reply> {
    const unknown = path.replaceAll(/\{.+?\}/g, () => newId(systemClock));
    return client.request(method, unknown, requestBody ? {} : undefined);
  }
});

describe.each(CREDENTIAL_KINDS)("%s: one with boundaries", (credential) => {
  const ROLES: readonly OrgRole[] = ["owner", "admin", "member"];
  /** The project of `inside`; `sibling` is another environment of it. */
  const NARROWINGS = ["projects", "environments"] as const;
  type NarrowingName = (typeof NARROWINGS)[number];

  const inProjects = withKey.filter(({ path }) => !path.includes("{org_id}"));
  const RECORDS = inProjects.flatMap((operation) =>
    [...operation.path.matchAll(/\{(.+?)\}/g)]
      .map(([, name]) => String(name))
      // Sessions belong to the membership, as keys do.
      .filter((name) => name !== "name" && !name.endsWith("session_id"))
      .map((name) => [operation, name] as const),
  );
  const OF_ENVIRONMENTS = [
    "environment_id",
    "component_id",
    "stack_id",
    "variable_id",
    "deployment_id",
    "resource_id",
  ];

  interface Fixture {
    world: World;
    inside: Ids;
    sibling: Ids;
    outside: Ids;
    memberId: string;
  }

  /** One for each narrowing: an organization has a rate limit, too. */
  const fixtures = new Map<NarrowingName, Fixture>();

  beforeAll(async () => {
    for (const narrowing of NARROWINGS) fixtures.set(narrowing, await newFixture());
  });

  async function newFixture(): Promise<Fixture> {
    const world = await newWorld();
    const inside = await newIds(await callerOf(world));
    const outside = await newIds(await callerOf(world));
    const { client } = await callerOf(world);
    const environments = `/v1/projects/${inside["project_id"]}/environments`;
    const { body: environment } = await client.post(environments, { name: "sibling" });
    const records = await newInside(client, environment.id);
    const deployment = await newDeployment(client, environment.id);
    const resourceId = await newResource(String(records["stack_id"]));
    const sibling = { ...records, deployment_id: deployment.id, resource_id: resourceId };
    const { membershipId: memberId } = await join(world);
    for (const { project_id } of [inside, outside]) {
      const body = { member_ids: [memberId], role: "owner" };
      await client.post(`/v1/projects/${project_id}/members`, body);
    }
    return { world, inside, sibling, outside, memberId };
  }

  function fixtureOf(narrowing: NarrowingName): Fixture {
    const fixture = fixtures.get(narrowing);
    if (!fixture) throw new Error("Each narrowing has a fixture");
    return fixture;
  }

  function keysOf(role: OrgRole, narrowing: NarrowingName): SharedKeys {
    const { world, inside, memberId } = fixtureOf(narrowing);
    const membershipId = role === "member" ? memberId : world.membershipId;
    const projectIds = [String(inside["project_id"])];
    const environmentIds = narrowing === "environments" ? [String(inside["environment_id"])] : null;
    const fields = { role, membershipId, projectIds, environmentIds };
    return new SharedKeys(world, fields, credential);
  }

  const cases = ROLES.flatMap((role) => NARROWINGS.map((narrowing) => [role, narrowing] as const));
  /** The roles divide the cases of a narrowing among themselves, and of the other one differently. */
  const ofRole = <Case>(all: readonly Case[], role: OrgRole, narrowing: NarrowingName): Case[] => {
    const stride = Math.max(env.EFFORT.roleStride, strideOf(credential));
    const offset = ROLES.indexOf(role) + NARROWINGS.indexOf(narrowing);
    return all.filter((_, at) => (at + offset) % stride === 0);
  };

  it.each(cases)(
    "finds no record outside of them, on any route: %s, %s",
    async (role, narrowing) => {
      const { inside, outside, sibling } = fixtureOf(narrowing);
      const places = narrowing === "environments" ? [outside, sibling] : [outside];
      const keys = keysOf(role, narrowing);
      for (const [operation, name] of ofRole(RECORDS, role, narrowing)) {
        const replyTo = async (id: string) => {
          const path = pathWith(operation, { ...inside, [name]: id });
          const client = await keys.next();
          const reply = await client.request(operation.method, path, exampleBody(operation));
          return [reply.status, reply.text];
        };
        const unknown = await replyTo(newId(systemClock));
        expect(unknown[0], `${title(operation)} ${name}`).toBe(
          isRefusedFirst(operation, name, narrowing) ? 403 : 404,
        );
        for (const place of places.filter((each) => name in each)) {
          expect(await replyTo(String(place[name])), `${title(operation)} ${name}`).toEqual(
            unknown,
          );
        }
      }
    },
  );

  /** The project is inside, and only its environments may be changed. */
  function isRefusedFirst(operation: Operation, name: string, narrowing: NarrowingName): boolean {
    const isProjects = operation.path.startsWith("/v1/projects/{project_id}/members");
    return narrowing === "environments" && isProjects && name === "member_id" && isWrite(operation);
  }

  const isWrite = ({ method, operationId }: Operation) =>
    method !== "GET" || operationId === "installSlack";

  it.each(cases)("reads every record inside of them: %s, %s", async (role, narrowing) => {
    const { inside } = fixtureOf(narrowing);
    const keys = keysOf(role, narrowing);
    const all = [...new Set(RECORDS.map(([each]) => each))];
    for (const operation of ofRole(all, role, narrowing)) {
      if (isWrite(operation)) continue;
      const client = await keys.next();
      const { status } = await client.request("GET", pathWith(operation, inside));
      expect(status, title(operation)).toBe(200);
    }
  });

  it.each(cases)("lists nothing outside of them: %s, %s", async (role, narrowing) => {
    // The changes of the project are among its events.
    const aboutProjects = ["listChangelog", "listProjectMembers", "listEvents"];
    const { inside, outside, sibling } = fixtureOf(narrowing);
    const lists = inProjects.filter(({ operationId }) => operationId.startsWith("list"));
    expect(lists.length).toBeGreaterThan(12);
    const hidden = (operation: Operation) => [
      ...recordIds(outside),
      ...(narrowing === "environments" && !aboutProjects.includes(operation.operationId)
        ? OF_ENVIRONMENTS.map((name) => String(sibling[name]))
        : []),
    ];
    const keys = keysOf(role, narrowing);
    for (const operation of ofRole(lists, role, narrowing)) {
      const client = await keys.next();
      const { status, text } = await client.get(`${pathWith(operation, inside)}?limit=240`);
      expect(status, title(operation)).toBe(200);
      for (const id of hidden(operation)) expect(text, title(operation)).not.toContain(id);
    }
    const client = await keys.next();
    const { body: projects } = await client.get("/v1/projects");
    expect(projects.data.map(({ id }: { id: string }) => id)).toEqual([inside["project_id"]]);
    const { body: deployments } = await client.get("/v1/deployments?limit=240");
    const expected = [inside, ...(narrowing === "projects" ? [sibling] : [])];
    expect(deployments.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      expected.map((each) => each["deployment_id"]).toSorted(),
    );
    const { body: queued } = await client.get("/v1/deployments?status=queued,in_progress");
    expect(queued.data).toHaveLength(expected.length);
  });

  const recordIds = (ids: Ids) =>
    [...OF_ENVIRONMENTS, "project_id", "integration_id", "delivery_id", "recovery_id"].map((name) =>
      String(ids[name]),
    );

  it.each(ROLES)(
    "that is narrowed to environments changes records in them, and not the project: %s",
    async (role) => {
      const { inside } = fixtureOf("environments");
      const keys = keysOf(role, "environments");
      const client = await keys.next();
      const stacks = `/v1/environments/${inside["environment_id"]}/stacks`;
      const name = `${credential}-${role}`;
      expect((await client.post(stacks, { name })).status).toBe(201);
      const ofProject = RECORDS.filter(
        ([operation, name]) =>
          name === "project_id" && isWrite(operation) && !operation.path.includes("environment_id"),
      );
      expect(ofProject.length).toBeGreaterThan(10);
      for (const [operation] of ofRole(ofProject, role, "environments")) {
        const other = await keys.next();
        const path = pathWith(operation, inside);
        const { status, body } = await other.request(
          operation.method,
          path,
          exampleBody(operation),
        );
        const expected = [403, unauthorized(ONLY_IN_ENVIRONMENTS)];
        expect([status, body], title(operation)).toEqual(expected);
      }
    },
  );

  it("does not find its organization, except for its projects and keys", async () => {
    const { inside } = fixtureOf("projects");
    const ofOrganization = withKey.filter(({ path }) => path.includes("{org_id}"));
    const found: string[] = [];
    const keys = keysOf("owner", "projects");
    for (const operation of ofOrganization) {
      const client = await keys.next();
      const path = pathWith(operation, { ...inside, key_id: newId(systemClock) });
      const { body } = await client.request(operation.method, path, exampleBody(operation));
      if (body?.message !== "There is no such organization.") found.push(operation.operationId);
    }
    expect(found.toSorted()).toEqual([
      "createApiKey",
      "getApiKey",
      "listApiKeyFamily",
      "listApiKeys",
      "listProjectsOfOrganization",
      "revokeApiKey",
      "rotateApiKey",
      "updateApiKey",
    ]);
  });

  it("promotes to its own environments only", async () => {
    const { inside, sibling } = fixtureOf("environments");
    const client = await keysOf("owner", "environments").next();
    const promote = (environment_id: string) =>
      client.post(`/v1/deployments/${inside["deployment_id"]}/promote`, { environment_id });
    const unknown = await promote(newId(systemClock));
    expect(unknown.status).toBe(404);
    expect((await promote(String(sibling["environment_id"]))).text).toBe(unknown.text);
    expect((await promote(String(inside["environment_id"]))).status).not.toBe(404);
  });

  it("creates neither a project nor an organization", async () => {
    for (const narrowing of NARROWINGS) {
      const client = await keysOf("owner", narrowing).next();
      expect((await client.post("/v1/projects", { name: "new" })).body.code).toBe("unauthorized");
      expect((await client.post("/v1/orgs", { name: "new" })).body.code).toBe("unauthorized");
    }
    const { client } = await newKey(await newWorld(), {
      scopes: ["organization:write", "projects:write"],
    });
    const refused = await client.post("/v1/orgs", { name: "new" });
    expect(refused.body.message).toContain("without scopes");
    expect((await client.post("/v1/projects", { name: "new" })).status).toBe(201);
  });
});

const unauthorized = (message: string) => ({ code: "unauthorized", message });
