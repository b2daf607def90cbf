import { describe, expect, it } from "vitest";
import { isList } from "../support/all-reads.ts";
import { type Operation, operations, resolve } from "../support/contract.ts";
import { isRead, prepare, withApiKey } from "../support/operation-requests.ts";
import { newDeployableProject, newDeployment, newKey, newWorld } from "../support/world.ts";

const reads = withApiKey.filter(isRead);
const polled = reads.filter((each) => each["x-polled"] === true);
const named = (each: Operation) => [each.operationId, each] as const;

/** The lists that a page repeats while it is open. Add a new one deliberately. */
const POLLED = [
  "getProjectOverview",
  "listAlarms",
  "listChangelog",
  "listDeliveries",
  "listDeployments",
  "listEnvironmentDeployments",
  "listEnvironmentResources",
  "listEnvironments",
  "listIntegrations",
  "listPendingApprovals",
  "listProjects",
  "listRecoveries",
  "listRunnerPoolAttempts",
  "listRunnerPoolRunners",
  "listRunnerTokens",
  "listStackDeployments",
  "listStackResources",
];

describe("a polled read", () => {
  it("is one of the table, and none of them is one record", () => {
    expect(polled.map(({ operationId }) => operationId).toSorted()).toEqual(POLLED);
    expect(polled.filter((each) => each["x-record"])).toEqual([]);
  });

  it("declares the header, the tag and the 304, as a record does, and no other list does", () => {
    const declaring = operations.filter(({ responses }) => responses["304"]);
    const expected = reads.filter((each) => each["x-polled"] || each["x-record"]);
    expect(declaring).toEqual(expected);
    for (const { parameters = [], responses, operationId } of polled) {
      const names = parameters.map((each) => resolve(each)["name"]);
      expect(names, operationId).toContain("If-None-Match");
      for (const status of ["200", "304"]) {
        const { headers } = resolve(responses[status] ?? {}) as { headers: object };
        expect(Object.keys(headers), `${operationId} ${status}`).toContain("ETag");
      }
    }
  });

  it.each(polled.map(named))(
    "%s has a weak tag, with which its repeat is a 304 that counts",
    async (_, each) => {
      const { send } = await prepare(each);
      const first = await send();
      const etag = String(first.headers.get("etag"));
      expect(etag).toMatch(/^W\/"[0-9a-f]{24}"$/);
      const [, opaque] = etag.split("W/");
      const compressed = etag.replace(/"$/, '-gzip"');
      for (const header of [etag, String(opaque), compressed, `"other", ${etag}`, "*"]) {
        for (const method of ["GET", "HEAD"]) {
          const repeated = await send({ method, headers: { "if-none-match": header } });
          expect(repeated).toMatchObject({ status: 304, text: "" });
          expect(repeated.headers.get("etag")).toBe(etag);
          expect(repeated.headers.get("cache-control")).toBe("private, no-store");
          expect(repeated.headers.has("content-type")).toBe(false);
        }
      }
      const remaining = ({ headers }: typeof first) => Number(headers.get("x-ratelimit-remaining"));
      const last = await send({ headers: { "if-none-match": etag } });
      expect(remaining(first) - remaining(last)).toBe(11);
    },
  );

  it.each(polled.map(named))("%s is sent in full with other tags", async (_, each) => {
    const { send } = await prepare(each);
    const { text, headers } = await send();
    for (const header of ['"other"', `W/"${"0".repeat(24)}"`]) {
      const reply = await send({ headers: { "if-none-match": header } });
      expect(reply).toMatchObject({ status: 200, text });
      expect(reply.headers.get("etag")).toBe(headers.get("etag"));
    }
    const malformed = await send({ headers: { "if-none-match": "abc" } });
    expect(malformed).toMatchObject({ status: 400, body: { code: "bad_input" } });
  });

  const others = reads.filter((each) => isList(each) && !each["x-polled"]);

  it.each(others.map(named))("is not %s, which has no tag", async (_, each) => {
    const { send } = await prepare(each);
    const reply = await send({ headers: { "if-none-match": "*" } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get("etag")).toBeNull();
  });
});

describe("the tag of a list", () => {
  it("covers the page that the parameters select, and what a runner changes on it", async () => {
    const world = await newWorld();
    const { environmentId } = await newDeployableProject(world);
    const path = `/v1/environments/${environmentId}/deployments`;
    const { client } = await newKey(world);
    const tagOf = async (query: string) =>
      String((await client.get(`${path}${query}`)).headers.get("etag"));
    const queries = ["", "?limit=1", "?limit=1&sort_by=%2Bcreated_at", "?status=queued"];
    await newDeployment(world.client, environmentId, { queue: "fifo" });
    const second = await newDeployment(world.client, environmentId, { queue: "fifo" });
    const before = await Promise.all(queries.map(tagOf));
    expect(new Set(before).size).toBe(3);
    expect(await Promise.all(queries.map(tagOf))).toEqual(before);
    await world.client.patch(`/v1/deployments/${second.id}/cancel`);
    const after = await Promise.all(queries.map(tagOf));
    const changed = after.map((tag, at) => tag !== before[at]);
    expect(changed).toEqual([true, true, false, true]);
  });

  it("is not that of an error", async () => {
    const { client } = await newKey(await newWorld());
    const path = "/v1/projects/1111111111111111111111/environments";
    const reply = await client.request("GET", path, undefined, { "if-none-match": "*" });
    expect(reply.status).toBe(404);
    expect(reply.headers.get("etag")).toBeNull();
  });
});
