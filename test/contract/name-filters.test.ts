import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { isList } from "../support/all-reads.ts";
import type { Client, Parsed } from "../support/client.ts";
import { exampleBody, type Operation, operations } from "../support/contract.ts";
import { pathWith } from "../support/created.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  join,
  newEmail,
  newKey,
  newProject,
  newTrust,
  newWorld,
  type World,
} from "../support/world.ts";

/** Where a test creates resources: a project of an organization. */
interface Fixture {
  world: World;
  projectId: string;
  environmentId: string;
  componentId: string;
}

interface NamedList {
  create(fixture: Fixture, name: string): Promise<unknown>;
  /** Whether several resources of the list may have the same name. */
  repeats: boolean;
  /** The index that finds a name. Undefined: the query reads the list, which a quota bounds. */
  index: string | undefined;
}

const created = async (client: Client, path: string, body: object): Promise<Parsed> => {
  const reply = await client.post(path, body);
  if (reply.status !== 201) throw new Error(`Nothing was created: ${reply.text}`);
  return reply.body;
};

const pathIn = (operation: Pick<Operation, "path">, { world, ...fixture }: Fixture) =>
  pathWith(operation, {
    org_id: world.id,
    project_id: fixture.projectId,
    environment_id: fixture.environmentId,
    component_id: fixture.componentId,
  });

/** Sends the example of the POST with the name and other fields. */
function post(path: string, fields: (fixture: Fixture) => object = () => ({})) {
  const creation = operations.find((each) => each.method === "POST" && each.path === path);
  return (fixture: Fixture, name: string) =>
    created(fixture.world.client, pathIn({ path }, fixture), {
      ...(creation && exampleBody(creation)),
      ...fields(fixture),
      name,
    });
}

async function addMember({ world }: Fixture, name: string): Promise<string> {
  const body = { email: newEmail(), name, role: "member" };
  return (await created(world.client, `/v1/orgs/${world.id}/members`, body))["membership_id"];
}

const UNINDEXED = { repeats: true, index: undefined };

/**
 * By the operation, what differs from a list whose resources the example of its POST creates, with names that
 * are unique and have an index.
 */
const LISTS: Record<string, Partial<NamedList>> = {
  listProjectsOfOrganization: { create: post("/v1/projects") },
  listStacks: {
    create: post("/v1/environments/{environment_id}/stacks", () => ({ component_id: undefined })),
  },
  listProjectMembers: {
    ...UNINDEXED,
    create: async (fixture, name) => {
      const body = { member_ids: [await addMember(fixture, name)] };
      await created(fixture.world.client, `/v1/projects/${fixture.projectId}/members`, body);
    },
  },
  listMembers: { ...UNINDEXED, create: addMember },
  listServiceAccounts: UNINDEXED,
  listApiKeys: { repeats: true },
  listTrusts: {
    ...UNINDEXED,
    create: ({ world }, name) => newTrust(world, { membershipId: world.membershipId }, { name }),
  },
  listRunnerPools: {
    create: post("/v1/orgs/{org_id}/runner-pools", ({ environmentId }) => ({
      environment_ids: [environmentId],
    })),
  },
};

const nameIn = ({ parameters = [] }: Operation) =>
  parameters.find((each) => each.in === "query" && each.name === "name");
const lists = operations.filter((each) => isList(each) && nameIn(each));

async function newFixture(world: World): Promise<Fixture> {
  const project = await newProject(world.client);
  const environmentId: string = project.default_environment_id;
  const body = { name: "of-the-fixture", kind: "service" };
  const components = `/v1/environments/${environmentId}/components`;
  const { id: componentId } = await created(world.client, components, body);
  return { world, projectId: project.id, environmentId, componentId };
}

const names = ({ data }: Parsed): string[] => data.map(({ name }: Parsed) => name);
const idOf = ({ id, membership_id }: Parsed): string => id ?? membership_id;

let here: Fixture;
let sibling: Fixture;
let foreign: Fixture;

beforeAll(async () => {
  const world = await newWorld();
  here = await newFixture(world);
  sibling = await newFixture(world);
  foreign = await newFixture(await newWorld());
});

it("the table names only lists that filter by name", () => {
  const ids = lists.map(({ operationId }) => operationId);
  expect(Object.keys(LISTS).filter((id) => !ids.includes(id))).toEqual([]);
});

