import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed, Reply } from "../support/client.ts";
import { INHERITED_KEYS, nested } from "../support/json.ts";
import { Attempt } from "../support/runner.ts";
import {
  connect,
  newDeployableProject,
  newDeployment,
  newProject,
  newStack,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

const KIB = 1024;
/** A depth that was accepted before nesting was limited. SQLite parses at most 1,000 levels. */
const STORED_LEVELS = 990;

let world: World;
let project: Parsed;
let environment: string;
let pool: Pool;

beforeEach(async () => {
  world = await newWorld();
  ({ project, pool } = await newDeployableProject(world));
  environment = `/v1/environments/${project.default_environment_id}`;
  await newStack(world.client, project.default_environment_id);
});

const put = (configuration: unknown) =>
  world.client.put(environment, { name: "production", configuration });
const send = (patch: readonly object[]) =>
  world.client.post(`${environment}/deployments`, { patch });
const read = async () => (await world.client.get(environment)).body.configuration;
const redeploy = (id: string) => world.client.post(`/v1/deployments/${id}/redeploy`, undefined);

async function promote(id: string): Promise<Reply> {
  const environments = `/v1/projects/${project.id}/environments`;
  const { body } = await world.client.post(environments, { name: `n-${crypto.randomUUID()}` });
  await newStack(world.client, body.id);
  return world.client.post(`/v1/deployments/${id}/promote`, { environment_id: body.id });
}

/** Deploys a patch and completes the deployment. */
async function deploy(patch: readonly object[]): Promise<Parsed> {
  const created = await newDeployment(world.client, project.default_environment_id, { patch });
  await succeed();
  return created;
}

async function succeed(): Promise<void> {
  const attempt = await Attempt.started(pool.runner);
  expect((await attempt.succeed()).status).toBe(200);
}

/** The path of the only issue in a 400 reply. */
function refusedAt({ status, body }: Reply): string {
  expect([status, body.code]).toEqual([400, "bad_input"]);
  expect(body.cause.issues).toHaveLength(1);
  return body.cause.issues[0].path;
}

describe("a key with the name of an inherited property", () => {
  it("is stored in a configuration and returned byte for byte", async () => {
    const members = INHERITED_KEYS.map((key) => `"${key}":{"${key}":[{"${key}":null}],"x":1}`);
    const json = `{${members.join(",")}}`;
    expect((await put(JSON.parse(json))).text).toContain(`"configuration":${json},`);
    expect((await world.client.get(environment)).text).toContain(`"configuration":${json},`);
    const environments = `/v1/projects/${project.id}/environments`;
    const made = `{"name":"other","configuration":${json}}`;
    const type = { "content-type": "application/json" };
    const created = await world.client.request("POST", environments, made, type);
    expect([created.status, created.text]).toEqual([201, expect.stringContaining(json)]);
  });

  it.each(INHERITED_KEYS)("can be patched, redeployed and promoted: %s", async (key) => {
    const parse = (json: string) => JSON.parse(json.replaceAll("KEY", key));
    const first = await deploy([
      { op: "add", path: `/${key}`, value: parse('{"KEY":1}') },
      { op: "add", path: `/${key}/x`, value: parse('{"KEY":2}') },
    ]);
    const second = await deploy([
      { op: "test", path: `/${key}/x/${key}`, value: 2 },
      { op: "move", from: `/${key}/x`, path: `/${key}/${key}` },
    ]);
    expect(JSON.stringify(second.data.patch[1].old_value)).toBe("1");
    expect(JSON.stringify(await read())).toBe(JSON.stringify(parse('{"KEY":{"KEY":{"KEY":2}}}')));
    const again = await redeploy(first.id);
    expect(again.status).toBe(201);
    await succeed();
    const restored = JSON.stringify(parse('{"KEY":{"KEY":1,"x":{"KEY":2}}}'));
    expect(JSON.stringify(await read())).toBe(restored);
    const promoted = await promote(first.id);
    expect(promoted.status).toBe(201);
    expect(promoted.text).toContain(restored.slice(1, -1).split(":").slice(1).join(":"));
  });

  it("gives no patch access to a prototype, so that other tenants are not affected", async () => {
    const hostile = [
      [{ op: "add", path: "/hasOwnProperty/call", value: 1 }],
      [{ op: "add", path: "/n/toFixed/leak", value: "secret" }],
      [{ op: "add", path: "/list/push/leak", value: "secret" }],
      [{ op: "add", path: "/__proto__/leak", value: "secret" }],
      [{ op: "add", path: "/constructor/prototype/leak", value: "secret" }],
      [{ op: "replace", path: "/toString", value: "secret" }],
      [{ op: "copy", from: "/n/toFixed", path: "/x" }],
      [{ op: "copy", from: "/constructor", path: "/x" }],
    ];
    await put({ n: 1, list: [] });
    for (const patch of hostile) expect(refusedAt(await send(patch))).toBe("patch.0");
    const other = await newWorld();
    const theirs = await newProject(other.client);
    await connect(other.client, theirs.id);
    const patch = [{ op: "add", path: "/n", value: 1 }];
    const created = await newDeployment(other.client, theirs.default_environment_id, { patch });
    expect(created.data.patch).toEqual(patch);
    const copy = [...patch, { op: "copy", from: "/n/toFixed/leak", path: "/x" }];
    const there = `/v1/environments/${theirs.default_environment_id}/deployments`;
    expect(refusedAt(await other.client.post(there, { patch: copy }))).toBe("patch.1");
  });
});

describe("long arrays", () => {
  it.each([600, 20_000])("of %i elements are rolled back and promoted", async (length) => {
    const list = (seed: number) => Array.from({ length }, (_, at) => (at * 7 + seed) % 1_000);
    const first = await deploy([{ op: "add", path: "/list", value: list(1) }]);
    await deploy([{ op: "replace", path: "/list", value: list(2) }]);
    const back = await redeploy(first.id);
    expect(back.body.data.patch).toEqual([
      { op: "replace", path: "/list", value: list(1), old_value: list(2) },
    ]);
    expect((await promote(first.id)).body.data.patch).toEqual([
      { op: "add", path: "/list", value: list(1) },
    ]);
    expect((await send([{ op: "test", path: "/list", value: list(2) }])).status).toBe(201);
    expect(refusedAt(await send([{ op: "test", path: "/list", value: list(3) }]))).toBe("patch.0");
  });
});

describe("the size of a patch", () => {
  it("counts every replaced value, repeated ones included", async () => {
    await put({ a: "x".repeat(200 * KIB) });
    const move = { op: "move", from: "/a", path: "/a" };
    expect(refusedAt(await send(Array(40).fill(move)))).toBe("patch");
    expect(refusedAt(await send([move, move]))).toBe("patch");
    expect((await send([move])).status).toBe(201);
    expect((await send(Array(200).fill({ op: "test", path: "/b", value: 1 }))).status).toBe(400);
  });

  it("is at most 256 KiB of UTF-8, old values included", async () => {
    const stored = (value: string) => [{ op: "replace", path: "/é", value: 1, old_value: value }];
    const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).byteLength;
    const room = 256 * KIB - bytes(stored(""));
    for (const [value, status] of [
      ["é".repeat(room / 2), 201],
      [`${"é".repeat(room / 2)}x`, room % 2 ? 201 : 400],
      [`${"é".repeat(room / 2)}xx`, 400],
    ] as const) {
      expect((await put({ é: value })).status).toBe(200);
      expect((await send([{ op: "replace", path: "/é", value: 1 }])).status).toBe(status);
    }
  });

  it("omits the old values of a large redeployment, and limits its operations", async () => {
    const large = (text: string) =>
      Object.fromEntries([0, 1, 2].map((at) => [at, text.repeat(70 * KIB)]));
    const first = await deploy([{ op: "add", path: "/o", value: large("x") }]);
    await deploy([{ op: "add", path: "/o", value: 1 }]);
    await deploy([{ op: "add", path: "/o", value: large("y") }]);
    const back = await redeploy(first.id);
    expect(back.status).toBe(201);
    expect(back.body.data.patch).toEqual(
      [0, 1, 2].map((at) => ({ op: "replace", path: `/o/${at}`, value: "x".repeat(70 * KIB) })),
    );
    // The operations alone, with their paths, have 2 MB.
    const wide = (seed: number) =>
      Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`member-${at}`, seed]));
    await env.DB.prepare("update environments set configuration = ?2 where id = ?1")
      .bind(project.default_environment_id, JSON.stringify(wide(1)))
      .run();
    await env.DB.prepare("update deployments set configuration = ?2 where id = ?1")
      .bind(first.id, JSON.stringify(wide(2)))
      .run();
    const whole = await redeploy(first.id);
    expect(whole.body.data.patch).toEqual([{ op: "replace", path: "", value: wide(2) }]);
  });

  it("includes the values that its copies add", async () => {
    await put({ a: "x".repeat(100 * KIB), b: 1 });
    const copies = (count: number) =>
      Array.from({ length: count }, () => [
        { op: "copy", from: "/a", path: "/c" },
        { op: "remove", path: "/c" },
      ]).flat();
    expect(refusedAt(await send(copies(11)))).toBe("patch.20");
    expect((await send(copies(2))).status).toBe(201);
  });
});

