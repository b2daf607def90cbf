import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Documented } from "./document.ts";
import { presentServiceAccount } from "./presenters.ts";
import { CreateServiceAccount, ServiceAccountParams, UpdateServiceAccount } from "./schemas.ts";
import {
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccount,
  listServiceAccounts,
  updateServiceAccount,
} from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "listServiceAccounts",
  presentEach: presentServiceAccount,
  scope: "members:read",
  request: () => ({ params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "getServiceAccount",
  resource: true,
  present: presentServiceAccount,
  scope: "members:read",
  request: () => ({ params: ServiceAccountParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "createServiceAccount",
  status: 201,
  resource: true,
  present: presentServiceAccount,
  location: get,
  scope: "members:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateServiceAccount()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "updateServiceAccount",
  resource: true,
  present: presentServiceAccount,
  scope: "members:write",
  request: () => ({ params: ServiceAccountParams(), body: jsonBody(UpdateServiceAccount()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "deleteServiceAccount",
  status: 204,
  resource: true,
  scope: "members:write",
  request: () => ({ params: ServiceAccountParams() }),
});

export const serviceAccountRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listServiceAccounts(ctx, params.org_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body }) => createServiceAccount(ctx, params.org_id, body))
  .handle(get, ({ ctx, params }) => getServiceAccount(ctx, params.org_id, params.membership_id))
  .handle(update, ({ ctx, params, body: { name, role } }) =>
    updateServiceAccount(ctx, params.org_id, params.membership_id, { name, role }),
  )
  .handle(remove, ({ ctx, params }) =>
    deleteServiceAccount(ctx, params.org_id, params.membership_id),
  );
