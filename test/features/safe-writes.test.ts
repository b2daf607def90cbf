import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed, Reply } from "../support/client.ts";
import { newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let environments: string;

beforeEach(async () => {
  world = await newWorld();
  const project = await newProject(world.client);
  environments = `/v1/projects/${project.id}/environments`;
});

const post = (path: string, body: object, key: string): Promise<Reply> =>
  world.client.request("POST", path, body, { "idempotency-key": key });
const patch = (path: string, body: object, key: string): Promise<Reply> =>
  world.client.request("PATCH", path, body, { "idempotency-key": key });
const namesOf = async (): Promise<string[]> =>
  (await world.client.get(environments)).body.data.map(({ name }: Parsed) => name);

describe("a repeated creation", () => {
  it("gets the first response, whatever happened in between", async () => {
    const first = await post(environments, { name: "staging", configuration: { a: 1 } }, "key-1");
    const path = `/v1/environments/${first.body.id}`;
    await world.client.put(path, { name: "renamed", configuration: {} });
    const second = await post(environments, { name: "staging", configuration: { a: 1 } }, "key-1");
    expect(second.text).toBe(first.text);
    expect(second.status).toBe(201);
    for (const name of ["etag", "location", "content-type"]) {
      expect(second.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await namesOf()).toEqual(["renamed", "production"]);
    expect(first.headers.get("location")).toBe(path);
  });

  it("is a new request with another key or after a failure", async () => {
    expect((await post(environments, { name: "production" }, "key-1")).status).toBe(409);
    const { body } = await world.client.get(environments);
    await world.client.patch(`/v1/environments/${body.data[0].id}`, { name: "old" });
    expect((await post(environments, { name: "production" }, "key-1")).status).toBe(201);
    expect((await post(environments, { name: "production" }, "key-2")).status).toBe(409);
  });
});

describe("a repeated change", () => {
  it("gets the first response, also if there was nothing to change", async () => {
    const { id } = (await post(environments, { name: "staging" }, "key-1")).body;
    const path = `/v1/environments/${id}`;
    const first = await patch(path, { name: "preview" }, "key-2");
    expect(first.body).toMatchObject({ name: "preview", configuration: {} });
    const unchanged = await patch(path, { name: "preview" }, "key-3");
    await world.client.patch(path, { name: "newer" });
    for (const [key, before] of [
      ["key-2", first],
      ["key-3", unchanged],
    ] as const) {
      const repeated = await patch(path, { name: "preview" }, key);
      expect(repeated.text).toBe(before.text);
      expect(repeated.headers.get("etag")).toBe(before.headers.get("etag"));
    }
    expect((await world.client.get(path)).body.name).toBe("newer");
  });
});

describe("a write with If-Match", () => {
  it("is a conflict that names the current tag unless the version is listed", async () => {
    const created = await world.client.post(environments, { name: "staging" });
    const path = `/v1/environments/${created.body.id}`;
    const old = String(created.headers.get("etag"));
    const changed = await world.client.patch(path, { name: "preview" });
    const current = String(changed.headers.get("etag"));
    expect(current).not.toBe(old);
    expect((await world.client.get(path)).headers.get("etag")).toBe(current);
    const body = { name: "other", configuration: {} };
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const sent = method === "DELETE" ? undefined : method === "PUT" ? body : { name: "other" };
      const refused = await world.client.request(method, path, sent, { "if-match": old });
      expect(refused).toMatchObject({ status: 409, body: { cause: { etag: current } } });
    }
    const weak = { "if-match": `"0.x", W/${current}` };
    expect((await world.client.request("PUT", path, body, weak)).status).toBe(200);
    const any = { "if-match": "*" };
    expect((await world.client.request("DELETE", path, undefined, any)).status).toBe(204);
  });
});

describe("a read with If-None-Match", () => {
  it("gets 304 without a body while the record has the tag", async () => {
    const created = await world.client.post(environments, { name: "staging" });
    const path = `/v1/environments/${created.body.id}`;
    const etag = String(created.headers.get("etag"));
    const unchanged = await world.client.get(path, { "if-none-match": `W/${etag}` });
    expect(unchanged).toMatchObject({ status: 304, text: "" });
    expect(unchanged.headers.get("etag")).toBe(etag);
    expect((await world.client.get(path, { "if-none-match": '"1.2"' })).status).toBe(200);
  });
});
