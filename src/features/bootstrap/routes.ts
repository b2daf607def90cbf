import type { MiddlewareHandler } from "hono";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter, type PublicEnv, readJsonBody } from "../../http/router.ts";
import type { Clock } from "../../lib/clock.ts";
import { toNewAccount } from "../memberships/index.ts";
import {
  CreatedOrganization,
  ORGANIZATION_PATH,
  presentCreatedOrganization,
  presentOrganization,
} from "../organizations/index.ts";
import { Bootstrap } from "./schemas.ts";
import { bootstrap, requireBootstrapToken, requireUnused } from "./service.ts";

const requireToken: MiddlewareHandler<PublicEnv> = async (c, next) => {
  const [, token] = /^Bearer (.+)$/.exec(c.req.header("authorization") ?? "") ?? [];
  await requireBootstrapToken(token, c.env.BOOTSTRAP_TOKEN);
  await requireUnused(c.env.DB);
  await next();
};

const create = operation({
  method: "post",
  path: "/v1/bootstrap",
  operationId: "bootstrap",
  tags: ["Service"],
  summary: "Create the very first API key",
  record: true,
  description:
    "Creates the first account, organization and key of a new installation. Works once; afterwards " +
    "the response is `not_found`.",
  credentials: ["bootstrap_token"],
  middleware: [requireToken, readJsonBody(() => true)],
  notFound: ["path"],
  request: { body: jsonBody(Bootstrap()) },
  responses: {
    201: jsonReply(
      CreatedOrganization(),
      "The organization and its first key, which is not shown again.",
    ),
  },
});

export function bootstrapRoutes(clock: Clock) {
  return createRouter<PublicEnv>().openapi(create, async (c) => {
    const { organization, account } = c.req.valid("json");
    const input = { organizationName: organization.name, account: toNewAccount(account) };
    const { DB: d1, origin } = c.env;
    const created = await bootstrap({ d1, clock, origin }, input);
    const { organization: row } = created.row;
    await tagged(c, row.recordVersion, presentOrganization(row));
    setLocation(c, ORGANIZATION_PATH, { org_id: row.id });
    return c.json(presentCreatedOrganization(created), 201);
  });
}
