import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Reply } from "../support/client.ts";
import { canonicalState } from "../support/organization-state.ts";
import { newKey, newProject, newWorld, SharedKeys, type World } from "../support/world.ts";

let world: World;
let keys: SharedKeys;
let environments: string;
let production: string;
let etag: string;

beforeAll(async () => {
  world = await newWorld();
  keys = new SharedKeys(world);
  const project = await newProject(world.client);
  environments = `/v1/projects/${project.id}/environments`;
  production = `/v1/environments/${project.default_environment_id}`;
  etag = String((await world.client.get(production)).headers.get("etag"));
});

type HeaderFields = Record<string, string>;

const send = async (method: string, path: string, headers: HeaderFields, body?: object) =>
  (await keys.next()).request(method, path, body, headers);

/** Sends requests that must be refused, and verifies that they wrote nothing. */
async function refused<Result>(requests: () => Promise<Result>): Promise<Result> {
  const withoutKeys = (lines: string[]) => lines.filter((line) => !line.startsWith("api_keys "));
  const before = withoutKeys(await canonicalState(world.id));
  const result = await requests();
  expect(withoutKeys(await canonicalState(world.id))).toHaveLength(before.length);
  return result;
}

const BODIES: Record<string, object> = {
  POST: { name: "refused" },
  PATCH: { name: "refused" },
  PUT: { name: "refused", configuration: {} },
};
const pathOf = (method: string) => (method === "POST" ? environments : production);

function expectBadInput({ status, body }: Reply, header: string): void {
  expect({ status, code: body.code }).toEqual({ status: 400, code: "bad_input" });
  expect(body.cause.issues.map(({ path }: { path: string }) => path)).toEqual([header]);
}

