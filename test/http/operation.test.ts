import { z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import type { OperationDocument } from "../../src/document/feature-document.ts";
import { jsonReply } from "../../src/document/replies.ts";
import { toRoute } from "../../src/document/route.ts";
import { credentialsOf, type Operation, operation } from "../../src/http/operation.ts";
import { createRouter } from "../../src/http/router.ts";
import { Conflict } from "../../src/lib/errors.ts";

const BASE = {
  method: "get" as const,
  path: "/things/{id}" as const,
  operationId: "getThing" as const,
  scope: "projects:read" as const,
  request: () => ({ params: z.object({ id: z.string() }) }),
};

const { scope: _, ...WITHOUT_SCOPE } = BASE;

const DOCUMENT = {
  tags: ["Things"],
  summary: "Read a thing",
  responses: { 200: jsonReply(z.object({ id: z.string() }), "The thing.") },
} satisfies OperationDocument;

const extensionsOf = (route: object) => Object.keys(route).filter((name) => name.startsWith("x-"));

describe("an operation", () => {
  it("requires an API key or a session, and has only the extension of its scope by default", () => {
    const route = toRoute(operation(BASE), DOCUMENT);
    expect(route).toMatchObject({
      security: [{ api_key: [] }, { session: [] }],
      "x-scope": "projects:read",
    });
    expect(extensionsOf(route)).toEqual(["x-scope"]);
    expect(route).toMatchObject({ description: "Needs the scope `projects:read`." });
    expect(credentialsOf(operation(BASE))).toEqual(["api_key", "session"]);
  });

  it("may need no scope, if it says so", () => {
    const route = toRoute(operation({ ...BASE, scope: null }), DOCUMENT);
    expect(extensionsOf(route)).toEqual([]);
    expect(route.description).toBeUndefined();
  });

  it("publishes its options as OpenAPI extensions", () => {
    const open = operation({ ...WITHOUT_SCOPE, policy: "polling", writes: true, credentials: [] });
    const route = toRoute(open, DOCUMENT);
    expect(route).toMatchObject({ "x-ratelimit-policy": "polling", "x-writes": true });
    expect(route.security).toEqual([]);
  });

  const errorsOf = (declared: Operation, document: OperationDocument = DOCUMENT) =>
    Object.keys(toRoute(declared, document).responses).filter((status) => Number(status) >= 400);

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

  it("has the error replies of its document, and publishes none of these options", () => {
    const errors = { taken: new Conflict("Choose another name.") };
    const document = { ...DOCUMENT, role: "viewer" as const, notFound: ["thing"], errors };
    const declared = operation(BASE);
    expect(errorsOf(declared, document)).toEqual([
      "400",
      "401",
      "403",
      "404",
      "408",
      "409",
      "429",
      "500",
    ]);
    const route = toRoute(declared, document);
    expect(route).toMatchObject({ description: expect.stringContaining("`viewer`") });
    const names = ["method", "path", "operationId", "tags", "summary", "description", "security"];
    expect(Object.keys(route).toSorted()).toEqual(
      [...names, "x-scope", "request", "responses"].toSorted(),
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
    interface Documented extends Record<"getThing", typeof DOCUMENT> {}
    const declared = operation(BASE);
    createRouter<Documented>().openapi(declared, (c) =>
      c.json({ id: c.req.valid("param").id }, 200),
    );
    createRouter<Documented>().openapi(
      declared,
      // @ts-expect-error The schema of the reply has `id`.
      (c) => c.json({ name: c.req.valid("param").id }, 200),
    );
    // @ts-expect-error The operation is not documented.
    createRouter<Documented>().openapi({ ...declared, operationId: "putThing" }, (c) => c.text(""));
  });
});
