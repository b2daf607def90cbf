import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { ERRORS } from "../src/lib/errors.ts";
import { newId } from "../src/lib/ids.ts";
import { Client } from "./support/client.ts";
import {
  exampleBody,
  type Operation,
  openApi,
  operations,
  requiresFields,
} from "./support/contract.ts";
import { Attempt } from "./support/runner.ts";
import {
  connect,
  join,
  newDeployment,
  newInside,
  newKey,
  newPool,
  newProject,
  newResource,
  newWorld,
  type World,
} from "./support/world.ts";

const needing = (credential: string) =>
  operations.filter(({ security }) => security.some((each) => credential in each));
const forRunners = needing("runner_token");
const behindGate = [...needing("api_key"), ...forRunners];
const title = ({ method, path }: Operation) => `${method} ${path}`;

/** An ID for every path parameter there is, all of one organization. */
type Ids = Record<string, string>;

async function newIds(world: World): Promise<Ids> {
  const project = await newProject(world.client);
  const member = await join(world);
  await world.client.post(`/v1/projects/${project.id}/members`, {
    member_ids: [member.membershipId],
  });
  const inside = await newInside(world.client, project.default_environment_id);
  const pool = await newPool(world, [project.default_environment_id]);
  await connect(world.client, project.id);
  const deployment = await newDeployment(world.client, project.default_environment_id);
  const attempt = await Attempt.started(pool.runner);
  return {
    ...inside,
    deployment: deployment.id,
    resource: await newResource(String(inside["stack_id"])),
    attempt_id: attempt.claimed.attempt_id,
    lease: attempt.claimed.lease_token,
    runner: String(pool.runner.key),
    pool_id: pool.id,
    token_id: pool.tokenId,
    org_id: world.id,
    project_id: project.id,
    member_id: member.membershipId,
    membership_id: member.membershipId,
    key_id: member.keyId,
  };
}

const whatIdNames = ({ path }: Operation) =>
  path.includes("/resources") ? "resource" : "deployment";

const pathWith = (operation: Operation, ids: Ids) =>
  operation.path.replaceAll(/\{(.+?)\}/g, (_, name: string) => {
    const id = ids[name === "id" ? whatIdNames(operation) : name];
    if (!id) throw new Error(`The contract suite has no ID for {${name}}`);
    return id;
  });

const parametersOf = (operation: Operation) =>
  [...operation.path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));

let world: World;
let ids: Ids;
let foreignIds: Ids;

beforeAll(async () => {
  world = await newWorld();
  ids = await newIds(world);
  foreignIds = await newIds(await newWorld());
});

/** Sends an operation with the credential that it takes, and a runner's with its lease. */
async function send(operation: Operation, parameters: Ids, body?: unknown, headers = {}) {
  const path = pathWith(operation, parameters);
  const client = await clientFor(operation);
  const lease = forRunners.includes(operation) && { "lease-token": String(ids["lease"]) };
  return client.request(operation.method, path, body, { ...headers, ...lease });
}

async function clientFor({ path }: Operation): Promise<Client> {
  return path.startsWith("/v1/runner/") ? new Client(ids["runner"]) : (await newKey(world)).client;
}

describe("the document", () => {
  it("is OpenAPI 3.1 and names every operation once", () => {
    expect(openApi.openapi).toBe("3.1.0");
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(operations.length);
  });

  it.each(operations.map((each) => [title(each), each] as const))(
    "describes %s in full",
    (_, operation) => {
      expect(operation.summary).not.toBe("");
      expect(operation.tags).toHaveLength(1);
      const statuses = [...new Set(Object.values(ERRORS).map(({ status }) => String(status)))];
      const errors = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
      expect(errors.toSorted()).toEqual(statuses.toSorted());
      if (operation.requestBody) {
        expect(operation.requestBody.required).toBe(true);
        expect(exampleBody(operation)).toBeTypeOf("object");
      }
    },
  );

  it("is served as it is", async () => {
    const reply = await new Client(undefined).get("/openapi.json");
    expect(reply.body).toEqual(openApi);
  });
});

