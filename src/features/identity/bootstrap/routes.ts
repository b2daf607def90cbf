import type { MiddlewareHandler } from "hono";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { readJsonBody } from "../../../http/read-body.ts";
import { createRouter } from "../../../http/router.ts";
import { toNewAccount } from "../memberships/index.ts";
import {
  ORGANIZATION_PATH,
  presentCreatedOrganization,
  presentOrganization,
} from "../organizations/index.ts";
import type { Documented } from "./document.ts";
import { Bootstrap } from "./schemas.ts";
import {
  type BootstrapContext,
  bootstrap,
  requireBootstrapToken,
  requireUnused,
} from "./service.ts";

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
  status: 201,
  resource: true,
  credentials: ["bootstrap_token"],
  middleware: [requireToken, readJsonBody({ isRequired: true })],
  request: () => ({ body: jsonBody(Bootstrap()) }),
});

export function bootstrapRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => BootstrapContext,
) {
  return createRouter<Documented, PublicEnv>().openapi(create, async (c) => {
    const { organization, account } = c.req.valid("json");
    const input = { organizationName: organization.name, account: toNewAccount(account) };
    const created = await bootstrap(createContext(c.env, c.executionCtx), input);
    const { organization: row } = created.row;
    await tagged(c, row.version, presentOrganization(row));
    setLocation(c, ORGANIZATION_PATH, { org_id: row.id });
    return c.json(presentCreatedOrganization(created), 201);
  });
}
