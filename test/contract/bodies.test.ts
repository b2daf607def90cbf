import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { Client } from "../support/client.ts";
import { type Operation, operations, sendsText } from "../support/contract.ts";
import { type Ids, newWorldWithIds, pathWith } from "../support/operations.ts";
import {
  newDeployableProject,
  newInside,
  newProject,
  SharedKeys,
  type World,
} from "../support/world.ts";

const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
const titled = (each: Operation) => [`${each.method} ${each.path}`, each] as const;
const COMPRESSED = "Send the body uncompressed, without content-encoding.";

let world: World;
let ids: Ids;
let keys: SharedKeys;
let sessionKeys: SharedKeys;

beforeAll(async () => {
  ({ world, ids } = await newWorldWithIds());
  keys = new SharedKeys(world);
  sessionKeys = new SharedKeys(world, {}, "session");
});

async function send(
  operation: Operation,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
) {
  const { method, security } = operation;
  const needs = (credential: string) =>
    security.length > 0 && security.every((each) => credential in each);
  const isRunners = needs("runner_token");
  const client = isRunners
    ? new Client(ids["runner"])
    : await (needs("session") ? sessionKeys : keys).next();
  const type = sendsText(operation) ? "text/plain" : "application/json";
  return client.request(method, pathWith(operation, ids), body, {
    "content-type": type,
    authorization: `Bearer ${env.BOOTSTRAP_TOKEN}`,
    ...(isRunners && { "lease-token": String(ids["lease"]) }),
    ...headers,
  });
}

async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

describe("a body with a number that no double holds", () => {
  it.each(withBody.filter((each) => !sendsText(each)).map(titled))(
    "is refused by %s, with the path of the number and what to send",
    async (_, operation) => {
      const reply = await send(operation, '{"unknown":{"a":[0.1,12345678901234567890]}}');
      expect([reply.status, reply.body.code]).toEqual([400, "bad_input"]);
      const message = "Send it as a string. As a number, it would become 12345678901234567000.";
      expect(reply.body.cause.issues).toEqual([{ path: "unknown.a.1", message }]);
    },
  );

  it("is refused in a patch and a configuration, and others are stored as they are", async () => {
    const { client } = world;
    const project = await newProject(client);
    const path = `/v1/environments/${project.default_environment_id}`;
    const json = { "content-type": "application/json" };
    const put = (number: string) =>
      client.request("PUT", path, `{"name":"e","configuration":{"a":${number}}}`, json);
    for (const number of ["1.10", "1e2", "0.1", "-0", "9007199254740992", "1E+2"]) {
      const reply = await put(number);
      expect(reply.status).toBe(200);
      expect(reply.body.configuration).toEqual({ a: JSON.parse(number) + 0 });
    }
    for (const number of ["12345678901234567890", "1e999", "0.1000000000000000055"]) {
      const reply = await put(number);
      expect(reply.status).toBe(400);
      expect(reply.body.message).toMatch(/^configuration\.a: Send it as a string\./);
      const patch = `{"patch":[{"op":"add","path":"/a","value":${number}}]}`;
      const created = await client.request("POST", `${path}/deployments`, patch, json);
      expect(created.status).toBe(400);
      expect(created.body.cause.issues[0].path).toBe("patch.0.value");
      expect((await put(JSON.stringify(number))).status).toBe(200);
    }
  });

  it("is refused for its content type first", async () => {
    const body = "id=12345678901234567890";
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const reply = await world.client.request("POST", "/v1/projects", body, type);
    expect(reply.body.message).toBe("Send the body with content-type: application/json.");
  });
});

describe("a compressed body", () => {
  it.each(withBody.map(titled))("is refused by %s, which says so", async (_, operation) => {
    const bytes = await gzip('{"name":"compressed"}');
    for (const encoding of ["gzip", "br"]) {
      const reply = await send(operation, bytes, { "content-encoding": encoding });
      expect([reply.status, reply.body.message]).toEqual([400, COMPRESSED]);
    }
  });

  it("is recognized without its header, and identity is no compression", async () => {
    const post = async (body: string | Uint8Array, headers: Record<string, string>) =>
      (await keys.next()).request("POST", "/v1/projects", body, {
        "content-type": "application/json",
        ...headers,
      });
    const bytes = await gzip('{"name":"compressed"}');
    expect((await post(bytes, {})).body.message).toBe(COMPRESSED);
    const identity = { "content-encoding": "identity" };
    expect((await post('{"name":"identity"}', identity)).status).toBe(201);
    expect((await post('{"name":"deflate"}', { "content-encoding": "deflate" })).status).toBe(400);
  });
});

describe("the author of a commit", () => {
  it.each([
    ["no name", {}, 201],
    ["an empty name", { name: "" }, 201],
    ["a name of spaces", { name: " " }, 201],
    ["a name with a control character", { name: "a\u0085" }, 400],
    ["an empty login", { login: "" }, 400],
  ])("may have %s: %j is %i", async (_, author, status) => {
    const { environmentId } = await newDeployableProject(world);
    await newInside(world.client, environmentId);
    const sha = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
    const commit = { author, committer: author, message: "m", sha };
    const repository = { owner: "acme", provider: "github", repo: "shop", repo_id: "1" };
    const git = { ...repository, commit, installation_id: "1", ref: "refs/heads/main" };
    const reply = await (await keys.next()).post(`/v1/environments/${environmentId}/deployments`, {
      source: { git },
    });
    expect(reply.status).toBe(status);
    const paths = (reply.body.cause?.issues ?? []).map(({ path }: { path: string }) => path);
    const [name = ""] = Object.keys(author);
    const people = [`source.git.commit.author.${name}`, `source.git.commit.committer.${name}`];
    expect(paths).toEqual(status === 201 ? [] : people);
  });
});
