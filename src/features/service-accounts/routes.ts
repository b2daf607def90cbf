import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
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
  scope: "members:read",
  request: () => ({ params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "createServiceAccount",
  status: 201,
  record: true,
  scope: "members:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateServiceAccount()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "getServiceAccount",
  record: true,
  scope: "members:read",
  request: () => ({ params: ServiceAccountParams() }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "updateServiceAccount",
  record: true,
  scope: "members:write",
  request: () => ({ params: ServiceAccountParams(), body: jsonBody(UpdateServiceAccount()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "deleteServiceAccount",
  status: 204,
  record: true,
  scope: "members:write",
  request: () => ({ params: ServiceAccountParams() }),
});

export const serviceAccountRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listServiceAccounts(c.env, org_id, toNamedPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentServiceAccount), 200);
  })
  .openapi(create, async (c) => {
    const { org_id } = c.req.valid("param");
    const input = c.req.valid("json");
    const created = await once(c.env, createServiceAccount, org_id, input);
    setLocation(c, get, { org_id: created.organizationId, membership_id: created.membershipId });
    return jsonWithTag(c, created.recordVersion, presentServiceAccount(created), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    const row = await getServiceAccount(c.env, org_id, membership_id);
    return jsonWithTag(c, row.recordVersion, presentServiceAccount(row), 200);
  })
  .openapi(update, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    const { name, role } = c.req.valid("json");
    const updated = await once(c.env, updateServiceAccount, org_id, membership_id, { name, role });
    return jsonWithTag(c, updated.recordVersion, presentServiceAccount(updated), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    await deleteServiceAccount(c.env, org_id, membership_id);
    return c.body(null, 204);
  });