describe("an Idempotency-Key", () => {
  const malformed = {
    "is empty": "",
    "has 256 characters": "k".repeat(256),
    "is not ASCII": "schlüssel",
    "has a character above Latin-1": Array.from(new TextEncoder().encode("ключ"), (byte) =>
      String.fromCharCode(byte),
    ).join(""),
    "has a space": "a key",
    "has a tab": "a\tkey",
    "has a control character": "a\u0007key",
    "is sent twice": "key-1, key-2",
    "is sent twice with the same value": "key-1, key-1",
  };

  it.each(Object.entries(malformed))("that %s is bad input", async (_, key) => {
    await refused(async () => {
      for (const method of ["POST", "PATCH"]) {
        const headers = { "idempotency-key": key };
        expectBadInput(
          await send(method, pathOf(method), headers, BODIES[method]),
          "Idempotency-Key",
        );
      }
    });
  });

  it("in two headers is bad input", async () => {
    const { client } = await newKey(world);
    const twice = client.via(async (request) => {
      const headers = new Headers(request.headers);
      headers.append("idempotency-key", "one");
      headers.append("idempotency-key", "two");
      const { default: worker } = await import("../../src/index.ts");
      const execution = { waitUntil: () => undefined } as unknown as ExecutionContext;
      return worker.fetch(new Request(request, { headers }), env, execution);
    });
    expectBadInput(
      await refused(() => twice.post(environments, BODIES["POST"])),
      "Idempotency-Key",
    );
  });

  it.each(["!", "~".repeat(255), '"quoted,key"', "key,without-space", "a:b/c?d=%20"])(
    "may be %j",
    async (key) => {
      const headers = { "idempotency-key": key };
      const { client } = await newKey(world);
      const body = { name: `n-${crypto.randomUUID()}` };
      const first = await client.request("POST", environments, body, headers);
      expect(first.status).toBe(201);
      const repeated = await client.request("POST", environments, body, headers);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    },
  );

  it("may have spaces around it, which HTTP does not count", async () => {
    const reply = await send(
      "POST",
      environments,
      { "idempotency-key": "  spaced " },
      { name: "spaced" },
    );
    expect(reply.status).toBe(201);
  });

  it("is bad input with another method, path, query or body", async () => {
    const { client } = await newKey(world);
    const other = await newProject(client, { name: "other" });
    const headers = { "idempotency-key": "used" };
    const body = { name: "used" };
    expect((await client.request("POST", environments, body, headers)).status).toBe(201);
    const others: [string, string, object | string][] = [
      ["PATCH", production, body],
      ["POST", `/v1/projects/${other.id}/environments`, body],
      ["POST", `${environments}?a=1`, body],
      ["POST", `${environments}?`, body],
      ["POST", environments, { name: "used2" }],
      ["POST", environments, '{ "name": "used" }'],
      ["POST", environments, { name: "used", configuration: {} }],
    ];
    await refused(async () => {
      for (const [method, path, sent] of others) {
        const reply = await client.request(method, path, sent, headers);
        // An empty query is no query.
        const isSame = path.endsWith("?");
        if (isSame) expect(reply.headers.get("idempotency-replayed")).toBe("true");
        else expectBadInput(reply, "Idempotency-Key");
      }
    });
    const repeated = await client.request("POST", environments, body, headers);
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  });

  it("does not include other headers in the request", async () => {
    const { client } = await newKey(world);
    const key = { "idempotency-key": "same" };
    const body = JSON.stringify({ name: "same" });
    const plain = { ...key, "content-type": "application/json" };
    const charset = { ...key, "content-type": "application/json; charset=utf-8" };
    const first = await client.request("POST", environments, body, plain);
    expect(first.status).toBe(201);
    expect((await client.request("POST", environments, body, charset)).text).toBe(first.text);
  });

  it("of another API key belongs to another request", async () => {
    const headers = { "idempotency-key": "shared" };
    for (const name of ["mine", "yours"]) {
      const reply = await send("POST", environments, headers, { name });
      expect(reply).toMatchObject({ status: 201, body: { name } });
      expect(reply.headers.get("idempotency-replayed")).toBeNull();
    }
  });

  it("of a request that failed is free: its repeat can succeed, and another key fails then", async () => {
    const { client } = await newKey(world);
    const { body: taken } = await client.post(environments, { name: "taken" });
    const create = (key: string) =>
      client.request("POST", environments, { name: "taken" }, { "idempotency-key": key });
    expect((await create("first")).status).toBe(409);
    await client.patch(`/v1/environments/${taken.id}`, { name: "free" });
    expect((await create("first")).headers.get("idempotency-replayed")).toBeNull();
    expect((await create("first")).headers.get("idempotency-replayed")).toBe("true");
    expect((await create("second")).status).toBe(409);
  });

  it("has no effect on PUT, DELETE and GET", async () => {
    const created = await send("POST", environments, {}, { name: "plain" });
    const path = `/v1/environments/${created.body.id}`;
    const headers = { "idempotency-key": "ignored" };
    for (const version of [2, 3]) {
      const body = { name: "plain", configuration: { version } };
      const reply = await send("PUT", path, headers, body);
      expect(reply.headers.get("etag")).toMatch(new RegExp(`^"${version}\\.`));
      expect(reply.headers.get("idempotency-replayed")).toBeNull();
    }
    expect((await send("GET", path, headers)).status).toBe(200);
    expect((await send("DELETE", path, headers)).status).toBe(204);
    expect((await send("DELETE", path, headers)).status).toBe(404);
  });
});

