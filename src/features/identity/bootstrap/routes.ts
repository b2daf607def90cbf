import { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import { json } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { nameInput } from "../../../lib/schemas.ts";
import { toNewAccount } from "../memberships/index.ts";
import { AccountInput } from "../memberships/schemas.ts";
import {
  ORGANIZATION_PATH,
  presentCreatedOrganization,
  presentOrganization,
} from "../organizations/index.ts";
import { CreatedOrganization } from "../organizations/schemas.ts";
import { bootstrap } from "./service.ts";

const Bootstrap = z
  .strictObject({
    organization: z
      .strictObject({
        name: nameInput(LIMITS.nameLength.value).openapi({
          description: "The display name of the organization.",
          example: "Acme",
        }),
      })
      .openapi({ description: "The first organization of the installation." }),
    account: AccountInput.openapi({ description: "Its first member, with the role `owner`." }),
  })
  .openapi("Bootstrap", {
    description: "The first organization and the person who owns it.",
    example: {
      organization: { name: "Acme" },
      account: { email: "ada@example.com", name: "Ada Lovelace" },
    },
  });

const create = apiRoute({
  method: "post",
  path: "/v1/bootstrap",
  operationId: "bootstrap",
  tags: ["Service"],
  summary: "Create the very first API key",
  description:
    "Creates the first account, organization and key of a new installation. Works once; afterwards " +
    "the response is `not_found`.",
  access: "bootstrap",
  resource: true,
  request: { body: jsonBody(Bootstrap) },
  responses: {
    201: json(CreatedOrganization, "The organization and its first key, which is not shown again."),
  },
  notFound: ["path"],
});

export const bootstrapRoutes = createRouter().openapi(create, async (c) => {
  const { organization, account } = c.req.valid("json");
  const input = { organizationName: organization.name, account: toNewAccount(account) };
  const created = await bootstrap(c.var.ctx, input);
  const { organization: row } = created.row;
  await tagged(c, row.version, presentOrganization(row));
  setLocation(c, ORGANIZATION_PATH, { org_id: row.id });
  return c.json(presentCreatedOrganization(created), 201);
});