describe.each(lists.map((each) => [each.operationId, each] as const))("%s", (operationId, list) => {
  const usual = { create: post(list.path), repeats: false, index: "\\w+_name" };
  const { create, repeats, index } = { ...usual, ...LISTS[operationId] };
  const isOfOrganization = !/\{(?!org_id)/.test(list.path);
  const maximum = Number(nameIn(list)?.schema["maxLength"]);
  const path = (fixture: Fixture) => pathIn(list, fixture);
  // A variable's name has no `-`, and a component's has no capitals.
  const prefix = operationId.toLowerCase();
  const worker = new Instrumented();
  let client: Client;
  const withName = (name: string) => `${path(here)}?name=${encodeURIComponent(name)}`;

  /** New keys for each list, because each key has its own rate limit. */
  beforeAll(async () => {
    for (const { world } of [here, foreign]) world.client = (await newKey(world)).client;
    client = (await newKey(here.world)).client.via(worker.fetch);
  });

  it("returns the records with the name, and no others", async () => {
    const [wanted, other] = [`${prefix}wanted`, `${prefix}wantedtoo`];
    await create(here, wanted);
    await create(here, other);
    if (!isOfOrganization) await create(sibling, wanted);
    await create(foreign, wanted);
    const [{ body: found }, { body: all }] = [
      await client.get(withName(wanted)),
      await client.get(`${path(here)}?limit=240`),
    ];
    expect(names(found)).toEqual([wanted]);
    expect(found.has_more).toBe(false);
    const listed = all.data.filter(({ name }: Parsed) => name === wanted);
    expect(found.data.map(idOf)).toEqual(listed.map(idOf));
    expect(names((await client.get(withName(other))).body)).toEqual([other]);
  });

  it("returns an empty list for a name that no record has exactly", async () => {
    const name = `${prefix}exact`;
    await create(here, name);
    for (const unlike of [`${prefix}exac`, `${prefix}exactly`, name.toUpperCase(), `${name} `]) {
      const { status, body } = await client.get(withName(unlike));
      expect([unlike, status, body]).toEqual([unlike, 200, { data: [], has_more: false }]);
    }
    expect((await client.get(withName(name))).body.data).toHaveLength(1);
  });

  it("pages and sorts the records with the name", async () => {
    const [wanted, other] = [`${prefix}paged`, `${prefix}unpaged`];
    const count = repeats ? 3 : 1;
    for (let at = 0; at < count; at += 1) {
      await create(here, wanted);
      await create(here, `${other}${at}`);
    }
    const orders = await Promise.all(
      ["created_at", "-created_at"].map(async (order) => {
        const found: string[] = [];
        let after = "";
        for (let page = 1; page <= count; page += 1) {
          const query = `&sort_by=${order}&limit=1${after}`;
          const { body } = await client.get(`${withName(wanted)}${query}`);
          expect(names(body)).toEqual([wanted]);
          expect(body.has_more).toBe(page < count);
          found.push(...body.data.map(idOf));
          after = `&after=${body.next_page}`;
        }
        return found;
      }),
    );
    expect(new Set(orders[0]).size).toBe(count);
    expect(orders[1]).toEqual(orders[0]?.toReversed());
  });

  it.each([
    ["is empty", "name=", "Send a text that is not blank."],
    ["is blank", "name=%20%E3%80%80", "Send a text that is not blank."],
    ["is too long", `name=${"x".repeat(maximum + 1)}`, `Send at most ${maximum} characters.`],
    ["has a control character", "name=a%00b", "Send a text without control characters."],
    ["is repeated", "name=a&name=b", undefined],
  ])("refuses a name that %s", async (_, query, message) => {
    const { status, body } = await client.get(`${path(here)}?${query}`);
    expect([status, body.code]).toEqual([400, "bad_input"]);
    const [issue] = body.cause.issues;
    expect(issue.path).toBe("name");
    if (message !== undefined) expect(issue.message).toBe(message);
  });

  it("accepts a name of the maximum length", async () => {
    expect((await client.get(withName("x".repeat(maximum)))).body.data).toEqual([]);
  });

  it.runIf(index !== undefined)("finds the name by an index", async () => {
    for (const order of ["created_at", "-created_at"]) {
      worker.forget();
      await client.get(`${withName("n")}&sort_by=${order}`);
      const plans = worker.database.flatMap(({ statements }) => statements).map(planOf);
      const details = (await Promise.all(plans)).flat();
      expect(details.join("\n")).toMatch(new RegExp(`INDEX ${index} \\(`));
    }
  });
});

describe("a name, together with what else a list depends on,", () => {
  let world: World;
  const found = async (client: Client, path: string) =>
    (await client.get(path)).body.data.map(idOf).toSorted();

  beforeAll(async () => {
    world = await newWorld();
  });

  it("finds keys that are valid, or revoked, and a member's own ones", async () => {
    const keys = `/v1/orgs/${world.id}/api-keys`;
    const member = await join(world);
    const body = { name: "ci", membership_id: member.membershipId };
    const [own, owners, gone] = [
      await created(world.client, keys, body),
      await created(world.client, keys, { name: "ci" }),
      await created(world.client, keys, { name: "ci" }),
    ];
    const other = await created(world.client, keys, { name: "cd" });
    for (const { id } of [gone, other]) await world.client.delete(`${keys}/${id}`);
    expect(await found(world.client, `${keys}?name=ci`)).toEqual([own.id, owners.id].toSorted());
    expect(await found(member.client, `${keys}?name=ci`)).toEqual([own.id]);
    const worker = new Instrumented();
    const revoked = `${keys}?name=ci&status=revoked`;
    expect(await found(world.client.via(worker.fetch), revoked)).toEqual([gone.id]);
    const plans = worker.database.flatMap(({ statements }) => statements).map(planOf);
    expect((await Promise.all(plans)).flat().join("\n")).toContain("INDEX revoked_keys_name (");
  });

  it("finds a project only for those who may read it", async () => {
    const member = await join(world);
    const [shared, hidden] = [
      await newProject(world.client, { name: "shop" }),
      await newProject(world.client, { name: "other" }),
    ];
    // Projects that share a name keep it.
    await env.DB.prepare("update projects set name = 'shop' where id = ?").bind(hidden.id).run();
    const member_ids = [member.membershipId];
    await created(world.client, `/v1/projects/${shared.id}/members`, { member_ids });
    const narrowed = await newKey(world, { projectIds: [hidden.id], role: "admin" });
    const ids = [shared.id, hidden.id].toSorted();
    expect(await found(world.client, "/v1/projects?name=shop")).toEqual(ids);
    expect(await found(member.client, "/v1/projects?name=shop")).toEqual([shared.id]);
    expect(await found(narrowed.client, "/v1/projects?name=shop")).toEqual([hidden.id]);
  });

  it("finds an environment only for a key that may read it", async () => {
    const project = await newProject(world.client);
    const path = `/v1/projects/${project.id}/environments`;
    const [staging, preview] = [
      await created(world.client, path, { name: "staging" }),
      await created(world.client, path, { name: "preview" }),
    ];
    const environmentIds = [preview.id];
    const projectIds = [project.id];
    const { client } = await newKey(world, { environmentIds, projectIds, role: "admin" });
    expect(await found(client, `${path}?name=staging`)).toEqual([]);
    expect(await found(client, `${path}?name=preview`)).toEqual([preview.id]);
    expect(await found(world.client, `${path}?name=staging`)).toEqual([staging.id]);
  });

  it("finds the members of a project with one of the roles", async () => {
    const project = await newProject(world.client);
    const path = `/v1/projects/${project.id}/members`;
    const fixture = { world, projectId: project.id, environmentId: "", componentId: "" };
    const add = async (name: string, role: string) => {
      const id = await addMember(fixture, name);
      await created(world.client, path, { member_ids: [id], role });
      return id;
    };
    const owner = await add("Grace Hopper", "owner");
    const viewer = await add("Grace Hopper", "viewer");
    await add("Grace Hopper", "contributor");
    await add("Ada Lovelace", "viewer");
    const query = "name=Grace%20Hopper&role";
    const both = [owner, viewer].toSorted();
    expect(await found(world.client, `${path}?${query}=viewer,owner`)).toEqual(both);
    expect(await found(world.client, `${path}?${query}=viewer`)).toEqual([viewer]);
    expect(await found(world.client, `${path}?name=Ada%20Lovelace&role=owner`)).toEqual([]);
  });
});

async function planOf({ sql, params }: { sql: string; params: readonly unknown[] }) {
  const { results } = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail);
}
