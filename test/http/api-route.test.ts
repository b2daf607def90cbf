import { z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { type Operation, toRoute } from "../../src/document/route.ts";
import { presentComponent } from "../../src/features/projects/components/presenters.ts";
import { Component } from "../../src/features/projects/components/schemas.ts";
import { getComponent, listComponents } from "../../src/features/projects/components/service.ts";
import { apiRoute } from "../../src/http/api-route.ts";
import { credentialsOf } from "../../src/http/declared.ts";
import { toPageRequest } from "../../src/http/pagination.ts";
import { ComponentParams } from "../../src/http/params.ts";
import { json, ok } from "../../src/http/replies.ts";
import { createRouter } from "../../src/http/router.ts";
import { Conflict } from "../../src/lib/errors.ts";

const BASE = {
  method: "get" as const,
  path: "/things/{id}" as const,
  operationId: "getThing" as const,
  tags: ["Things"],
  summary: "Read a thing",
  access: { scope: "projects:read" } as const,
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(z.object({ id: z.string() }), "The thing.") },
};

const extensionsOf = (route: object) => Object.keys(route).filter((name) => name.startsWith("x-"));

describe("a route", () => {
  it("requires an API key or a session, and has only the extension of its scope by default", () => {
    const route = toRoute(BASE);
    expect(route).toMatchObject({
      security: [{ api_key: [] }, { session: [] }],
      "x-scope": "projects:read",
    });
    expect(extensionsOf(route)).toEqual(["x-scope"]);
    expect(route).toMatchObject({ description: "Needs the scope `projects:read`." });
    expect(credentialsOf(BASE.access)).toEqual(["api_key", "session"]);
  });

  it("may need no scope, if it says so", () => {
    const route = toRoute({ ...BASE, access: { scope: null } });
    expect(extensionsOf(route)).toEqual([]);
    expect(route.description).toBeUndefined();
  });

  it("publishes its options as OpenAPI extensions", () => {
    const route = toRoute({ ...BASE, policy: "polling", writes: true, access: "public" });
    expect(route).toMatchObject({ "x-ratelimit-policy": "polling", "x-writes": true });
    expect(route.security).toEqual([]);
  });

  const errorsOf = (declared: Operation) =>
    Object.keys(toRoute(declared).responses).filter((status) => Number(status) >= 400);

  it("has the error replies that follow from its credentials, method and parameters", () => {
    expect(errorsOf({ ...BASE, access: { scope: null } })).toEqual([
      ...["400", "401", "408", "429", "500"],
    ]);
    expect(errorsOf({ ...BASE, method: "delete" })).toEqual([
      ...["400", "401", "403", "408", "409", "429", "500"],
    ]);
    expect(errorsOf({ ...BASE, method: "post", access: "public" })).toEqual(["400", "429", "500"]);
  });

  it("has the error replies that it declares, and publishes none of these options", () => {
    const errors = { taken: new Conflict("Choose another name.") };
    const access = { scope: "projects:read", role: "viewer" } as const;
    const declared = { ...BASE, access, notFound: ["thing"], errors };
    expect(errorsOf(declared)).toEqual([
      ...["400", "401", "403", "404", "408", "409", "429", "500"],
    ]);
    const route = toRoute(declared);
    expect(route).toMatchObject({ description: expect.stringContaining("`viewer`") });
    const names = ["method", "path", "operationId", "tags", "summary", "description", "security"];
    expect(Object.keys(route).toSorted()).toEqual(
      [...names, "x-scope", "request", "responses"].toSorted(),
    );
  });

  it("does not compile without access, or with an unknown scope, policy or option", () => {
    const { access: _, ...withoutAccess } = BASE;
    // @ts-expect-error Who may call it has to be said.
    apiRoute(withoutAccess);
    // @ts-expect-error No scope has this name.
    apiRoute({ ...BASE, access: { scope: "projects:reveal" } });
    // @ts-expect-error A runner token has no scopes.
    apiRoute({ ...BASE, access: "runner_token" });
    // @ts-expect-error No policy has this name.
    apiRoute({ ...BASE, policy: "poling" });
    // @ts-expect-error No option has this name.
    apiRoute({ ...BASE, polcy: "polling" });
    expect(apiRoute(BASE).getRoutingPath()).toBe("/things/:id");
  });
});

const get = apiRoute({
  method: "get",
  path: "/v1/components/{component_id}",
  operationId: "getComponent",
  tags: ["Components"],
  summary: "Read a component",
  access: { scope: "environments:read" },
  resource: true,
  request: { params: ComponentParams },
  responses: { 200: json(Component, "The component.") },
});

/** What does not compile: `npm run check` fails if it does. */
const REFUSED = [
  () =>
    createRouter().openapi(get, (c) =>
      // @ts-expect-error The schema of the response describes more fields.
      ok(
        c,
        (ctx) => getComponent(ctx, c.req.valid("param").component_id),
        ({ id }) => ({ id }),
      ),
    ),
  () =>
    createRouter().openapi(
      get,
      // @ts-expect-error The response has a body.
      (c) => c.body(null, 204),
    ),
  () =>
    createRouter().openapi(get, (c) =>
      ok(
        c,
        (ctx) => getComponent(ctx, c.req.valid("param").component_id),
        // @ts-expect-error The context has no such field.
        (row, ctx) => ({ ...presentComponent(row), missing: ctx.missing }),
      ),
    ),
  () =>
    createRouter().openapi(get, (c) =>
      ok(
        c,
        // @ts-expect-error The verb returns a page.
        (ctx) => listComponents(ctx, c.req.valid("param").component_id, toPageRequest({})),
        presentComponent,
      ),
    ),
  () =>
    createRouter().openapi(get, (c) =>
      ok(
        c,
        // @ts-expect-error The operation has no such parameter.
        (ctx) => getComponent(ctx, c.req.valid("param").stack_id),
        presentComponent,
      ),
    ),
  () =>
    createRouter().openapi(get, (c) =>
      ok(
        c,
        // @ts-expect-error A handler reaches no binding of the Worker.
        (ctx) => getComponent({ ...ctx, db: c.env.DB }, c.req.valid("param").component_id),
        presentComponent,
      ),
    ),
];

it("a handler that does not do what its route declares is refused by the types alone", () => {
  for (const refused of REFUSED) expect(refused().routes.length).toBeGreaterThan(1);
});
