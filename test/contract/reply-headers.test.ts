import { beforeAll, describe, expect, it } from "vitest";
import { CROSS_ORIGIN } from "../../src/lib/header-errors.ts";
import { Client, newAddress, type Reply } from "../support/client.ts";
import {
  errorExamples,
  type Operation,
  openApi,
  operations,
  resolve,
} from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { type Ids, newIds, pathWith } from "../support/operations.ts";
import { newWorld, signIn, type World } from "../support/world.ts";

const title = ({ method, path }: Operation) => `${method} ${path}`;
const titled = (all: readonly Operation[]) => all.map((each) => [title(each), each] as const);
const DOCUMENTED: Record<string, { description: string }> = openApi.components.headers;

const authenticated = operations.filter(({ security }) =>
  security.some((each) => "session" in each || "runner_token" in each),
);
const writesOfSessions = operations.filter(
  (each) =>
    each.security.some((one) => "session" in one) &&
    errorExamples(each, 403).some(({ message }) => message === CROSS_ORIGIN.message),
);
const withoutFeature = operations.filter(({ responses }) => "501" in responses);

/** In lower case. */
function documentedHeaders({ responses }: Operation, status: number): string[] {
  const { headers = {} } = resolve(responses[String(status)] ?? {});
  return Object.keys(headers as object)
    .map((name) => name.toLowerCase())
    .toSorted();
}

/** Of the headers that the document names anywhere, and `Allow`. */
function sentHeaders({ headers }: Pick<Reply, "headers">): string[] {
  const all = [...Object.keys(DOCUMENTED), "Allow"].map((name) => name.toLowerCase());
  return all.filter((name) => headers.has(name)).toSorted();
}

const mayBeAbsent = (name: string) => {
  const [, header] = Object.entries(DOCUMENTED).find(([key]) => key.toLowerCase() === name) ?? [];
  return header?.description.includes("Absent if the request ") === true;
};

let world: World;
let ids: Ids;

beforeAll(async () => {
  world = await newWorld();
  ids = await newIds(world);
});

describe("the documented headers of a reply", () => {
  it.each(titled(authenticated))(
    "without a credential are those that it has: %s",
    async (_, operation) => {
      const client = new Client(undefined);
      const reply = await client.request(operation.method, pathWith(operation, ids));
      expect(reply.status).toBe(401);
      expect(sentHeaders(reply)).toEqual(documentedHeaders(operation, 401));
    },
  );

  it("with a credential have the rate limit", async () => {
    const reply = await world.client.get("/v1/orgs");
    const operation = operations.find((each) => title(each) === "GET /v1/orgs");
    if (!operation) throw new Error("There is no such operation");
    expect(sentHeaders(reply)).toEqual(documentedHeaders(operation, 200));
    expect(sentHeaders(reply)).toContain("x-ratelimit-remaining");
  });

  it("of a request from another origin may be absent: all that concern the credential", async () => {
    const { client } = await signIn(world);
    expect(writesOfSessions.length).toBeGreaterThan(50);
    for (const operation of writesOfSessions) {
      const headers = { "sec-fetch-site": "cross-site" };
      const path = pathWith(operation, ids);
      const reply = await client.request(operation.method, path, undefined, headers);
      expect([title(operation), reply.status]).toEqual([title(operation), 403]);
      const documented = documentedHeaders(operation, 403);
      const sent = sentHeaders(reply);
      expect(sent.filter((name) => !documented.includes(name))).toEqual([]);
      expect(documented.filter((name) => !sent.includes(name) && !mayBeAbsent(name))).toEqual([]);
      expect(sent.filter((name) => name.includes("ratelimit"))).toEqual([]);
    }
  });

  it.each(titled(withoutFeature))(
    "of an installation without the feature are those that it has: %s",
    async (_, operation) => {
      const settings = { SLACK_CLIENT_ID: "", OIDC_ISSUER: "", OIDC_CLIENT_ID: "" };
      const worker = new Instrumented({ settings });
      const isCallback = operation.parameters?.some(({ name }) => name === "code") === true;
      const query = isCallback ? "?code=a&state=b" : "";
      const url = `https://longshore.test${pathWith(operation, ids)}${query}`;
      const headers = { "x-api-key": String(world.client.key), "cf-connecting-ip": newAddress() };
      const response = await worker.fetch(new Request(url, { headers }));
      expect(response.status).toBe(501);
      expect(documentedHeaders(operation, 501)).not.toContain("allow");
      const sent = sentHeaders(response);
      const documented = documentedHeaders(operation, 501);
      expect(documented.filter((name) => !sent.includes(name) && !mayBeAbsent(name))).toEqual([]);
      expect(sent.filter((name) => !documented.includes(name))).toEqual([]);
    },
  );

  it("of a method that a path does not have includes Allow, which no operation has", async () => {
    const reply = await world.client.request("PATCH", "/v1/orgs");
    expect([reply.status, reply.headers.get("allow")]).toEqual([501, "POST, GET, HEAD"]);
    expect(DOCUMENTED).not.toHaveProperty("Allow");
  });
});
