import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { beforeEach, describe, expect, it } from "vitest";
import { insertVariable } from "../../src/features/projects/variables/store.ts";
import { CANARY_PREFIX, newCanarySecret } from "../support/canary-secrets.ts";
import type { Parsed } from "../support/client.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { Instrumented } from "../support/instruments.ts";
import { byName, namesOf, newVariableScopes, reveal, variable } from "../support/variables.ts";
import { join, newKey, type World } from "../support/world.ts";

const KIBIBYTE = 1024;

let world: World;
let project: Parsed;
let environment: string;
let component: string;

beforeEach(async () => {
  ({ world, project, environment, component } = await newVariableScopes());
});

const list = (path: string) => world.client.get(`${path}?limit=240`);

describe("variables", () => {
  it("store their value, which only the paths of values return", async () => {
    const value = newCanarySecret();
    for (const path of [environment, component]) {
      const created = await world.client.post(path, variable("TOKEN", value));
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject({ name: "TOKEN", storage_method: "secret", version: 1 });
      const read = await world.client.get(`/v1/variables/${created.body.id}`);
      expect(read.body).toEqual(created.body);
      expect(await reveal(world, created.body.id)).toEqual({ value });
      expect((await world.client.get(`${path}/values`)).body.data[0]).toEqual({
        ...created.body,
        value,
      });
      const stored = await env.DB.prepare("select * from variables where id = ?")
        .bind(created.body.id)
        .first();
      expect(JSON.stringify(stored)).not.toContain(CANARY_PREFIX);
      expect(stored?.["value"]).toMatch(/^test\.v2\.[A-Za-z0-9+/]+=*$/);
    }
  });

  it("have a warning if runners refuse the name, wherever they are shown", async () => {
    const expected =
      /^The reference runner refuses this name \(kubernetes\), .* --allow-variables kubernetes\.$/;
    const warned = { name: "KUBECONFIG", warning: expect.stringMatching(expected) };
    for (const path of [environment, component]) {
      const { body } = await world.client.post(path, variable("KUBECONFIG"));
      expect(body).toMatchObject(warned);
      const one = `/v1/variables/${body.id}`;
      expect((await world.client.get(one)).body).toMatchObject(warned);
      expect((await world.client.put(one, variable("REGION"))).body).not.toHaveProperty("warning");
      expect((await world.client.put(one, variable("KUBECONFIG"))).body).toMatchObject(warned);
      const variables = [variable("KUBECONFIG"), variable("LEVEL")];
      const bulk = await world.client.put(path, { mode: "merge", variables });
      for (const { body } of [bulk, await list(path), await world.client.get(`${path}/values`)]) {
        const [first, second] = body.data.toSorted(byName);
        expect(first).toMatchObject(warned);
        expect(second).not.toHaveProperty("warning");
      }
    }
    const changelog = await world.client.get(`/v1/projects/${project.id}/changelog`);
    expect(changelog.text).toContain("KUBECONFIG");
    expect(changelog.text).not.toContain("warning");
  });

  it("belong to an environment or to a component, and are listed for it only", async () => {
    await world.client.post(environment, variable("SHARED"));
    await world.client.post(component, variable("SHARED"));
    await world.client.post(component, variable("OWN"));
    expect(namesOf(await list(environment))).toEqual(["SHARED"]);
    expect(namesOf(await list(component))).toEqual(["OWN", "SHARED"]);
    const [own] = (await list(component)).body.data;
    const [shared] = (await list(environment)).body.data;
    expect(own).toMatchObject({ component_id: component.split("/")[3] });
    expect(own.environment_id).toBe(project.default_environment_id);
    expect(shared).not.toHaveProperty("component_id");
  });

  it("have a resource_id of identifiers that never changes", async () => {
    const [, , , environmentId] = environment.split("/");
    const [, , , componentId] = component.split("/");
    const inEnvironment = (await world.client.post(environment, variable("TOKEN"))).body;
    const inComponent = (await world.client.post(component, variable("TOKEN"))).body;
    expect(inEnvironment.resource_id).toBe(`/${project.id}/${environmentId}/TOKEN`);
    expect(inComponent.resource_id).toBe(`/${project.id}/${environmentId}/${componentId}/TOKEN`);
    const path = `/v1/variables/${inEnvironment.id}`;
    const renamed = await world.client.put(path, variable("RENAMED"));
    expect(renamed.body).toMatchObject({
      name: "RENAMED",
      resource_id: inEnvironment.resource_id,
      version: 2,
    });
    const again = await world.client.post(environment, variable("TOKEN"));
    expect(again.status).toBe(409);
    expect(again.body.message).toContain("resource_id");
  });

  it("have a unique name in their scope, also when they are created concurrently", async () => {
    const create = () => world.client.post(component, variable("TWIN"));
    const statuses = (await Promise.all([create(), create(), create()])).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([201, 409, 409]);
    const other = (await world.client.post(component, variable("OTHER"))).body;
    const taken = await world.client.put(`/v1/variables/${other.id}`, variable("TWIN"));
    expect(taken.status).toBe(409);
    expect((await world.client.get(`/v1/variables/${other.id}`)).body).toEqual(other);
  });

  it("increment their version with every replacement, and store the last value", async () => {
    const { id } = (await world.client.post(component, variable("TOKEN"))).body;
    for (const version of [2, 3, 4]) {
      const value = newCanarySecret();
      const replaced = await world.client.put(
        `/v1/variables/${id}`,
        variable("TOKEN", value, "string"),
      );
      expect(replaced.body).toMatchObject({ version, storage_method: "string" });
      expect(await reveal(world, id)).toEqual({ value });
    }
    expect((await world.client.delete(`/v1/variables/${id}`)).status).toBe(204);
    expect((await world.client.get(`/v1/variables/${id}/value`)).status).toBe(404);
  });

  it("store up to 32 KiB of UTF-8 with any characters but NUL", async () => {
    const values = ["", "\u0001", "\ufeff", "a".repeat(32 * KIBIBYTE), "€".repeat(10_922)];
    for (const [index, value] of values.entries()) {
      const { status, body } = await world.client.post(component, variable(`V${index}`, value));
      expect(status).toBe(201);
      expect(await reveal(world, body.id)).toEqual({ value });
    }
    for (const value of ["a".repeat(32 * KIBIBYTE + 1), "€".repeat(10_923), "\ud800", "a\u0000b"]) {
      const { status, body } = await world.client.post(component, variable("BAD", value));
      expect(status).toBe(400);
      expect(body.cause.issues[0].path).toBe("value");
    }
  });

  it.each([
    ["a name that begins with a digit", { name: "1A" }, "name"],
    ["a name with a dash", { name: "A-B" }, "name"],
    ["a name with a letter outside ASCII", { name: "Ä" }, "name"],
    ["no name", { name: "" }, "name"],
    ["an unknown storage method", { storage_method: "vault" }, "storage_method"],
    ["a value that is a number", { value: 1 }, "value"],
    ["no value", { value: null }, "value"],
  ])("are rejected with %s", async (_, fields, path) => {
    const reply = await world.client.post(component, { ...variable("A"), ...fields });
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues[0].path).toBe(path);
  });

  it("reveal their value to contributors, and record each reveal", async () => {
    const { id } = (await world.client.post(component, variable("TOKEN"))).body;
    const people = { viewer: await join(world), contributor: await join(world) };
    for (const [role, { membershipId }] of Object.entries(people)) {
      const body = { member_ids: [membershipId], role };
      await world.client.post(`/v1/projects/${project.id}/members`, body);
    }
    const path = `/v1/variables/${id}/value`;
    expect((await people.viewer.client.get(`/v1/variables/${id}`)).status).toBe(200);
    expect((await people.viewer.client.get(path)).body.code).toBe("forbidden");
    const shown = await people.contributor.client.get(path);
    expect(shown.status).toBe(200);
    expect(shown.headers.get("cache-control")).toContain("no-store");
    expect(shown.headers.get("ratelimit-policy")).toBe('"reveal";q=30;w=60');
    const { results } = await env.DB.prepare(
      "select * from audit_log where target_id = ? and action = 'variable.revealed'",
    )
      .bind(id)
      .all();
    expect(results).toMatchObject([
      {
        action: "variable.revealed",
        organization_id: world.id,
        project_id: project.id,
        membership_id: people.contributor.membershipId,
        credential_id: people.contributor.keyId,
        target_name: "TOKEN",
      },
    ]);
    expect(JSON.stringify(results)).not.toContain(CANARY_PREFIX);
  });

  it("reveal their value 30 times a minute, and record no rejected request", async () => {
    freezeTime();
    const { id } = (await world.client.post(component, variable("TOKEN"))).body;
    const { client } = await newKey(world);
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => client.get(`/v1/variables/${id}/value`)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30);
    const records = await env.DB.prepare(
      "select count(*) as n from audit_log where target_id = ? and action = 'variable.revealed'",
    )
      .bind(id)
      .first("n");
    expect(records).toBe(30);
  });

  it("are deleted with their scope", async () => {
    await world.client.post(component, variable("GONE"));
    await world.client.post(environment, variable("STAYS"));
    await world.client.delete(component.replace("/variables", ""));
    const names = await env.DB.prepare("select name from variables where project_id = ?")
      .bind(project.id)
      .all();
    expect(names.results.map(({ name }) => name)).toEqual(["STAYS"]);
    await world.client.delete(`/v1/projects/${project.id}`);
    const remaining = await env.DB.prepare(
      "select count(*) as n from variables where project_id = ?",
    )
      .bind(project.id)
      .first("n");
    expect(remaining).toBe(0);
  });
});

