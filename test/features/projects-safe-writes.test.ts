import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed, Reply } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import { connect, newInside, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let client: Client;
let project: Parsed;
let environment: string;

beforeEach(async () => {
  world = await newWorld();
  client = world.client;
  project = await newProject(client);
  environment = `/v1/environments/${project.default_environment_id}`;
});

const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  client.request(method, path, body, headers);
const withKey = (key: string) => ({ "idempotency-key": key });
const tagOf = (reply: Reply) => String(reply.headers.get("etag"));

/** Sends a request that another one precedes after its own read of the record. */
function race(
  first: () => Promise<unknown>,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const database = beforeBatch(1, first);
  return client.via(new Instrumented({ database }).fetch).request(method, path, body, headers);
}

describe("a PATCH of one field", () => {
  it("keeps the fields that a concurrent PATCH sets", async () => {
    const path = `/v1/projects/${project.id}`;
    const other = () => client.patch(path, { icon: "icon:ship", repo_id: project.id });
    const reply = await race(other, "PATCH", path, { description: "New." });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      icon: "icon:ship",
      repo_id: project.id,
      name: "storefront",
    });
    expect((await client.get(path)).body).toEqual(reply.body);

    const { body: component } = await client.post(`${environment}/components`, {
      name: "api",
      kind: "service",
    });
    const componentPath = `/v1/components/${component.id}`;
    const rename = () => client.patch(componentPath, { name: "renamed" });
    const changed = await race(rename, "PATCH", componentPath, { kind: "worker" });
    expect(changed.body).toMatchObject({ name: "renamed", kind: "worker" });
  });

  it("refuses null for a name, fields that it does not have, and other types", async () => {
    const { component_id, stack_id } = await newInside(client, project.default_environment_id);
    for (const path of [`/v1/components/${component_id}`, `/v1/stacks/${stack_id}`, environment]) {
      const { text } = await client.get(path);
      for (const body of [{ name: null }, { id: project.id }, { name: 1 }, { created_at: null }]) {
        expect((await client.patch(path, body)).status).toBe(400);
      }
      expect((await client.get(path)).text).toBe(text);
    }
  });

  it("clears it with null", async () => {
    const path = `/v1/projects/${project.id}`;
    await client.patch(path, { description: "Old.", icon: "icon:ship", repo_id: project.id });
    const cleared = await client.patch(path, { description: null, icon: null });
    expect(cleared.body).toMatchObject({ repo_id: project.id, name: "storefront" });
    expect(cleared.body).not.toHaveProperty("description");
    expect(cleared.body).not.toHaveProperty("icon");
    expect((await client.patch(path, { default_environment_id: null })).status).toBe(400);

    const { component_id } = await newInside(client, project.default_environment_id);
    const { body: stack } = await client.post(`${environment}/stacks`, {
      name: "api",
      component_id,
    });
    const stackPath = `/v1/stacks/${stack.id}`;
    const renamed = await client.patch(stackPath, { name: "renamed" });
    expect(renamed.body).toMatchObject({ name: "renamed", component_id });
    const alone = await client.patch(stackPath, { component_id: null });
    expect(alone.body.name).toBe("renamed");
    expect(alone.body).not.toHaveProperty("component_id");
  });

  it("takes a default environment and a component only from the project and the environment", async () => {
    const other = await newProject(client);
    const { component_id } = await newInside(client, other.default_environment_id);
    const { stack_id } = await newInside(client, project.default_environment_id);
    const stranger = { default_environment_id: other.default_environment_id, name: "new" };
    expect((await client.patch(`/v1/projects/${project.id}`, stranger)).status).toBe(404);
    expect((await client.patch(`/v1/stacks/${stack_id}`, { component_id })).status).toBe(404);
    expect((await client.get(`/v1/projects/${project.id}`)).body.name).toBe("storefront");
    const { body: staging } = await client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    const moved = { default_environment_id: staging.id };
    expect((await client.patch(`/v1/projects/${project.id}`, moved)).body).toMatchObject(moved);
  });
});

describe("a stack whose component is deleted", () => {
  it("has another version, so that a write by its former tag is a conflict", async () => {
    const { component_id } = await newInside(client, project.default_environment_id);
    const stack = await client.post(`${environment}/stacks`, { name: "api", component_id });
    const path = `/v1/stacks/${stack.body.id}`;
    await client.delete(`/v1/components/${component_id}`);
    const late = await send("PATCH", path, { name: "new" }, { "if-match": tagOf(stack) });
    expect(late.status).toBe(409);
  });
});

describe("a variable", () => {
  it("has the tag of its version, also after a bulk write", async () => {
    const { variable_id } = await newInside(client, project.default_environment_id);
    const path = `/v1/variables/${variable_id}`;
    const read = await client.get(path);
    expect(tagOf(read)).toMatch(/^"1\./);
    await client.put(`${environment}/variables`, {
      mode: "merge",
      variables: [{ name: "A", storage_method: "string", value: "b" }],
    });
    const stale = await send("DELETE", path, undefined, { "if-match": tagOf(read) });
    const current = await client.get(path);
    expect(stale).toMatchObject({ status: 409, body: { cause: { etag: tagOf(current) } } });
    expect(tagOf(current)).toMatch(/^"2\./);
    expect((await client.get(`${path}/value`)).body).toEqual({ value: "b" });
  });
});

describe("a connection", () => {
  it("that was made after a disconnect survives the disconnect's repeat", async () => {
    await connect(client, project.id);
    const path = `/v1/projects/${project.id}/disconnect`;
    const disconnect = (key: string) => send("PATCH", path, undefined, withKey(key));
    const first = await disconnect("key-1");
    expect(first).toMatchObject({ status: 204, text: "" });
    const inNoState = await disconnect("key-2");
    expect(inNoState.headers.get("idempotency-replayed")).toBeNull();
    await connect(client, project.id);
    for (const key of ["key-1", "key-2"]) {
      const repeated = await disconnect(key);
      expect(repeated).toMatchObject({ status: 204, text: "" });
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    }
    expect((await client.get(`/v1/projects/${project.id}`)).body.connection_status).toBe(
      "connected",
    );
    await disconnect("key-3");
    expect((await client.get(`/v1/projects/${project.id}`)).body.connection_status).toBe(
      "disconnected",
    );
  });
});