describe("nesting", () => {
  const environments = () => `/v1/projects/${project.id}/environments`;
  const arrays = (levels: number): unknown => {
    let value: unknown[] = [];
    for (let level = 1; level < levels; level += 1) value = [value];
    return value;
  };

  it("of a configuration and of a value is at most 64 levels", async () => {
    const name = () => `n-${crypto.randomUUID()}`;
    const create = (configuration: unknown) =>
      world.client.post(environments(), { name: name(), configuration });
    expect((await put(nested(64))).status).toBe(200);
    expect((await create({ list: arrays(63) })).status).toBe(201);
    const issue = `configuration${".a".repeat(64)}`;
    expect(refusedAt(await put(nested(65)))).toBe(issue);
    expect(refusedAt(await create(nested(66)))).toBe(issue);
    expect(refusedAt(await create({ list: [{}, arrays(63)] }))).toMatch(/^configuration\.list\.1/);
    const add = (value: unknown) =>
      send([
        { op: "add", path: "/v", value: 1 },
        { op: "replace", path: "", value },
      ]);
    expect((await add(nested(64))).status).toBe(201);
    expect(refusedAt(await add(nested(65)))).toBe("");
  });

  it("of the result and of every intermediate result of a patch is at most 64 levels", async () => {
    await put({ deep: nested(63), other: nested(3) });
    const bottom = `/deep${"/a".repeat(62)}`;
    expect((await send([{ op: "add", path: `${bottom}/a`, value: 1 }])).status).toBe(201);
    expect(refusedAt(await send([{ op: "add", path: `${bottom}/a`, value: {} }]))).toBe("patch.0");
    const move = { op: "move", from: "/other", path: `${bottom}/a` };
    const test = { op: "test", path: "/deep/a/a", value: nested(61) };
    expect(refusedAt(await send([test, move]))).toBe("patch.1");
    const tooDeep = [move, { op: "remove", path: "/deep" }];
    expect(refusedAt(await send(tooDeep))).toBe("patch.1");
  });

  it("of a body is checked before it is parsed, on every route", async () => {
    const type = { "content-type": "application/json" };
    for (const [method, path] of [
      ["POST", "/v1/projects"],
      ["PUT", environment],
      ["POST", `${environment}/deployments`],
      ["PATCH", `/v1/orgs/${world.id}/runner-pools/${pool.id}`],
    ] as const) {
      for (const body of [
        "[".repeat(500_000),
        `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
        `{"name":"x","configuration":${"[".repeat(67)}${"]".repeat(67)}}`,
        `{"name":"]\\"]]","a":${"[".repeat(67)}`,
      ]) {
        const reply = await world.client.request(method, path, body, type);
        // 501: the route does not have this method.
        if (reply.status !== 501) expect(refusedAt(reply)).toBe("");
      }
    }
    const text = '[{"\\'.repeat(10_000);
    expect((await put({ text, [text]: [text] })).status).toBe(200);
    expect(refusedAt(await runnerClaim("[".repeat(68)))).toBe("");
  });

  const runnerClaim = (body: string, client: Client = pool.runner) =>
    client.request("POST", "/v1/runner/claims", body, { "content-type": "application/json" });
});

