import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { newCanarySecret } from "../support/canary-secrets.ts";
import type { Client, Parsed, Reply } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import {
  CONNECTION,
  connect,
  newInside,
  newProject,
  newWorld,
  type World,
} from "../support/world.ts";

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

/** The kinds of record that one request creates, replaces and deletes. */
interface Kind {
  collection: () => string;
  pathOf: (id: string) => string;
  body: (name: string) => object;
  /** For a project, what is sent of the record itself. */
  replacement?: (name: string, record: Parsed) => object;
  canBePatched: boolean;
}

const KINDS: Record<string, Kind> = {
  project: {
    collection: () => "/v1/projects",
    pathOf: (id) => `/v1/projects/${id}`,
    body: (name) => ({ name, description: 'Größe: 1 €\n\t🚢 \\ "', icon: "emoji:🚢" }),
    replacement: (name, { default_environment_id }) => ({ name, default_environment_id }),
    canBePatched: true,
  },
  component: {
    collection: () => `${environment}/components`,
    pathOf: (id) => `/v1/components/${id}`,
    body: (name) => ({ name, kind: "job" }),
    canBePatched: true,
  },
  stack: {
    collection: () => `${environment}/stacks`,
    pathOf: (id) => `/v1/stacks/${id}`,
    body: (name) => ({ name: `${name} "é" \\ 漢` }),
    canBePatched: true,
  },
  variable: {
    collection: () => `${environment}/variables`,
    pathOf: (id) => `/v1/variables/${id}`,
    body: (name) => ({ name, storage_method: "secret", value: newCanarySecret() }),
    canBePatched: false,
  },
};
const kinds = Object.entries(KINDS);
const patchable = kinds.filter(([, { canBePatched }]) => canBePatched);

const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  client.request(method, path, body, headers);
const withKey = (key: string) => ({ "idempotency-key": key });
const replaceWith = (kind: Kind, name: string, record: Parsed) =>
  (kind.replacement ?? kind.body)(name, record);
const tagOf = (reply: Reply) => String(reply.headers.get("etag"));

async function storedResults(): Promise<string> {
  const { results } = await env.DB.prepare(
    "select * from idempotency_records where organization_id = ?",
  )
    .bind(world.id)
    .all();
  return JSON.stringify(results);
}

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

describe.each(kinds)("a repeated creation of a %s", (_, kind) => {
  it("gets the first response after the record was replaced, and after it was deleted", async () => {
    const body = kind.body("fresh");
    const first = await send("POST", kind.collection(), body, withKey("key-1"));
    expect(first.status).toBe(201);
    const path = kind.pathOf(first.body.id);
    expect(first.headers.get("location")).toBe(path);
    const read = await client.get(path);
    expect(read.body).toEqual(first.body);
    expect(tagOf(read)).toBe(tagOf(first));
    const between = [
      () => client.put(path, replaceWith(kind, "replaced", first.body)),
      () => client.delete(path),
    ];
    for (const intervene of between) {
      expect((await intervene()).status).toBeLessThan(300);
      const repeated = await send("POST", kind.collection(), body, withKey("key-1"));
      expect(repeated.status).toBe(201);
      expect(repeated.text).toBe(first.text);
      expect(tagOf(repeated)).toBe(tagOf(first));
      expect(repeated.headers.get("location")).toBe(path);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    }
    expect((await client.get(path)).status).toBe(404);
    expect(await storedResults()).not.toContain("canary");
  });

  it("creates one record of many at once", async () => {
    const body = kind.body("fresh");
    const before = (await client.get(kind.collection())).body.data.length;
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => send("POST", kind.collection(), body, withKey("key-1"))),
    );
    expect(new Set(replies.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
    expect((await client.get(kind.collection())).body.data).toHaveLength(before + 1);
  });
});

describe("a failed creation", () => {
  it("keeps no record, so that its repeat can succeed", async () => {
    const { body: taken } = await client.post(`${environment}/components`, {
      name: "api",
      kind: "service",
    });
    const create = () =>
      send("POST", `${environment}/components`, { name: "api", kind: "job" }, withKey("key-1"));
    expect((await create()).status).toBe(409);
    expect(await storedResults()).toBe("[]");
    await client.patch(`/v1/components/${taken.id}`, { name: "api-old" });
    expect((await create()).status).toBe(201);
    expect((await create()).headers.get("idempotency-replayed")).toBe("true");
  });
});

