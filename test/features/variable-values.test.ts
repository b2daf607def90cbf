import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/lib/limits.ts";
import { CANARY_PREFIX, newCanarySecret } from "../support/canary-secrets.ts";
import type { Parsed } from "../support/client.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { copyRow, newIdsOf } from "../support/long-lists.ts";
import { byName, namesOf, newVariableScopes, variable } from "../support/variables.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let project: Parsed;
let environment: string;
let component: string;

beforeEach(async () => {
  ({ world, project, environment, component } = await newVariableScopes());
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
    for (const path of [environment, component]) {
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