describe("If-Match", () => {
  const DIGEST = "0".repeat(24);
  /** What they are read as is in test/properties/entity-tag.test.ts. */
  it.each(["PUT", "PATCH", "DELETE"])("that is malformed is bad input of a %s", async (method) => {
    await refused(async () => {
      for (const header of ["", " , ", "abc", 'w/"a"', '"a" "b"', '*, "a"']) {
        const reply = await send(method, production, { "if-match": header }, BODIES[method]);
        expectBadInput(reply, "If-Match");
      }
    });
  });

  it.each(["PUT", "PATCH", "DELETE"])("with other tags is a conflict of a %s", async (method) => {
    await refused(async () => {
      for (const header of ['W/"a"', '"*"', `"1.${DIGEST}.0"`, '"ж"', `"2.${DIGEST}", "3.é",,`]) {
        const reply = await send(method, production, { "if-match": header }, BODIES[method]);
        const body = { code: "conflict", cause: { etag } };
        expect(reply, header).toMatchObject({ status: 409, body });
      }
    });
  });

  it("matches any record, or the listed one in either form, between empty elements", async () => {
    const { body } = await send("POST", environments, {}, { name: "matched" });
    const path = `/v1/environments/${body.id}`;
    for (const [at, list] of [
      "*",
      " * ",
      "TAG",
      "W/TAG",
      ',, "a" ,\tTAG,',
      'W/TAG,TAG, ""',
    ].entries()) {
      const tag = String((await send("GET", path, {})).headers.get("etag"));
      const headers = { "if-match": list.replaceAll("TAG", tag) };
      const reply = await send("PUT", path, headers, { name: "matched", configuration: { at } });
      expect(reply.status, list).toBe(200);
    }
  });

  it("does not find a record that does not exist", async () => {
    const path = "/v1/environments/1111111111111111111111";
    for (const header of ["*", '"1.2"']) {
      const reply = await send("DELETE", path, { "if-match": header });
      expect(reply.status).toBe(404);
    }
  });

  it("is bad input of operations without a condition, even if it would match", async () => {
    await refused(async () => {
      for (const header of ["*", etag, "malformed"]) {
        const created = await send("POST", environments, { "if-match": header }, BODIES["POST"]);
        expectBadInput(created, "If-Match");
      }
    });
  });

  it("does not prevent reads", async () => {
    expect((await send("GET", production, { "if-match": '"a"' })).status).toBe(200);
    expect((await send("GET", environments, { "if-match": "malformed" })).status).toBe(200);
  });
});

describe("If-None-Match", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE"])("is bad input of a %s", async (method) => {
    await refused(async () => {
      for (const header of ["*", etag, "malformed"]) {
        const headers = { "if-none-match": header };
        expectBadInput(
          await send(method, pathOf(method), headers, BODIES[method]),
          "If-None-Match",
        );
      }
    });
  });

  it("that is malformed is bad input of a read", async () => {
    for (const header of ["", "a", '"a', "*, *", ","]) {
      expectBadInput(await send("GET", production, { "if-none-match": header }), "If-None-Match");
    }
  });

  it("replies 304 to GET and HEAD if a tag or the asterisk matches, with the headers of the key", async () => {
    for (const header of ["*", etag, `W/${etag}`, `"a",, ${etag}`]) {
      for (const method of ["GET", "HEAD"]) {
        const reply = await send(method, production, { "if-none-match": header });
        expect(reply).toMatchObject({ status: 304, text: "" });
        expect(reply.headers.get("etag")).toBe(etag);
        expect(reply.headers.get("cache-control")).toBe("private, no-store");
        expect(reply.headers.has("content-type")).toBe(false);
        expect(reply.headers.has("x-ratelimit-remaining") || reply.headers.has("ratelimit")).toBe(
          true,
        );
      }
    }
  });

  it("compares the whole tag, unlike If-Match", async () => {
    const [version] = etag.slice(1).split(".");
    const header = `"${version}.${"0".repeat(24)}"`;
    expect((await send("GET", production, { "if-none-match": header })).status).toBe(200);
  });
});

describe("a tag that a proxy has marked because it compresses", () => {
  const marked = (suffix: string) => etag.replace(/"$/, `${suffix}"`);

  it.each(["-gzip", "-br", "-zstd"])("with %s is the tag itself", async (suffix) => {
    for (const tag of [
      marked(suffix),
      `W/${marked(suffix)}`,
      `"0.other-gzip", ${marked(suffix)}`,
    ]) {
      const read = await send("GET", production, { "if-none-match": tag });
      expect([read.status, read.headers.get("etag")]).toEqual([304, etag]);
      const { body } = await send("GET", production, {});
      const written = await send("PATCH", production, { "if-match": tag }, { name: body.name });
      expect([written.status, written.headers.get("etag")]).toEqual([200, etag]);
    }
  });

  it.each(["-deflate", "-gzipped", "gzip", "-gzip-gzip", "-"])(
    "with %s is another one",
    async (suffix) => {
      const read = await send("GET", production, { "if-none-match": marked(suffix) });
      expect(read.status).toBe(200);
      const { status, body } = await send(
        "PATCH",
        production,
        { "if-match": marked(suffix) },
        { name: "refused" },
      );
      expect([status, body.code]).toEqual([409, "conflict"]);
      expect(body.cause.etag).toBe(etag);
    },
  );
});
