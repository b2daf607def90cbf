import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import {
  accepting,
  authenticatedOperations,
  runnerOperations,
  title,
} from "../support/authenticated-operations.ts";
import { Client, type Parsed } from "../support/client.ts";
import {
  errorExamples,
  exampleBody,
  type Operation,
  operations,
  requiresFields,
  resolve,
  sendsText,
} from "../support/contract.ts";
import { type Ids, newIds, pathWith, textRequest } from "../support/operations.ts";
import { newWorld, SharedKeys, signIn, type World } from "../support/world.ts";

/** The path parameters that identify a record. {name} is excluded, because a new name is valid. */
const parametersOf = (operation: Operation) =>
  [...operation.path.matchAll(/\{(.+?)\}/g)]
    .map(([, name]) => String(name))
    .filter((name) => name !== "name");

/** Fields with IDs from other systems, such as AWS and code hosts. */
const EXTERNAL_IDS = ["account_id", "repo_id", "request_id", "physical_id", "template_id"];

function propertiesOf(operation: Operation): string[] {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema ? Object.keys(resolve(schema)["properties"] ?? {}) : [];
}

let world: World;
let keys: SharedKeys;
let ids: Ids;
let foreignIds: Ids;

beforeAll(async () => {
  world = await newWorld();
  keys = new SharedKeys(world);
  ids = await newIds(world);
  foreignIds = await newIds(await newWorld());
});

/** Sends an operation with its credential and, for runner operations, its lease token. */
async function send(operation: Operation, parameters: Ids, body?: unknown, headers = {}) {
  const path = sendsText(operation)
    ? textRequest(operation, parameters).path
    : pathWith(operation, parameters);
  const client = await clientFor(operation);
  const lease = runnerOperations.includes(operation) && { "lease-token": String(ids["lease"]) };
  // Only POST /v1/bootstrap reads this header.
  const authorization = `Bearer ${env.BOOTSTRAP_TOKEN}`;
  return client.request(operation.method, path, body, { authorization, ...headers, ...lease });
}

function sendExample(operation: Operation, parameters: Ids) {
  if (!sendsText(operation)) return send(operation, parameters, exampleBody(operation));
  const { body, headers } = textRequest(operation, parameters);
  return send(operation, parameters, body, headers);
}

async function clientFor(operation: Operation): Promise<Client> {
  if (!authenticatedOperations.includes(operation)) return new Client(undefined);
  if (runnerOperations.includes(operation)) return new Client(ids["runner"]);
  if (!accepting("api_key").includes(operation)) return (await signIn(world)).client;
  return keys.next();
}

