import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Scope } from "../../../src/lib/scopes.ts";
import type { Client, Parsed, Reply } from "../../support/client.ts";
import { jsonObject } from "../../support/json.ts";
import { canonicalState } from "../../support/organization-state.ts";
import { copiesOf } from "../../support/template.ts";
import {
  connect,
  join,
  newDeployableProject,
  newDeployment,
  newInside,
  newKey,
  newProject,
  newWorld,
  type World,
} from "../../support/world.ts";

const SOURCE = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };

interface Fixture {
  world: World;
  projectId: string;
  /** Two environments, and a deployment that has succeeded in the first. */
  staging: string;
  production: string;
  deploymentId: string;
}

const newFixture = copiesOf(async (): Promise<Fixture> => {
  const world = await newWorld();
  const { project, environmentId } = await newDeployableProject(world);
  const { body } = await world.client.post(`/v1/projects/${project.id}/environments`, {
    name: "staging",
  });
  for (const id of [body.id, environmentId, environmentId]) await newInside(world.client, id);
  const patch = [{ op: "add", path: "/replicas", value: 3 }];
  const { id } = await newDeployment(world.client, body.id, { patch, source: SOURCE });
  await setStatus(id, "succeeded");
  const places = { staging: body.id, production: environmentId, deploymentId: id };
  return { world, projectId: project.id, ...places };
});

async function setStatus(id: string, status: string): Promise<void> {
  await env.DB.prepare("update deployments set status = ?, announced = ? where id = ?")
    .bind(status, status, id)
    .run();
}

type Target = "redeploy" | "promote";

async function preview(client: Client, fixture: Fixture, target: Target): Promise<Reply> {
  const path = `/v1/deployments/${fixture.deploymentId}`;
  return target === "redeploy"
    ? client.get(`${path}/redeployment`)
    : client.get(`${path}/promotion/${fixture.production}`);
}

async function send(client: Client, fixture: Fixture, target: Target): Promise<Reply> {
  const path = `/v1/deployments/${fixture.deploymentId}`;
  return target === "redeploy"
    ? client.post(`${path}/redeploy`, undefined)
    : client.post(`${path}/promote`, { environment_id: fixture.production });
}

async function newCaller(world: World): Promise<Client> {
  return (await newKey(world)).client;
}

