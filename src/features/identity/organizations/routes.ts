import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { deleteOrganization } from "./deletion.ts";
import type { Documented } from "./document.ts";
import { presentFirstKey, presentFounded, presentOrganization } from "./presenters.ts";
import { CreateOrganization, UpdateOrganization } from "./schemas.ts";
import {
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs",
  operationId: "listOrganizations",
  presentEach: presentOrganization,
  scope: null,
  request: () => ({ query: ListQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}",
  operationId: "getOrganization",
  resource: true,
  present: presentOrganization,
  scope: "organization:read",
  request: () => ({ params: OrganizationParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs",
  operationId: "createOrganization",
  status: 201,
  resource: true,
  present: presentFounded,
  presentSecrets: presentFirstKey,
  version: ({ organization }: Parameters<typeof presentFounded>[0]) => organization.version,
  location: get,
  scope: "organization:write",
  request: () => ({ body: jsonBody(CreateOrganization()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}",
  operationId: "updateOrganization",
  resource: true,
  present: presentOrganization,
  scope: "organization:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(UpdateOrganization()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}",
  operationId: "deleteOrganization",
  status: 204,
  resource: true,
  scope: "organization:write",
  request: () => ({ params: OrganizationParams() }),
});

export const organizationRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, query }) => listOrganizations(ctx, toPageRequest(query)))
  .handle(create, ({ ctx, body }) => createOrganization(ctx, body))
  .handle(get, ({ ctx, params }) => getOrganization(ctx, params.org_id))
  .handle(update, ({ ctx, params, body }) => updateOrganization(ctx, params.org_id, body))
  .handle(remove, ({ ctx, params }) => deleteOrganization(ctx, params.org_id));