describe("tenancy", () => {
  const cases = authenticatedOperations.flatMap((operation) =>
    parametersOf(operation).map((name) => [title(operation), name, operation] as const),
  );

  it.each(cases)(
    "answers %s equally for a {%s} of another tenant and for an unknown one",
    async (_, name, operation) => {
      const replyTo = async (id: string) => {
        const reply = await sendExample(operation, { ...ids, [name]: id });
        return { status: reply.status, text: reply.text, headers: stableHeaders(reply.headers) };
      };
      const foreign = await replyTo(String(foreignIds[name]));
      expect(foreign.status).toBe(404);
      expect(foreign).toEqual(await replyTo(newId(systemClock)));
    },
  );

  const fieldsWithIds = [
    ["PUT", "/v1/projects/{project_id}", "default_environment_id", "environment_id"],
    ["PATCH", "/v1/projects/{project_id}", "default_environment_id", "environment_id"],
    ["POST", "/v1/projects/{project_id}/members", "member_ids", "membership_id"],
    ["POST", "/v1/runner/claims", "deployment_id", "deployment_id"],
    ["POST", "/v1/orgs/{org_id}/api-keys", "membership_id", "membership_id"],
    ["POST", "/v1/orgs/{org_id}/api-keys", "project_ids", "project_id"],
    ["POST", "/v1/orgs/{org_id}/api-keys", "environment_ids", "environment_id"],
    ["PATCH", "/v1/orgs/{org_id}/api-keys/{key_id}", "project_ids", "project_id"],
    ["PATCH", "/v1/orgs/{org_id}/api-keys/{key_id}", "environment_ids", "environment_id"],
    ["POST", "/v1/orgs/{org_id}/trusts", "membership_id", "membership_id"],
    ["POST", "/v1/orgs/{org_id}/trusts", "pool_id", "pool_id"],
    ["POST", "/v1/orgs/{org_id}/trusts", "project_ids", "project_id"],
    ["POST", "/v1/orgs/{org_id}/trusts", "environment_ids", "environment_id"],
    [
      "POST",
      "/v1/projects/{project_id}/notification-integrations",
      "environment_ids",
      "environment_id",
    ],
    ["POST", "/v1/projects/{project_id}/notification-integrations", "stack_ids", "stack_id"],
    [
      "PATCH",
      "/v1/projects/{project_id}/notification-integrations/{integration_id}",
      "environment_ids",
      "environment_id",
    ],
    [
      "PATCH",
      "/v1/projects/{project_id}/notification-integrations/{integration_id}",
      "stack_ids",
      "stack_id",
    ],
    ["POST", "/v1/environments/{environment_id}/stacks", "component_id", "component_id"],
    ["PUT", "/v1/stacks/{stack_id}", "component_id", "component_id"],
    ["PATCH", "/v1/stacks/{stack_id}", "component_id", "component_id"],
    ["POST", "/v1/orgs/{org_id}/runner-pools", "environment_ids", "environment_id"],
    ["POST", "/v1/orgs/{org_id}/freezes", "environment_ids", "environment_id"],
    ["POST", "/v1/projects/{project_id}/freezes", "environment_ids", "environment_id"],
    ["PATCH", "/v1/orgs/{org_id}/runner-pools/{pool_id}", "environment_ids", "environment_id"],
    ["POST", "/v1/environments/{environment_id}/deployments", "stack_ids", "stack_id"],
    ["POST", "/v1/environments/{environment_id}/deployment-preview", "stack_ids", "stack_id"],
    ["POST", "/v1/deployments/{deployment_id}/promote", "environment_id", "environment_id"],
    // Of an environment that does not exist; promotions.test.ts has one that does.
    ["POST", "/v1/deployments/{deployment_id}/promote", "stack_ids", "stack_id"],
    ["PUT", "/v1/projects/{project_id}/environment-order", "environment_ids", "environment_id"],
    ["PUT", "/v1/environments/{environment_id}/stack-order", "stack_ids", "stack_id"],
    ["PATCH", "/v1/environments/{environment_id}", "url_stack_id", "stack_id"],
  ] as const;

  it("is tested for every body field that takes the ID of a record", () => {
    const declared = authenticatedOperations.flatMap((operation) =>
      propertiesOf(operation)
        .filter((name) => /_ids?$/.test(name) && !EXTERNAL_IDS.includes(name))
        .map((name) => `${title(operation)} ${name}`),
    );
    const covered = fieldsWithIds.map(([method, path, name]) => `${method} ${path} ${name}`);
    expect(declared.toSorted()).toEqual(covered.toSorted());
  });

  it.each(fieldsWithIds)(
    "answers %s %s equally for a %s of another tenant and for an unknown one",
    async (method, path, field, kind) => {
      const operation = authenticatedOperations.find(
        (each) => each.method === method && each.path === path,
      );
      if (!operation) throw new Error(`The document has no ${method} ${path}`);
      const replyTo = async (id: string) => {
        const client = await clientFor(operation);
        const value = field.endsWith("s") ? [id] : id;
        const body = { ...exampleBody(operation), ...targetOf(path, field), [field]: value };
        const { status, text } = await client.request(method, pathWith(operation, ids), body);
        return { status, text };
      };
      const foreign = await replyTo(String(foreignIds[kind]));
      expect(foreign.status).toBe(404);
      expect(foreign).toEqual(await replyTo(newId(systemClock)));
      expect(errorExamples(operation, 404)).toContainEqual(JSON.parse(foreign.text));
    },
  );

  /** A trust is for a membership or for a pool. */
  function targetOf(path: string, field: string): object {
    // The same request would get the attempt that it has claimed before.
    if (path.endsWith("/claims")) return { request_id: crypto.randomUUID() };
    if (!path.endsWith("/trusts")) return {};
    const ofPool = { membership_id: undefined, scopes: undefined, project_ids: undefined };
    return field === "pool_id" ? ofPool : { membership_id: ids["membership_id"] };
  }

  function stableHeaders(headers: Headers): Record<string, string> {
    const changing = /^(x-request-id|x-d1-bookmark|(x-)?ratelimit.*)$/;
    return Object.fromEntries([...headers].filter(([name]) => !changing.test(name)));
  }
});

