import { type RouteConfig, z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { jsonReply } from "../../src/document/replies.ts";
import { operation, optionsOf } from "../../src/http/operation.ts";
import { withErrorReplies } from "../../src/http/operation-errors.ts";
import { createRouter } from "../../src/http/router.ts";
import { Conflict } from "../../src/lib/errors.ts";

const BASE = {
  method: "get" as const,
  path: "/things/{id}" as const,
  operationId: "getThing",
  tags: ["Things"],
  summary: "Read a thing",
  scope: "projects:read" as const,
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: jsonReply(z.object({ id: z.string() }), "The thing.") },
};

const { scope: _, ...WITHOUT_SCOPE } = BASE;

describe("an operation", () => {
  it("requires an API key or a session, and has only the extension of its scope by default", () => {
    const route = operation(BASE);
    expect(route).toMatchObject({
      security: [{ api_key: [] }, { session: [] }],
      "x-scope": "projects:read",
    });
    expect(Object.keys(route).filter((name) => name.startsWith("x-"))).toEqual(["x-scope"]);
    expect(route).toMatchObject({ description: "Needs the scope `projects:read`." });
    expect(optionsOf(route)).toEqual({
      credentials: ["api_key", "session"],
      policy: undefined,
      writes: false,
      isRecord: false,
      isPolled: false,
      scope: "projects:read",
    });
  });

  it("may need no scope, if it says so", () => {
    const route = operation({ ...BASE, scope: null });
    expect(Object.keys(route).filter((name) => name.startsWith("x-"))).toEqual([]);
    expect(optionsOf(route)).toMatchObject({ scope: undefined });
  });

  it("publishes its options as OpenAPI extensions", () => {
    const route = operation({ ...WITHOUT_SCOPE, policy: "polling", writes: true, credentials: [] });
    expect(route).toMatchObject({ "x-ratelimit-policy": "polling", "x-writes": true });
    expect(optionsOf(route)).toMatchObject({ credentials: [], policy: "polling", writes: true });
  });

  const errorsOf = (route: RouteConfig) =>
    Object.keys(withErrorReplies(route).responses).filter((status) => Number(status) >= 400);

  it("has the error replies that follow from its credentials, method and parameters", () => {
    const scope = null;
    expect(errorsOf(operation({ ...BASE, scope }))).toEqual(["400", "401", "408", "429", "500"]);
    expect(errorsOf(operation({ ...BASE, method: "delete" }))).toEqual([
      "400",
      "401",
      "403",
      "408",
      "409",
      "429",
      "500",
    ]);
    expect(errorsOf(operation({ ...WITHOUT_SCOPE, method: "post", credentials: [] }))).toEqual([
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
      [...Object.keys(WITHOUT_SCOPE), "description", "security", "x-scope"].toSorted(),
    );
  });

  it("does not compile without a scope, unless it accepts no API key", () => {
    // @ts-expect-error An API key may be narrowed.
    operation(WITHOUT_SCOPE);
    // @ts-expect-error One of the credentials is an API key.
    operation({ ...WITHOUT_SCOPE, credentials: ["runner_token", "api_key"] });
    // @ts-expect-error No scope has this name.
    operation({ ...BASE, scope: "projects:reveal" });
    // @ts-expect-error A runner token has no scopes.
    operation({ ...BASE, credentials: ["runner_token"] });
    operation({ ...WITHOUT_SCOPE, credentials: ["runner_token"] });
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
