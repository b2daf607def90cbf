import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { beforeEach, describe, expect, it } from "vitest";
import { insertVariable } from "../../src/features/projects/variables/store.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { CANARY_PREFIX, newCanarySecret } from "../support/canary-secrets.ts";
import type { Parsed, Reply } from "../support/client.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { Instrumented } from "../support/instruments.ts";
import { copyRow, newIdsOf } from "../support/long-lists.ts";
import { copiesOf } from "../support/template.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

const KIBIBYTE = 1024;

let world: World;
let project: Parsed;
let environment: string;
let component: string;
let scopes: string[];

const newFixture = copiesOf(async () => {
  const original = await newWorld();
  const created = await newProject(original.client);
  const components = `/v1/environments/${created.default_environment_id}/components`;
  const { body } = await original.client.post(components, { name: "api", kind: "service" });
  return { world: original, project: created, componentId: String(body.id) };
});

beforeEach(async () => {
  const fixture = await newFixture();
  ({ world, project } = fixture);
  environment = `/v1/environments/${project.default_environment_id}/variables`;
  component = `/v1/components/${fixture.componentId}/variables`;
  scopes = [environment, component];
});

const variable = (name: string, value = newCanarySecret(), storage_method = "secret") => ({
  name,
  storage_method,
  value,
});
const namesOf = (reply: { body: Parsed }): string[] =>
  reply.body.data.map(({ name }: Parsed) => name).toSorted();
const reveal = async (id: string) => (await world.client.get(`/v1/variables/${id}/value`)).body;
const byName = (a: Parsed, b: Parsed) => (a.name < b.name ? -1 : 1);
const list = (path: string) => world.client.get(`${path}?limit=240`);