describe("an environment that stores a document of 990 levels", () => {
  const deep = nested(STORED_LEVELS - 1);
  const store = (configuration: object) =>
    env.DB.prepare("update environments set configuration = ?2 where id = ?1")
      .bind(project.default_environment_id, JSON.stringify(configuration))
      .run();

  it("can be read and listed, but not sent back", async () => {
    await store({ deep });
    expect(await read()).toEqual({ deep });
    const list = await world.client.get(`/v1/projects/${project.id}/environments`);
    expect(list.body.data[0].configuration).toEqual({ deep });
    expect(refusedAt(await put({ deep }))).toBe("");
    expect((await put({ shallow: 1 })).status).toBe(200);
    const changelog = await world.client.get(`/v1/projects/${project.id}/changelog`);
    expect(changelog.body.data[0].before.configuration).toEqual({ deep });
  });

  it("can be deployed, redeployed, and promoted", async () => {
    const empty = await deploy([]);
    await store({ deep });
    const touching = await deploy([{ op: "add", path: "/x", value: 1 }]);
    expect(await read()).toEqual({ deep, x: 1 });
    const removed = await redeploy(empty.id);
    expect(removed.body.data.patch).toEqual([
      { op: "remove", path: "/deep", old_value: deep },
      { op: "remove", path: "/x", old_value: 1 },
    ]);
    expect((await redeploy(touching.id)).body.data.patch).toEqual([]);
    const promoted = await promote(touching.id);
    expect(promoted.body.data.patch[0]).toEqual({ op: "add", path: "/deep", value: deep });
    expect((await send([{ op: "copy", from: "/deep/a/a", path: "/y" }])).status).toBe(201);
    expect(refusedAt(await send([{ op: "copy", from: "/deep", path: "/y/z" }]))).toBe("patch.0");
    const deeper = [
      { op: "add", path: "/y", value: {} },
      { op: "copy", from: "/deep", path: "/y/z" },
    ];
    expect(refusedAt(await send(deeper))).toBe("patch.1");
  });
});