describe("authentication", () => {
  it("leaves open only what needs no key", () => {
    const open = operations.filter((operation) => !behindGate.includes(operation)).map(title);
    expect(open.toSorted()).toEqual([
      "GET /docs",
      "GET /health",
      "GET /openapi.json",
      "POST /v1/bootstrap",
    ]);
  });

  const closed = operations.filter(({ security }) => security.length > 0);
  it.each(closed.map((each) => [title(each), each] as const))(
    "answers 401 to %s without a credential",
    async (_, operation) => {
      const reply = await new Client(undefined).request(
        operation.method,
        pathWith(operation, ids),
        exampleBody(operation),
      );
      expect(reply.status).toBe(401);
      expect(reply.body.code).toBe("unauthenticated");
    },
  );
});

describe("the runner plane", () => {
  it.each(forRunners.map((each) => [title(each), each] as const))(
    "answers 401 to %s with an API key, and says to stop",
    async (_, operation) => {
      const path = pathWith(operation, ids);
      const reply = await world.client.request(operation.method, path, exampleBody(operation));
      expect([reply.status, reply.body.code]).toEqual([401, "unauthenticated"]);
      expect(reply.headers.get("deployment-desired")).toBe("stop");
    },
  );

  const opened = operations
    .filter(({ method }) => method === "GET")
    .filter((each) => !forRunners.includes(each));
  it.each(
    opened
      .filter(({ security }) => security.length > 0)
      .map((each) => [title(each), each] as const),
  )("is all that a runner token opens: %s answers it 401", async (_, operation) => {
    const reply = await new Client(ids["runner"]).get(pathWith(operation, ids));
    expect([reply.status, reply.body.code]).toEqual([401, "unauthenticated"]);
  });
});

describe("tenancy", () => {
  const cases = behindGate.flatMap((operation) =>
    parametersOf(operation).map((name) => [title(operation), name, operation] as const),
  );

  it.each(cases)("answers %s alike for a foreign {%s} and for none", async (_, name, operation) => {
    const key = name === "id" ? whatIdNames(operation) : name;
    const answerTo = async (id: string) => {
      const reply = await send(operation, { ...ids, [key]: id }, exampleBody(operation));
      return { status: reply.status, text: reply.text, headers: stableHeaders(reply.headers) };
    };
    const foreign = await answerTo(String(foreignIds[key]));
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(await answerTo(newId(systemClock)));
  });

  function stableHeaders(headers: Headers): Record<string, string> {
    const changing = /^(x-request-id|x-d1-bookmark|(x-)?ratelimit.*)$/;
    return Object.fromEntries([...headers].filter(([name]) => !changing.test(name)));
  }
});

describe("bodies", () => {
  const withBody = behindGate.filter(({ requestBody }) => requestBody);
  const cases = withBody.map((each) => [title(each), each] as const);
  const needy = withBody.filter(requiresFields).map((each) => [title(each), each] as const);

  it.each(needy)("of %s are refused when empty", async (_, operation) => {
    const reply = await send(operation, ids, {});
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues.length).toBeGreaterThan(0);
  });

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
    for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
      const reply = await send(operation, ids, json, { "content-type": type });
      expect(reply.status).toBe(400);
      expect(reply.body.message).toContain("application/json");
    }
  });

  it.each(cases)("of %s are refused when they are no JSON object", async (_, operation) => {
    for (const body of ["{", "", "[]", "null", '"text"', "\ud800"]) {
      const reply = await send(operation, ids, body, { "content-type": "application/json" });
      expect(reply.status).toBe(400);
    }
  });
});

describe("methods", () => {
  const paths = [...new Set(operations.map(({ path }) => path))];

  it.each(paths)("that %s lacks are 501, with those it has", async (path) => {
    const declared = operations.filter((each) => each.path === path).map(({ method }) => method);
    const allowed = declared.includes("GET") ? [...declared, "HEAD"] : declared;
    const [operation] = operations.filter((each) => each.path === path);
    if (!operation) throw new Error("A path has an operation");
    const lacking = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
      (method) => !allowed.includes(method),
    );
    const client = await clientFor(operation);
    for (const method of lacking) {
      const reply = await client.request(method, pathWith(operation, ids));
      expect(reply.status).toBe(501);
      expect(reply.body.code).toBe("not_implemented");
      expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(allowed.toSorted());
    }
  });
});
