import { beforeAll, describe, expect, it } from "vitest";
import { Client, type Reply } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { type Ids, newWorldWithIds, pathWith } from "../support/operations.ts";
import { SharedKeys, type World } from "../support/world.ts";

/** Others add parameters to their URLs. */
const CALLBACKS = ["finishSignIn", "finishSlackInstallation", "showSignInOrganizations"];
const reads = operations.filter(
  ({ method, path, operationId }) =>
    method === "GET" && path.startsWith("/v1/") && !CALLBACKS.includes(operationId),
);
const namesOf = ({ parameters = [] }: Operation) =>
  parameters.filter((each) => each.in === "query").map(({ name }) => name);
const titled = (each: Operation) => [`GET ${each.path}`, each] as const;

/** As people miss the name of a parameter by a little. */
function misspell(name: string): string[] {
  return [
    `${name}[]`,
    `${name}s`,
    name.slice(0, -1),
    name.replace(/./, (first) => first.toUpperCase()),
    name.replace(/(.)/, "$1$1"),
    name.replace("_", "-"),
    name.replace("_", ""),
    ` ${name}`,
  ].filter((each) => each !== name);
}

let world: World;
let ids: Ids;
let keys: SharedKeys;
let sessions: SharedKeys;

beforeAll(async () => {
  ({ world, ids } = await newWorldWithIds());
  keys = new SharedKeys(world);
  sessions = new SharedKeys(world, {}, "session");
});

async function get({ path, security }: Operation, query: string): Promise<Reply> {
  const needs = (credential: string) =>
    security.length > 0 && security.every((each) => credential in each);
  const target = `${pathWith({ path }, ids)}?${query}`;
  if (needs("runner_token")) {
    const client = new Client(ids["runner"]);
    return client.request("GET", target, undefined, { "lease-token": String(ids["lease"]) });
  }
  return (await (needs("session") ? sessions : keys).next()).get(target);
}

function expectUnknown({ status, body }: Reply, path: string, instead: string): void {
  const message = `Unknown query parameter; ${instead}remove it.`;
  expect({ status, code: body.code, issues: body.cause?.issues }).toEqual({
    status: 400,
    code: "bad_input",
    issues: [{ path, message }],
  });
}

describe("a query parameter that the operation does not have", () => {
  it("is tested for every GET below /v1", () => {
    expect(reads.length).toBeGreaterThan(75);
    expect(operations.filter(({ operationId }) => CALLBACKS.includes(operationId))).toHaveLength(3);
  });

  it.each(reads.map(titled))("is refused by %s", async (_, operation) => {
    const names = namesOf(operation);
    const { status, body } = await get(operation, "colour=red");
    expect([status, body.code]).toEqual([400, "bad_input"]);
    const expected = names.length === 0 ? /remove it\.$/ : /^colour: Unknown .*; send \w+, or /;
    expect(body.message).toMatch(expected);
    const head = await (await keys.next()).request("HEAD", `/v1/projects?colour=red`);
    expect(head.status).toBe(400);
  });

  it.each(reads.filter((each) => namesOf(each).length > 0).map(titled))(
    "is refused by %s with the nearest one that it has",
    async (_, operation) => {
      const names = namesOf(operation);
      for (const name of names) {
        for (const misspelled of misspell(name).filter((each) => !names.includes(each))) {
          const reply = await get(operation, `${encodeURIComponent(misspelled)}=1`);
          expectUnknown(reply, misspelled, `send ${name}, or `);
        }
      }
    },
  );

  it("is found beside others, each with an issue of its own, up to 20", async () => {
    const client = await keys.next();
    const { body } = await client.get("/v1/projects?limit=1&Limit=2&afte=x&Limit=3");
    expect(body.cause.issues).toEqual([
      { path: "Limit", message: "Unknown query parameter; send limit, or remove it." },
      { path: "afte", message: "Unknown query parameter; send after, or remove it." },
      { path: "Limit", message: "Unknown query parameter; send limit, or remove it." },
    ]);
    const many = Array.from({ length: 500 }, (_, at) => `x${at}=1`).join("&");
    const long = "y".repeat(8_000);
    const reply = await client.get(`/v1/projects?${many}&${long}=1`);
    expect(reply.body.cause.issues).toHaveLength(20);
    expect(reply.text.length).toBeLessThan(10_000);
  });

  it.each(["__proto__=1", "constructor=1", "%5F_proto__=1", "=1"])(
    "is refused as ?%s",
    async (query) => {
      expect((await (await keys.next()).get(`/v1/projects?${query}`)).status).toBe(400);
    },
  );

  it("is accepted by a list with a single page, if other lists have it", async () => {
    const paths = [
      `/v1/projects/${ids["project_id"]}/notification-integrations`,
      `/v1/orgs/${world.id}/approvals`,
      `/v1/deployments/${ids["deployment_id"]}/approvals`,
    ];
    for (const path of paths) {
      const { status, body } = await (await keys.next()).get(
        `${path}?limit=1&sort_by=created_at&after=x`,
      );
      expect([status, body.has_more]).toEqual([200, false]);
      expect((await (await keys.next()).get(`${path}?limits=1`)).status).toBe(400);
    }
    const one = `/v1/projects/${ids["project_id"]}?limit=1`;
    expect((await (await keys.next()).get(one)).status).toBe(400);
  });
});

describe("a query parameter that is sent twice", () => {
  const several = reads.flatMap((operation) =>
    (operation.parameters ?? [])
      .filter((each) => each.in === "query" && each.schema["type"] !== "array")
      .map(({ name }) => [`${name} of GET ${operation.path}`, operation, name] as const),
  );

  it.each(several)("is refused with what to do: %s", async (_, operation, name) => {
    const { status, body } = await get(operation, `${name}=1&${name}=2`);
    expect(status).toBe(400);
    expect(body.cause.issues).toEqual([{ path: name, message: "Send it once." }]);
  });

  it("is accepted if it is a filter with several values, each of which is checked", async () => {
    const client = await keys.next();
    const path = "/v1/deployments?status=queued";
    expect((await client.get(`${path}&status=failed`)).status).toBe(200);
    const { body } = await client.get(`${path}&status=paused`);
    expect(body.cause.issues[0].path).toBe("status.1");
    expect(body.message).not.toContain("once");
  });
});

describe("a time with an offset in a query", () => {
  const times = reads.flatMap((operation) =>
    (operation.parameters ?? [])
      .filter((each) => each.in === "query" && each.schema["format"] === "date-time")
      .map(({ name }) => [`${name} of GET ${operation.path}`, operation, name] as const),
  );

  it.each(times)("needs its + encoded, as the error says: %s", async (_, operation, name) => {
    const { status, body } = await get(operation, `${name}=2027-01-31T00:00:00+00:00`);
    expect(status).toBe(400);
    expect(body.cause.issues).toEqual([
      { path: name, message: expect.stringMatching(/ Encode \+ as %2B\.$/) },
    ]);
    expect((await get(operation, `${name}=2027-01-31T00:00:00%2B00:00`)).status).toBe(200);
    const other = await get(operation, `${name}=2027-01-31`);
    expect(other.body.message).not.toContain("%2B");
  });

  it("is in the events and in the audit log", () => {
    expect(times.length).toBeGreaterThanOrEqual(6);
  });
});