/** The IDs of the deployments of an environment that are superseded. */
async function supersededIn(environmentId: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select id from deployments where environment_id = ? and status = 'superseded'
      order by created_at, id`,
  )
    .bind(environmentId)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** Compares a preview with what the request itself then does, or with its refusal. */
async function expectSame(fixture: Fixture, target: Target, caller?: Client): Promise<Parsed> {
  const client = caller ?? (await newCaller(fixture.world));
  const withoutKeys = (lines: string[]) => lines.filter((line) => !line.startsWith("api_keys "));
  const before = withoutKeys(await canonicalState(fixture.world.id));
  const { status, body: shown } = await preview(client, fixture, target);
  expect(status).toBe(200);
  expect(withoutKeys(await canonicalState(fixture.world.id))).toEqual(before);
  const already = await supersededIn(shown.environment_id);
  const { status: done, body: made } = await send(client, fixture, target);
  if (shown.error) {
    expect(made).toEqual(shown.error);
    return shown;
  }
  expect(done).toBe(201);
  const superseded = (await supersededIn(shown.environment_id)).filter(
    (id) => !already.includes(id),
  );
  expect(shown).toEqual({
    environment_id: made.environment_id,
    patch: made.data.patch,
    ...(made.data.source && { source: made.data.source }),
    stack_ids: made.stack_ids,
    references: [],
    superseded_ids: superseded,
    waiting_for: made.waiting_for,
    ...(target === "redeploy" && { changed_variables: [] }),
  });
  return shown;
}

describe.each(["redeploy", "promote"] as const)("the preview of %s", (target) => {
  it("is what the request then does, whatever the configurations are", async () => {
    const fixture = await newFixture();
    await fc.assert(
      fc.asyncProperty(jsonObject(), jsonObject(), jsonObject(), async (own, one, other) => {
        const write = (table: string, document: unknown, id: string) =>
          env.DB.prepare(`update ${table} set configuration = ? where id = ?`)
            .bind(JSON.stringify(document), id)
            .run();
        await write("deployments", own, fixture.deploymentId);
        await write("environments", one, fixture.staging);
        await write("environments", other, fixture.production);
        await expectSame(fixture, target);
      }),
      { numRuns: 25 },
    );
  });

  it("names the queued deployments that it replaces, and not those of the other environment", async () => {
    const fixture = await newFixture();
    const { client } = fixture.world;
    const queued: Record<string, string[]> = {};
    for (const id of [fixture.staging, fixture.production]) {
      const both = [];
      for (const queue of ["fifo", "fifo"]) both.push(await newDeployment(client, id, { queue }));
      queued[id] = both.map((each) => each.id);
    }
    const { environment_id, superseded_ids } = await expectSame(fixture, target);
    expect(superseded_ids).toEqual(queued[environment_id]);
  });

  it("has the stacks that exist now", async () => {
    const fixture = await newFixture();
    const { client } = fixture.world;
    const environmentId = target === "redeploy" ? fixture.staging : fixture.production;
    const { body: before } = await preview(client, fixture, target);
    expect(before.stack_ids).toHaveLength(target === "redeploy" ? 1 : 2);
    await newInside(client, environmentId);
    const { stack_ids } = (await preview(client, fixture, target)).body;
    expect(stack_ids).toHaveLength(target === "redeploy" ? 1 : 3);
    for (const id of stack_ids.slice(0, 1)) await client.delete(`/v1/stacks/${id}`);
    const after = await expectSame(fixture, target);
    expect(after["stack_ids"]).toEqual(stack_ids.slice(1));
  });

  it("has the conflict of a project that is not connected, and the patch", async () => {
    const fixture = await newFixture();
    await fixture.world.client.patch(`/v1/projects/${fixture.projectId}/disconnect`);
    const shown = await expectSame(fixture, target);
    expect(shown).toMatchObject({ error: { code: "conflict" }, source: SOURCE });
    expect(shown["patch"]).toEqual([{ op: "add", path: "/replicas", value: 3 }]);
    await connect(fixture.world.client, fixture.projectId);
    expect(await expectSame(fixture, target)).not.toHaveProperty("error");
  });

  it("has the conflict of a configuration that is no longer stored, without a patch", async () => {
    const fixture = await newFixture();
    await env.DB.prepare("update deployments set configuration = '' where id = ?")
      .bind(fixture.deploymentId)
      .run();
    const shown = await expectSame(fixture, target);
    expect(shown["error"].message).toContain("no longer stored");
    expect(shown).not.toHaveProperty("patch");
  });

  it("has the conflict of the stored bytes, up to the last byte", async () => {
    const fixture = await newFixture();
    // A new key would count, too.
    const { client } = fixture.world;
    const { body } = await preview(client, fixture, target);
    const added = new TextEncoder().encode(
      JSON.stringify(body.patch) + JSON.stringify(SOURCE) + JSON.stringify({ replicas: 3 }),
    ).byteLength;
    const used = "(select sum(bytes) from usage where organization_id = ?1)";
    const fill = (bytes: number) =>
      env.DB.prepare(
        `update usage set bytes = bytes + ?2 - ${used} where organization_id = ?1 and kind = 'projects'`,
      )
        .bind(fixture.world.id, bytes)
        .run();
    await fill(LIMITS.storedBytes.value - added + 1);
    const { error } = await expectSame(fixture, target, client);
    expect(error).toMatchObject({ code: "conflict", message: expect.stringContaining("bytes") });
    await fill(LIMITS.storedBytes.value - added);
    expect(await expectSame(fixture, target, client)).not.toHaveProperty("error");
  });

  it("has the refusal of a viewer, and of a key that only reads", async () => {
    const fixture = await newFixture();
    const { world } = fixture;
    const viewer = await join(world);
    const members = `/v1/projects/${fixture.projectId}/members`;
    await world.client.post(members, { member_ids: [viewer.membershipId] });
    const reading = await newKey(world, { scopes: ["deployments:read", "environments:read"] });
    const refusals = [
      [viewer.client, "forbidden"],
      [reading.client, "unauthorized"],
    ] as const;
    for (const [client, code] of refusals) {
      const { status, body } = await preview(client, fixture, target);
      expect([status, body.error.code]).toEqual([200, code]);
      expect((await send(client, fixture, target)).body).toEqual(body.error);
    }
  });

  it("has a bounded patch between the largest configurations, as the request has", async () => {
    const fixture = await newFixture();
    const { value: bytes } = LIMITS.configurationBytes;
    const fill = (name: string, length: number) =>
      JSON.stringify({ [name]: "x".repeat(length - JSON.stringify({ [name]: "" }).length) });
    const set = (table: string, json: string, id: string) =>
      env.DB.prepare(`update ${table} set configuration = ? where id = ?`).bind(json, id).run();
    const changed = target === "redeploy" ? fixture.staging : fixture.production;
    const sizes: number[] = [];
    for (const [own, present] of [
      [fill("own", bytes / 4), fill("present", bytes / 4)],
      [fill("own", bytes / 2), fill("present", bytes)],
      [fill("own", bytes), fill("present", bytes)],
    ] as const) {
      await set("deployments", own, fixture.deploymentId);
      await set("environments", present, changed);
      const { patch } = await expectSame(fixture, target);
      sizes.push(patch.length);
      expect(patch[0]["old_value"] === undefined).toBe(own.length + present.length > bytes);
      expect(JSON.stringify(patch).length).toBeLessThan(LIMITS.patchBytes.value + 100);
    }
    // The last one is one `replace` of the whole configuration.
    expect(sizes).toEqual([2, 2, 1]);
  });
});

describe("the preview of a promotion", () => {
  let fixture: Fixture;

  beforeAll(async () => {
    fixture = await newFixture();
  });

  it.each(["queued", "in_progress", "failed", "canceled", "superseded"])(
    "has the conflict of a deployment that is %s, and what it would change",
    async (status) => {
      const own = await newFixture();
      await setStatus(own.deploymentId, status);
      const shown = await expectSame(own, "promote");
      expect(shown["error"].message).toContain(status);
      expect(shown["patch"]).toHaveLength(1);
    },
  );

  it("is not found for an environment of another project, of another tenant, or of a narrow key", async () => {
    const { client } = fixture.world;
    const other = await newProject(client, { name: "other" });
    const foreign = await newProject((await newWorld()).client);
    for (const { default_environment_id: production } of [other, foreign]) {
      const elsewhere = { ...fixture, production };
      const { status, body } = await preview(client, elsewhere, "promote");
      expect([status, body]).toEqual([404, (await send(client, elsewhere, "promote")).body]);
    }
    const narrow = await newKey(fixture.world, { environmentIds: [fixture.staging] });
    expect((await preview(narrow.client, fixture, "promote")).status).toBe(404);
    expect((await preview(narrow.client, fixture, "redeploy")).status).toBe(200);
  });
});

describe("the preview of a redeploy", () => {
  /** Two environments with a component each, and the same variables before the deployment in all four. */
  async function newVariables() {
    const fixture = await newFixture();
    const { client } = fixture.world;
    const scopes: string[] = [];
    for (const id of [fixture.staging, fixture.production]) {
      const { component_id = "" } = await newInside(client, id);
      scopes.push(`/v1/environments/${id}`, `/v1/components/${component_id}`);
    }
    const set = async (scope: string, name: string) => {
      const body = { name, storage_method: "secret", value: "the value" };
      const { status, body: created } = await client.post(`${scope}/variables`, body);
      expect(status).toBe(201);
      return created.id as string;
    };
    const ids = new Map<string, string>();
    for (const scope of scopes) {
      for (const name of ["KEPT", "SET", "RENAMED", "GONE", "AGAIN"]) {
        ids.set(`${scope} ${name}`, await set(scope, name));
      }
    }
    const { id: deploymentId } = await newDeployment(client, fixture.staging, {});
    // The changes are after the millisecond of the creation.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const change = async (scope: string) => {
      const path = (name: string) => `/v1/variables/${ids.get(`${scope} ${name}`)}`;
      const body = { storage_method: "secret", value: "another value" };
      await client.put(path("SET"), { name: "SET", ...body });
      await client.put(path("RENAMED"), { name: "RENAMED_TO", ...body });
      for (const name of ["GONE", "AGAIN"]) await client.delete(path(name));
      await set(scope, "AGAIN");
      await set(scope, "NEW");
      await client.delete(`/v1/variables/${await set(scope, "MEANWHILE")}`);
    };
    return { fixture: { ...fixture, deploymentId }, scopes, change };
  }

  /** `MEANWHILE` did not exist before, and does not now. */
  const CHANGED = ["AGAIN", "GONE", "NEW", "RENAMED_TO", "SET"];

  it("names the variables of the environment that have changed since the deployment, without values", async () => {
    const { fixture, scopes, change } = await newVariables();
    const { client } = fixture.world;
    expect((await preview(client, fixture, "redeploy")).body.changed_variables).toEqual([]);
    for (const scope of scopes.slice(2)) await change(scope);
    // Those of the other environment are not its own.
    expect((await preview(client, fixture, "redeploy")).body.changed_variables).toEqual([]);
    for (const scope of scopes.slice(0, 2)) await change(scope);
    const { text, body } = await preview(client, fixture, "redeploy");
    expect(body.changed_variables).toEqual(CHANGED);
    expect(text).not.toContain("the value");
    expect(text).not.toContain("another value");
    expect((await preview(client, fixture, "promote")).body).not.toHaveProperty(
      "changed_variables",
    );
    // A newer deployment had them.
    const { id } = await newDeployment(client, fixture.staging, {});
    const newer = await preview(client, { ...fixture, deploymentId: id }, "redeploy");
    expect(newer.body.changed_variables).toEqual([]);
  });

  it("names none to a key that may not read variables", async () => {
    const { fixture, scopes, change } = await newVariables();
    await change(scopes[0] ?? "");
    const scoped = (...scopes: Scope[]) =>
      newKey(fixture.world, { scopes: ["deployments:write", "environments:read", ...scopes] });
    const { client: without } = await scoped("projects:read");
    const { client: reader } = await scoped("variables:read");
    const refused = await preview(without, fixture, "redeploy");
    expect([refused.status, refused.text.includes('"SET')]).toEqual([200, false]);
    expect(refused.body).not.toHaveProperty("changed_variables");
    const shown = await preview(reader, fixture, "redeploy");
    expect(shown.body.changed_variables).toEqual(CHANGED);
  });

  it("reads the newest entries of the changelog for those that were deleted", async () => {
    const { fixture, scopes, change } = await newVariables();
    await change(scopes[0] ?? "");
    await env.DB.prepare(
      `with recursive number (n) as (select 1 union all select n + 1 from number where n < ?1)
        insert into changelog_entries (id, organization_id, project_id, action, record_type, record_id, created_at)
        select substr(?2, 1, 16) || printf('%06d', n), ?3, ?4, 'updated', 'environment', ?5, ?6 from number`,
    )
      .bind(
        LIMITS.variablesOfEnvironment.value,
        newId(systemClock),
        fixture.world.id,
        fixture.projectId,
        fixture.staging,
        Date.now() + 1000,
      )
      .run();
    const { body } = await preview(fixture.world.client, fixture, "redeploy");
    expect(body.changed_variables).toEqual(CHANGED.filter((name) => name !== "GONE"));
  });
});
