import { expect, it } from "vitest";
import type { Documented } from "../../src/features/projects/components/document.ts";
import { presentComponent } from "../../src/features/projects/components/presenters.ts";
import { ComponentInput } from "../../src/features/projects/components/schemas.ts";
import {
  createComponent,
  getComponent,
  listComponents,
} from "../../src/features/projects/components/service.ts";
import { jsonBody } from "../../src/http/bodies.ts";
import { operation } from "../../src/http/operation.ts";
import { toPageRequest } from "../../src/http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../src/http/params.ts";
import { createRouter } from "../../src/http/router.ts";

const GET = {
  method: "get",
  path: "/v1/components/{component_id}",
  operationId: "getComponent",
  resource: true,
  scope: "environments:read",
  request: () => ({ params: ComponentParams() }),
} as const;

const CREATE = {
  method: "post",
  path: "/v1/environments/{environment_id}/components",
  operationId: "createComponent",
  status: 201,
  resource: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(ComponentInput()) }),
} as const;

const get = operation({ ...GET, present: presentComponent });

/** What does not compile: `npm run check` fails if it does. */
const REFUSED = [
  () =>
    createRouter<Documented>().handle(
      // @ts-expect-error The document describes more fields.
      operation({ ...GET, present: ({ id }: { id: string }) => ({ id }) }),
      ({ ctx, params }) => getComponent(ctx, params.component_id),
    ),
  () =>
    createRouter<Documented>().handle(
      // @ts-expect-error The document describes a response with a body.
      operation(GET),
      ({ ctx, params }) => getComponent(ctx, params.component_id),
    ),
  () =>
    createRouter<Documented>().handle(
      // @ts-expect-error The context has no such field.
      operation({
        ...GET,
        present: (row: Parameters<typeof presentComponent>[0], _: { missing: string }) =>
          presentComponent(row),
      }),
      ({ ctx, params }) => getComponent(ctx, params.component_id),
    ),
  () =>
    createRouter<Documented>().handle(
      get,
      // @ts-expect-error The verb returns a page.
      ({ ctx, params }) => listComponents(ctx, params.component_id, toPageRequest({})),
    ),
  () =>
    createRouter<Documented>().openapi(
      // @ts-expect-error Requests with an API key may have an `Idempotency-Key`.
      operation({ ...CREATE, present: presentComponent }),
      async (c) => {
        const { environment_id } = c.req.valid("param");
        const component = await createComponent(c.env, environment_id, c.req.valid("json"));
        return c.json(presentComponent(component), 201);
      },
    ),
];

it("is refused by the types alone", () => {
  for (const refused of REFUSED) expect(refused().endpoints).toHaveLength(1);
});
