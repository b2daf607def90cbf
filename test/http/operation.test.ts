import { type RouteConfig, z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { operation, optionsOf } from "../../src/http/operation.ts";
import { withErrorReplies } from "../../src/http/operation-errors.ts";
import { jsonReply } from "../../src/http/replies.ts";
import { createRouter } from "../../src/http/router.ts";
import { Conflict } from "../../src/lib/errors.ts";

const BASE = {
  method: "get" as const,
  path: "/things/{id}" as const,
  operationId: "getThing",
  tags: ["Things"],
  summary: "Read a thing",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: jsonReply(z.object({ id: z.string() }), "The thing.") },
};

describe("an operation", () => {
  it("requires an API key and has no extensions by default", () => {
    const route = operation(BASE);
    expect(route).toMatchObject({ security: [{ api_key: [] }] });
    expect(Object.keys(route).filter((name) => name.startsWith("x-"))).toEqual([]);
    expect(optionsOf(route)).toEqual({
      credentials: ["api_key"],
      policy: undefined,
      writes: false,
    });
  });

  it("publishes its options as OpenAPI extensions", () => {
    const route = operation({ ...BASE, policy: "polling", writes: true, credentials: [] });
    expect(route).toMatchObject({ "x-ratelimit-policy": "polling", "x-writes": true });
    expect(optionsOf(route)).toEqual({ credentials: [], policy: "polling", writes: true });
  });

  const errorsOf = (route: RouteConfig) =>
    Object.keys(withErrorReplies(route).responses).filter((status) => Number(status) >= 400);

  it("has the error replies that follow from its credentials, method and parameters", () => {
    expect(errorsOf(operation(BASE))).toEqual(["400", "401", "408", "429", "500"]);
    expect(errorsOf(operation({ ...BASE, method: "delete" }))).toEqual([
      "401",
      "408",
      "409",
      "429",
      "500",
    ]);
    expect(errorsOf(operation({ ...BASE, method: "post", credentials: [] }))).toEqual([
      "400",
      "429",
      "500",
    ]);
  });

  it("has the error replies of its options, and publishes none of these options", () => {
    const errors = { taken: new Conflict("Choose another name.") };
    const route = operation({ ...BASE, role: "viewer", notFound: ["thing"], errors });
    expect(errorsOf(route)).toEqual(["400", "401", "403", "404", "408", "409", "429", "500"]);
    expect(route).toMatchObject({ description: expect.stringContaining("`viewer`") });
    expect(Object.keys(withErrorReplies(route)).toSorted()).toEqual(
      [...Object.keys(BASE), "description", "security"].toSorted(),
    );
  });

  it("does not compile with an unknown policy, option or credential", () => {
    // @ts-expect-error No policy has this name.
    operation({ ...BASE, policy: "poling" });
    // @ts-expect-error No option has this name.
    operation({ ...BASE, polcy: "polling" });
    // @ts-expect-error Extensions are set by options.
    operation({ ...BASE, "x-writes": true });
    // @ts-expect-error No security scheme has this name.
    operation({ ...BASE, credentials: ["api_keys"] });
  });

  it("types the parameters and the response of its handler", () => {
    const route = operation(BASE);
    createRouter().openapi(route, (c) => c.json({ id: c.req.valid("param").id }, 200));
    // @ts-expect-error The schema of the reply has `id`.
    createRouter().openapi(route, (c) => c.json({ name: c.req.valid("param").id }, 200));
  });
});