describe.each(kinds)("If-Match of a %s", (_, kind) => {
  const methods = kind.canBePatched ? ["PUT", "PATCH", "DELETE"] : ["PUT", "DELETE"];

  it.each(methods)(
    "stops a %s if another write comes between its read and its write",
    async (method) => {
      const { body: record } = await client.post(kind.collection(), kind.body("fresh"));
      const path = kind.pathOf(record.id);
      const inside =
        kind === KINDS["project"] && (await newInside(client, record.default_environment_id));
      const tag = tagOf(await client.get(path));
      const body = {
        PUT: replaceWith(kind, "other", record),
        PATCH: { name: "other" },
        DELETE: undefined,
      }[method];
      const overtake = () => client.put(path, replaceWith(kind, "overtaking", record));
      const refused = await race(overtake, method, path, body, { "if-match": tag });
      expect(refused.status).toBe(409);
      const current = await client.get(path);
      expect(refused.body.cause).toEqual({ etag: tagOf(current) });
      expect(current.body.name).toContain("overtaking");
      if (inside) expect((await client.get(`/v1/stacks/${inside["stack_id"]}`)).status).toBe(200);
      const { data } = (
        await client.get(`/v1/projects/${record.project_id ?? project.id}/changelog`)
      ).body;
      expect(JSON.stringify(data)).not.toContain('"other"');
      const accepted = await send(method, path, body, { "if-match": tagOf(current) });
      expect(accepted.status).toBeLessThan(300);
    },
  );

  it("lets a write without it win", async () => {
    const { body: record } = await client.post(kind.collection(), kind.body("fresh"));
    const path = kind.pathOf(record.id);
    const overtake = () => client.put(path, replaceWith(kind, "overtaking", record));
    const replaced = await race(overtake, "PUT", path, replaceWith(kind, "other", record));
    expect(replaced.status).toBe(200);
    expect((await client.get(path)).body).toEqual(replaced.body);
    expect(tagOf(await client.get(path))).toBe(tagOf(replaced));
  });

  it("does not keep a write from finding that the record is gone", async () => {
    const { body: record } = await client.post(kind.collection(), kind.body("fresh"));
    const path = kind.pathOf(record.id);
    const tag = tagOf(await client.get(path));
    const body = replaceWith(kind, "other", record);
    const late = await race(() => client.delete(path), "PUT", path, body, { "if-match": tag });
    expect(late.status).toBe(404);
    expect((await send("DELETE", path, undefined, { "if-match": "*" })).status).toBe(404);
  });
});

describe.each(patchable)("a PATCH of a %s", (_, kind) => {
  it("changes nothing and keeps the tag if it is empty or changes no field", async () => {
    const created = await client.post(kind.collection(), kind.body("fresh"));
    const path = kind.pathOf(created.body.id);
    for (const body of [{}, { name: created.body.name }]) {
      const reply = await client.patch(path, body);
      expect(reply).toMatchObject({ status: 200, text: created.text });
      expect(tagOf(reply)).toBe(tagOf(created));
    }
  });

  it("refuses null for a name, fields that it does not have, and other types", async () => {
    const { body: record } = await client.post(kind.collection(), kind.body("fresh"));
    const path = kind.pathOf(record.id);
    for (const body of [{ name: null }, { id: record.id }, { name: 1 }, { created_at: null }, []]) {
      expect((await client.patch(path, body)).status).toBe(400);
    }
    expect((await client.get(path)).body).toEqual(record);
  });
});

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
  const connection = () => `/v1/projects/${project.id}/connection`;

  async function regionsStored(): Promise<unknown[]> {
    const { results } = await env.DB.prepare(
      "select region from project_connections where project_id = ?",
    )
      .bind(project.id)
      .all();
    return results.map(({ region }) => region);
  }

  it("has the tag of its project, whose version it increases", async () => {
    const path = `/v1/projects/${project.id}`;
    const before = tagOf(await client.get(path));
    const connected = await send("PUT", connection(), CONNECTION, { "if-match": before });
    expect(connected.status).toBe(200);
    expect(tagOf(connected)).not.toBe(before);
    expect(tagOf(await client.get(path))).toBe(tagOf(connected));
    const late = await send("PATCH", path, { name: "late" }, { "if-match": before });
    expect(late).toMatchObject({ status: 409, body: { cause: { etag: tagOf(connected) } } });
  });

  it("is not replaced if another write comes between the read and the write", async () => {
    const tag = tagOf(await client.get(`/v1/projects/${project.id}`));
    const other = () => connect(client, project.id);
    const body = { ...CONNECTION, region: "us-east-1" };
    const database = beforeBatch(2, other);
    const racing = client.via(new Instrumented({ database }).fetch);
    const refused = await racing.request("PUT", connection(), body, { "if-match": tag });
    const current = tagOf(await client.get(`/v1/projects/${project.id}`));
    expect(refused).toMatchObject({ status: 409, body: { cause: { etag: current } } });
    expect(await regionsStored()).toEqual([CONNECTION.region]);
    const replaced = await send("PUT", connection(), body, { "if-match": `W/${current}` });
    expect(replaced.status).toBe(200);
    expect(await regionsStored()).toEqual(["us-east-1"]);
  });

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