describe("variables", () => {
  it("store their value, which only the paths of values return", async () => {
    const value = newCanarySecret();
    for (const path of scopes) {
      const created = await world.client.post(path, variable("TOKEN", value));
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject({ name: "TOKEN", storage_method: "secret", version: 1 });
      const read = await world.client.get(`/v1/variables/${created.body.id}`);
      expect(read.body).toEqual(created.body);
      expect(await reveal(created.body.id)).toEqual({ value });
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
    for (const path of scopes) {
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
      expect(await reveal(id)).toEqual({ value });
    }
    expect((await world.client.delete(`/v1/variables/${id}`)).status).toBe(204);
    expect((await world.client.get(`/v1/variables/${id}/value`)).status).toBe(404);
  });

  it("store up to 32 KiB of UTF-8 with any characters but NUL", async () => {
    const values = ["", "\u0001", "\ufeff", "a".repeat(32 * KIBIBYTE), "€".repeat(10_922)];
    for (const [index, value] of values.entries()) {
      const { status, body } = await world.client.post(component, variable(`V${index}`, value));
      expect(status).toBe(201);
      expect(await reveal(body.id)).toEqual({ value });
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

describe("the values of all variables", () => {
  const values = async (path: string, client = world.client) =>
    (await client.get(`${path}/values`)).body;
  const recordsOf = async (targetId: string) => {
    const { body } = await world.client.get(
      `/v1/orgs/${world.id}/audit-log?action=variables.revealed&target=${targetId}`,
    );
    return body.data;
  };
  const scopeIdOf = (path: string) => String(path.split("/")[3]);
  const put = (path: string, variables: object[]) =>
    world.client.put(path, { mode: "merge", variables });

  it("are those of the environment only, or of the component only, sorted by name", async () => {
    const sent: [string, object[]][] = [
      [environment, [variable("SHARED"), variable("EMPTY", ""), variable("A_b", "x", "string")]],
      [component, [variable("SHARED"), variable("OWN", "v", "secure_string")]],
    ];
    for (const [path, variables] of sent) {
      const { body } = await put(path, variables);
      const expected = body.data.map((each: Parsed) => {
        return { ...each, ...variables.find((one) => "name" in one && one.name === each.name) };
      });
      const { data, ...rest } = await values(path);
      expect(rest).toEqual({ has_more: false });
      expect(data).toEqual(expected.toSorted(byName));
    }
  });

  it("are an empty list where there are none, with a record", async () => {
    await world.client.post(component, variable("ELSEWHERE"));
    expect(await values(environment)).toEqual({ data: [], has_more: false });
    const id = scopeIdOf(environment);
    expect(await recordsOf(id)).toMatchObject([
      {
        action: "variables.revealed",
        target: { type: "environment", id, name: "production" },
        project_id: project.id,
        changes: { after: { variables: [], count: 0 } },
      },
    ]);
    expect(await recordsOf(scopeIdOf(component))).toEqual([]);
  });

  it("have one record with their names, for contributors only", async () => {
    await put(component, [variable("TWO"), variable("ONE")]);
    await world.client.post(environment, variable("OTHER"));
    const people = { viewer: await join(world), contributor: await join(world) };
    for (const [role, { membershipId }] of Object.entries(people)) {
      const body = { member_ids: [membershipId], role };
      await world.client.post(`/v1/projects/${project.id}/members`, body);
    }
    for (const client of [people.viewer.client, (await join(world)).client]) {
      expect((await client.get(component)).status).toBe(
        client === people.viewer.client ? 200 : 403,
      );
      expect((await values(component, client)).code).toBe("forbidden");
    }
    const stranger = await newWorld();
    expect((await values(component, stranger.client)).code).toBe("not_found");
    const { client, keyId } = people.contributor;
    const reply = await client.get(`${component}/values`);
    expect(namesOf(reply)).toEqual(["ONE", "TWO"]);
    expect(reply.headers.get("cache-control")).toBe("private, no-store");
    expect(reply.headers.get("ratelimit-policy")).toBe('"reveal";q=30;w=60');
    const records = await recordsOf(scopeIdOf(component));
    expect(records).toMatchObject([
      {
        actor: { credential_id: keyId },
        target: { type: "component", name: "api" },
        changes: { after: { variables: ["ONE", "TWO"], count: 2 } },
      },
    ]);
    expect(JSON.stringify(records)).not.toContain(CANARY_PREFIX);
  });

  it("need a key with their scope that may access the environment", async () => {
    const fields = { projectIds: [project.id], role: "admin" } as const;
    const environmentIds = [project.default_environment_id];
    const keys = {
      whole: await newKey(world, { ...fields, environmentIds, scopes: ["variables:reveal"] }),
      reading: await newKey(world, { ...fields, scopes: ["variables:write"] }),
      elsewhere: await newKey(world, { projectIds: [(await newProject(world.client)).id] }),
    };
    for (const path of scopes) {
      const statuses = Object.values(keys).map(({ client }) => client.get(`${path}/values`));
      expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 403, 404]);
    }
  });

  it("are up to the limits of an environment, and the record has the names that fit", async () => {
    const count = LIMITS.variablesOfEnvironment.value;
    const nameAt = (at: number) => `V${String(at).padStart(4, "0")}_${"x".repeat(60)}`;
    const textAt = (at: number) => `"${at}\n`.repeat(200);
    for (let from = 0; from < count; from += LIMITS.writtenVariables.value) {
      const batch = Array.from({ length: LIMITS.writtenVariables.value }, (_, at) =>
        variable(nameAt(from + at), textAt(from + at)),
      );
      expect((await put(environment, batch)).status).toBe(200);
    }
    const { data } = await values(environment);
    expect(data.map(({ name, value }: Parsed) => [name, value])).toEqual(
      Array.from({ length: count }, (_, at) => [nameAt(at), textAt(at)]),
    );
    const [{ changes }] = await recordsOf(scopeIdOf(environment));
    const { variables } = changes.after;
    expect(changes).toEqual({ after: { variables, count } });
    const fitting = Math.floor((LIMITS.auditNamesLength.value - 1) / (nameAt(0).length + 3));
    expect(variables).toEqual(Array.from({ length: fitting }, (_, at) => nameAt(at)));
    expect(JSON.stringify(variables).length).toBeLessThanOrEqual(LIMITS.auditNamesLength.value);
  });

  it("of a deleted component leave their place at once", async () => {
    const { body } = await world.client.post(component, variable("FIRST", "1"));
    const others = newIdsOf(LIMITS.variablesOfEnvironment.value - 2);
    const changes = { name: "'V' || item.key", resource_id: "item.value" };
    await copyRow(world.id, "variables", body.id, others, changes);
    expect((await world.client.post(component, variable("LAST", "1"))).status).toBe(201);
    const one = variable("ONE_MORE", "1");
    expect((await world.client.post(environment, one)).body.code).toBe("conflict");
    await world.client.delete(component.replace("/variables", ""));
    expect((await world.client.post(environment, one)).status).toBe(201);
  });

  it("are read 30 times a minute, together with single values, and no rejected read has a record", async () => {
    freezeTime();
    const { id } = (await world.client.post(environment, variable("TOKEN"))).body;
    const { client } = await newKey(world);
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        client.get(at % 2 ? `${environment}/values` : `/v1/variables/${id}/value`),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30);
    const revealed = replies.filter(({ status, body }) => status === 200 && "data" in body);
    expect(await recordsOf(scopeIdOf(environment))).toHaveLength(revealed.length);
  });

  it("are not cached: a read after a write has the new value", async () => {
    const { id } = (await world.client.post(component, variable("TOKEN"))).body;
    for (const version of [2, 3]) {
      const value = newCanarySecret();
      await world.client.put(`/v1/variables/${id}`, variable("TOKEN", value));
      expect((await values(component)).data).toMatchObject([{ id, version, value }]);
    }
    await world.client.delete(`/v1/variables/${id}`);
    expect((await values(component)).data).toEqual([]);
  });

  it("are not found for an unknown or deleted scope", async () => {
    await world.client.post(component, variable("GONE"));
    await world.client.delete(component.replace("/variables", ""));
    for (const path of [
      component,
      environment.replace("environments", "components"),
      component.replace("components", "environments"),
    ]) {
      expect((await values(path)).code).toBe("not_found");
    }
    expect((await values("/v1/components/!/variables")).code).toBe("bad_input");
  });
});

describe("a bulk write of variables", () => {
  const put = (path: string, mode: string, variables: unknown) =>
    world.client.put(path, { mode, variables });

  it("merges: it writes the named variables and keeps the others", async () => {
    await world.client.post(component, variable("STAYS"));
    const before = (await world.client.post(component, variable("CHANGES"))).body;
    const [changed, added] = [newCanarySecret(), newCanarySecret()];
    const reply = await put(component, "merge", [
      variable("CHANGES", changed, "string"),
      variable("NEW", added),
    ]);
    expect(reply.status).toBe(200);
    expect(namesOf(reply)).toEqual(["CHANGES", "NEW", "STAYS"]);
    expect(reply.body.has_more).toBe(false);
    const byName = new Map(reply.body.data.map((each: Parsed) => [each.name, each]));
    expect(byName.get("CHANGES")).toMatchObject({
      id: before.id,
      version: 2,
      storage_method: "string",
      created_at: before.created_at,
      resource_id: before.resource_id,
    });
    expect(await reveal((byName.get("CHANGES") as Parsed).id)).toEqual({ value: changed });
    expect(await reveal((byName.get("NEW") as Parsed).id)).toEqual({ value: added });
  });

  it("replaces the variables of its scope only", async () => {
    await world.client.post(component, variable("GOES"));
    const kept = (await world.client.post(component, variable("KEPT"))).body;
    await world.client.post(environment, variable("ELSEWHERE"));
    const reply = await put(component, "replace", [variable("KEPT"), variable("NEW")]);
    expect(namesOf(reply)).toEqual(["KEPT", "NEW"]);
    expect(reply.body.data.find(({ name }: Parsed) => name === "KEPT")).toMatchObject({
      id: kept.id,
      version: 2,
    });
    expect(namesOf(await list(environment))).toEqual(["ELSEWHERE"]);
    expect((await put(component, "replace", [])).body.data).toEqual([]);
  });

  it("writes only what differs, and a value that does not open", async () => {
    const sent = ["SAME", "VALUE", "METHOD", "BROKEN"].map((name) => variable(name, "v"));
    const { body } = await put(component, "merge", sent);
    const idOf = (name: string) => body.data.find((each: Parsed) => each.name === name).id;
    await env.DB.prepare("update variables set value = 'test.v2.AAAA' where id = ?")
      .bind(idOf("BROKEN"))
      .run();
    const readRows = async () =>
      (
        await env.DB.prepare(
          "select name, version, storage_method, value, updated_at from variables where scope_id = ? order by name",
        )
          .bind(String(component.split("/")[3]))
          .all<Parsed>()
      ).results;
    const before = await readRows();
    const changed = sent.map((each) => ({
      ...each,
      ...(each.name === "VALUE" && { value: "w" }),
      ...(each.name === "METHOD" && { storage_method: "string" }),
    }));
    const after = (await put(component, "replace", changed)).body.data.toSorted(byName);
    expect(after.map(({ name, version }: Parsed) => [name, version])).toEqual([
      ["BROKEN", 2],
      ["METHOD", 2],
      ["SAME", 1],
      ["VALUE", 2],
    ]);
    const rows = await readRows();
    expect(rows.map((row, at) => row.value === before[at]?.value)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(await reveal(idOf("BROKEN"))).toEqual({ value: "v" });
    for (const mode of ["merge", "replace"]) {
      const repeated = await put(component, mode, changed);
      expect(repeated.body.data.toSorted(byName)).toEqual(after);
    }
    expect(await readRows()).toEqual(rows);
  });

  it("writes 200 variables in one batch, as one request of the rate limit", async () => {
    const many = Array.from({ length: 200 }, (_, index) => variable(`V_${index}`));
    const worker = new Instrumented();
    const { client } = await newKey(world);
    const caller = client.via(worker.fetch);
    await caller.get("/v1/orgs");
    worker.forget();
    const reply = await caller.put(component, { mode: "replace", variables: many });
    expect(reply.status).toBe(200);
    expect(reply.body.data).toHaveLength(200);
    expect(reply.headers.get("x-ratelimit-remaining")).toBe("98");
    const shapes = worker.database.map(({ statements }) => statements.length);
    expect(shapes).toEqual([2, 7]);
    for (const { params } of worker.database.flatMap(({ statements }) => statements)) {
      expect(params.length).toBeLessThanOrEqual(100);
    }
    const one = reply.body.data[123];
    const { value } = many.find(({ name }) => name === one.name) ?? {};
    expect(await reveal(one.id)).toEqual({ value });
  });

  it.each([
    ["a bad name", [variable("OK"), variable("not-ok")], "variables.1.name"],
    ["a value that is too long", [variable("OK", "a".repeat(32_769))], "variables.0.value"],
    ["a name twice", [variable("A"), variable("B"), variable("A")], "variables.2.name"],
    ["an unknown field", [{ ...variable("A"), note: "x" }], "variables.0.note"],
    [
      "more than two hundred",
      Array.from({ length: 201 }, (_, i) => variable(`V${i}`)),
      "variables",
    ],
  ])("is rejected as a whole for %s, by its index", async (_, variables, path) => {
    await world.client.post(component, variable("BEFORE"));
    const reply = await put(component, "replace", variables);
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues.map((issue: Parsed) => issue.path)).toContain(path);
    expect(namesOf(await list(component))).toEqual(["BEFORE"]);
  });

  describe.each([
    ["of an empty scope", [], [], []],
    ["with an empty list", ["BEFORE"], [], []],
    ["with a list", ["BEFORE", "KEPT"], ["KEPT", "NEW"], ["KEPT", "NEW"]],
  ])("that replaces the variables %s", (_, before, sent, after) => {
    const variables = sent.map((name) => variable(name));
    beforeEach(async () => {
      for (const name of before) await world.client.post(component, variable(name));
    });

    it("also deletes a variable that is created concurrently", async () => {
      const create = () => world.client.post(component, variable("RACING"));
      const { caller, created } = await racing(create, 1);
      const reply = await caller.put(component, { mode: "replace", variables });
      expect([reply.status, namesOf(reply), created()]).toEqual([200, after, 1]);
      expect(namesOf(await list(component))).toEqual(after);
    });

    it("changes nothing if variables are created during all of its attempts", async () => {
      const create = (at: number) => world.client.post(component, variable(`RACING_${at}`));
      const { caller, created } = await racing(create, Number.POSITIVE_INFINITY);
      const reply = await caller.put(component, { mode: "replace", variables });
      expect([reply.status, reply.body.code]).toEqual([409, "conflict"]);
      const racers = Array.from({ length: created() }, (_each, index) => `RACING_${index + 1}`);
      expect(racers.length).toBeGreaterThan(1);
      expect(namesOf(await list(component))).toEqual([...before, ...racers].toSorted());
    });

    it("ignores variables that are created elsewhere", async () => {
      const create = () => world.client.post(environment, variable("ELSEWHERE"));
      const { caller } = await racing(create, 1);
      const reply = await caller.put(component, { mode: "replace", variables });
      expect([reply.status, namesOf(reply)]).toEqual([200, after]);
      expect(namesOf(await list(environment))).toEqual(["ELSEWHERE"]);
    });
  });

  it("that merges keeps a variable of another name that is created concurrently", async () => {
    const create = () => world.client.post(component, variable("RACING"));
    const { caller, created } = await racing(create, 1);
    for (const variables of [[variable("NEW")], []]) {
      const reply = await caller.put(component, { mode: "merge", variables });
      expect([reply.status, namesOf(reply)]).toEqual([200, ["NEW", "RACING"]]);
    }
    expect(created()).toBe(1);
  });

  /** A client whose first `times` writes are each preceded by `create`, after the read. */
  async function racing(create: (at: number) => Promise<Reply>, times: number) {
    let batches = 0;
    let created = 0;
    const withSession = (constraint: string) => {
      const session = env.DB.withSession(constraint);
      return {
        prepare: (sql: string) => session.prepare(sql),
        batch: async (statements: D1PreparedStatement[]) => {
          batches += 1;
          // An attempt is a batch that reads, and a batch that writes.
          if (batches % 2 === 0 && created < times) {
            created += 1;
            expect((await create(created)).status).toBe(201);
          }
          return session.batch(statements);
        },
        getBookmark: () => session.getBookmark(),
      };
    };
    const worker = new Instrumented({ database: { withSession } as unknown as D1Database });
    const caller = (await newKey(world)).client.via(worker.fetch);
    return { caller, created: () => created };
  }

  it("leaves every value readable and every name unique after concurrent writes", async () => {
    const write = (round: number) =>
      put(
        component,
        round % 2 ? "merge" : "replace",
        Array.from({ length: 5 }, (_, index) => variable(`V_${(index + round) % 7}`)),
      );
    const replies = await Promise.all(Array.from({ length: 8 }, (_, round) => write(round)));
    for (const { status } of replies) expect([200, 409]).toContain(status);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    const { body } = await list(component);
    const names = body.data.map(({ name }: Parsed) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { id } of body.data) {
      expect((await reveal(id)).value).toContain(CANARY_PREFIX);
    }
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