describe("bodies", () => {
  const withBody = operations.filter((each) => each.requestBody && !sendsText(each));
  const cases = withBody.map((each) => [title(each), each] as const);
  const withRequiredFields = withBody
    .filter(requiresFields)
    .map((each) => [title(each), each] as const);

  it("are tested for operations with and without authentication", () => {
    expect(withBody.map(title)).toContain("POST /v1/bootstrap");
    expect(withBody.length).toBeGreaterThan(1);
  });

  it.each(withRequiredFields)(
    "of %s are refused without the required fields",
    async (_, operation) => {
      const reply = await send(operation, ids, {});
      expect(reply.status).toBe(400);
      expect(reply.body.cause.issues.length).toBeGreaterThan(0);
    },
  );

  it.each(cases)("of %s are required", async (_, operation) => {
    const json = { "content-type": "application/json" };
    const replies = [
      await send(operation, ids),
      await send(operation, ids, undefined, json),
      await send(operation, ids, "", json),
      await send(operation, ids, "", { "content-type": "text/plain" }),
      await send(operation, ids, new Uint8Array()),
    ];
    for (const { status, body } of replies) {
      const message = "Send a JSON body, with content-type: application/json.";
      expect([status, body.code, body.message]).toEqual([400, "bad_input", message]);
    }
  });

  const withoutBody = operations.filter(
    ({ method, requestBody }) => /^(POST|PUT|PATCH)$/.test(method) && !requestBody,
  );
  const unknownIds = Object.fromEntries(
    withoutBody.flatMap(parametersOf).map((name) => [name, newId(systemClock)]),
  );

  /** Of the other operations: 404. */
  const STATUSES: Record<string, number> = {
    createSignInLink: 201,
    // Without the cookie of a sign-in.
    chooseSignInOrganization: 400,
    declineSignInOrganization: 400,
  };

  it.each(withoutBody.map((each) => [title(each), each] as const))(
    "are not required where none is declared: %s",
    async (_, operation) => {
      const expected = STATUSES[operation.operationId] ?? 404;
      const headers = { "sec-fetch-site": "same-origin" };
      expect((await send(operation, unknownIds, undefined, headers)).status).toBe(expected);
      expect((await send(operation, unknownIds, "", headers)).status).toBe(expected);
    },
  );

  it.each(cases)("of %s are refused with an unknown field, by name", async (_, operation) => {
    const reply = await send(operation, ids, { ...exampleBody(operation), surprise: 1 });
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues).toContainEqual({
      path: "surprise",
      message: "Unknown field; remove it.",
    });
  });

  it.each(cases)("of %s are refused under another content type", async (_, operation) => {
    const json = JSON.stringify(exampleBody(operation));
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/problem+json",
      "",
    ];
    const replies = [
      ...(await Promise.all(
        types.map((type) => send(operation, ids, json, { "content-type": type })),
      )),
      await send(operation, ids, new TextEncoder().encode(json)),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(400);
      expect(reply.body.message).toContain("content-type: application/json");
    }
  });

  it.each(cases)("of %s are accepted with parameters in the content type", async (_, operation) => {
    const json = JSON.stringify({ ...exampleBody(operation), surprise: 1 });
    for (const type of ["application/json ; charset=utf-8", "Application/JSON;charset=UTF-8"]) {
      const reply = await send(operation, ids, json, { "content-type": type });
      expect(reply.body.cause.issues.map(({ path }: Parsed) => path)).toContain("surprise");
    }
  });

  it.each(cases)("of %s are refused unless they are JSON objects", async (_, operation) => {
    for (const body of ["{", "", "[]", "null", '"text"', "\ud800"]) {
      const reply = await send(operation, ids, body, { "content-type": "application/json" });
      expect(reply.status).toBe(400);
    }
  });
});

describe("methods", () => {
  const paths = [...new Set(operations.map(({ path }) => path))];
  let keys: SharedKeys;

  // The requests of this file are more than one member may send.
  beforeAll(async () => {
    keys = new SharedKeys(await newWorld());
  });

  it.each(paths)("that %s does not have get 501 with the allowed methods", async (path) => {
    const declared = operations.filter((each) => each.path === path).map(({ method }) => method);
    const allowed = declared.includes("GET") ? [...declared, "HEAD"] : declared;
    const [operation] = operations.filter((each) => each.path === path);
    if (!operation) throw new Error("A path has an operation");
    const lacking = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
      (method) => !allowed.includes(method),
    );
    const isRunners = runnerOperations.includes(operation);
    for (const method of lacking) {
      const client = isRunners ? new Client(ids["runner"]) : await keys.next();
      const reply = await client.request(method, pathWith(operation, ids));
      expect(reply.status).toBe(501);
      expect(reply.body.code).toBe("not_implemented");
      expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(allowed.toSorted());
    }
  });
});
