import { beforeAll, describe, expect, it } from "vitest";
import {
  accepting,
  authenticatedOperations,
  runnerOperations,
  title,
} from "../support/authenticated-operations.ts";
import { Client } from "../support/client.ts";
import { errorExamples, exampleBody, operations } from "../support/contract.ts";
import { type Ids, newIds, pathWith } from "../support/operations.ts";
import { newWorld, type World } from "../support/world.ts";

let world: World;
let ids: Ids;

beforeAll(async () => {
  world = await newWorld();
  ids = await newIds(world);
});

describe("authentication", () => {
  it("is not required for these operations only", () => {
    const open = operations
      .filter((operation) => !authenticatedOperations.includes(operation))
      .map(title);
    expect(open.toSorted()).toEqual([
      "GET /health",
      "GET /invitations/{token}",
      "GET /metrics",
      "GET /openapi.json",
      "GET /sign-in",
      "GET /sign-in/{token}",
      "GET /v1/sign-in-methods",
      "GET /v1/sign-in/callback",
      "GET /v1/sign-in/organizations",
      "GET /v1/slack/callback",
      "POST /invitations/{token}",
      "POST /sign-in/{token}",
      "POST /v1/bootstrap",
      "POST /v1/invitations/accept",
      "POST /v1/oidc/token",
      "POST /v1/sessions",
      "POST /v1/sign-in/organizations/{org_id}",
      "POST /v1/sign-in/organizations/{org_id}/decline",
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
      expect(errorExamples(operation, 401)).toContainEqual(reply.body);
    },
  );
});

describe("the runner API", () => {
  it.each(runnerOperations.map((each) => [title(each), each] as const))(
    "answers 401 with the directive stop to %s with an API key",
    async (_, operation) => {
      const path = pathWith(operation, ids);
      const reply = await world.client.request(operation.method, path, exampleBody(operation));
      expect([reply.status, reply.body.code]).toEqual([401, "unauthenticated"]);
      expect(reply.headers.get("deployment-desired")).toBe("stop");
    },
  );

  const acceptingToken = accepting("runner_token");

  it("and the report of an alarm are the only operations that declare a runner token", () => {
    const others = acceptingToken.filter((each) => !runnerOperations.includes(each)).map(title);
    expect(others).toEqual(["PUT /v1/stacks/{stack_id}/alarms/{name}"]);
  });

  it.each(
    operations
      .filter((each) => each.security.length > 0 && !acceptingToken.includes(each))
      .map((each) => [title(each), each] as const),
  )(
    "and that report are the only operations that accept a runner token: %s answers 401",
    async (_, operation) => {
      const path = pathWith(operation, ids);
      const client = new Client(ids["runner"]);
      const reply = await client.request(operation.method, path, exampleBody(operation));
      expect([reply.status, reply.body.code]).toEqual([401, "unauthenticated"]);
    },
  );
});