describe("control characters and lone surrogates", () => {
  const CONTROLS = ["\u0000", "\u0007", "\u001b", "\u007f", "\u0085", "\ud800", "\udc00x"];
  const LINES = ["\t", "\n", "\r"];
  const HARMLESS = ["é", "😀", "\u00a0", "\u200b", " ", '"\\/'];

  it("are refused in values and keys, except line breaks and tabs in values", async () => {
    for (const bad of CONTROLS) {
      expect(refusedAt(await put({ a: [{ b: `x${bad}` }] }))).toBe("configuration.a.0.b");
      expect(refusedAt(await send([{ op: "add", path: "/a", value: { b: [bad] } }]))).toBe(
        "patch.0.value.b.0",
      );
    }
    for (const bad of [...CONTROLS, ...LINES]) {
      expect(refusedAt(await put({ a: { [`x${bad}`]: 1 } }))).toBe("configuration.a");
      expect(refusedAt(await send([{ op: "add", path: "/a", value: { [bad]: 1 } }]))).toBe(
        "patch.0.value",
      );
    }
    const texts = [...HARMLESS, ...LINES.map((line) => `a${line}b`)];
    const harmless = { texts, ...Object.fromEntries(HARMLESS.map((key) => [key, 1])) };
    expect((await put(harmless)).body.configuration).toEqual(harmless);
    expect((await send([{ op: "add", path: "/a", value: harmless }])).status).toBe(201);
  });

  it("are refused in paths", async () => {
    await put({ a: 1 });
    for (const bad of [...CONTROLS, ...LINES]) {
      const path = `/x${bad}`;
      expect(refusedAt(await send([{ op: "add", path, value: 1 }]))).toBe("patch.0.path");
      expect(refusedAt(await send([{ op: "copy", from: path, path: "/b" }]))).toBe("patch.0.from");
    }
    for (const good of HARMLESS) {
      const path = `/${good}`;
      const nestedPath = [
        { op: "add", path, value: 1 },
        { op: "copy", from: path, path: "/b" },
      ];
      if (!good.includes("/")) expect((await send(nestedPath)).status).toBe(201);
    }
    expect(refusedAt(await send([{ op: "add", path: `/${"x".repeat(2_000)}`, value: 1 }]))).toBe(
      "patch.0.path",
    );
    expect((await send([{ op: "add", path: `/${"x".repeat(1_999)}`, value: 1 }])).status).toBe(201);
  });
});

describe("a configuration", () => {
  it.each([[[]], ["x"], [1], [null], [true]])("must be an object: %j", async (value) => {
    expect(refusedAt(await put(value))).toBe("configuration");
    const environments = `/v1/projects/${project.id}/environments`;
    const body = { name: "other", configuration: value };
    expect(refusedAt(await world.client.post(environments, body))).toBe("configuration");
  });

  it("is empty by default, and required in a PUT", async () => {
    const environments = `/v1/projects/${project.id}/environments`;
    const created = await world.client.post(environments, { name: "other" });
    expect(created.body.configuration).toEqual({});
    expect(refusedAt(await put(undefined))).toBe("configuration");
  });
});