describe("a canary secret", () => {
  it("is in the message of Drizzle's errors, and leaves with none of them", async () => {
    const secret = newCanarySecret();
    const row = {
      id: "x",
      organizationId: "nobody",
      projectId: "x",
      environmentId: "x",
      componentId: null,
      scopeId: "x",
      name: "X",
      storageMethod: "string",
      resourceId: "x",
      value: secret,
      version: 1,
      createdAt: 0,
      updatedAt: 0,
    } as const;
    const failure = await insertVariable(drizzle(env.DB), row).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DrizzleQueryError);
    expect((failure as Error).message).toContain(CANARY_PREFIX);
    const { status, worker } = await failWith((failure as Error).cause);
    expect(status).toBe(409);
    expect(JSON.stringify(worker.logged)).not.toContain(CANARY_PREFIX);
  });

  it("stays inside when what fails is unforeseen", async () => {
    const cause = new Error("D1_ERROR: no such column: SQLITE_ERROR");
    const failure = new DrizzleQueryError("insert …", [newCanarySecret()], cause);
    const { status, worker } = await failWith(failure);
    expect(status).toBe(500);
    const log = JSON.stringify(worker.logged);
    expect(log).toContain("no such column");
    expect(log).not.toContain(CANARY_PREFIX);
  });

  /** A write whose batch fails like this. */
  async function failWith(failure: unknown) {
    const database = {
      withSession: (constraint: string) => {
        const session = env.DB.withSession(constraint);
        const prepare = (sql: string) => session.prepare(sql);
        return { prepare, batch: () => Promise.reject(failure), getBookmark: () => null };
      },
    } as unknown as D1Database;
    const worker = new Instrumented({ database });
    const { client } = await newKey(world);
    const { status } = await client.via(worker.fetch).post(component, variable("TOKEN"));
    return { status, worker };
  }
});
