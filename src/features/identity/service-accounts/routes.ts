import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { CHANGED, NEVER_OWNER, OWNS_PROJECT } from "./model.ts";
import { presentServiceAccount } from "./presenters.ts";
import {
  CreateServiceAccount,
  ServiceAccount,
  ServiceAccountList,
  ServiceAccountParams,
  UpdateServiceAccount,
} from "./schemas.ts";
import {
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccount,
  listServiceAccounts,
  updateServiceAccount,
} from "./service.ts";

const OWNER = new BadInput([{ path: "role", message: NEVER_OWNER }]);

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "listServiceAccounts",
  tags: ["Service accounts"],
  summary: "List the service accounts of an organization",
  access: { scope: "members:read", role: "admin" },
  request: { params: OrganizationParams, query: namedListQuery(LIMITS.nameLength.value) },
  responses: { 200: json(ServiceAccountList, "A page of service accounts.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "getServiceAccount",
  tags: ["Service accounts"],
  summary: "Read a service account",
  access: { scope: "members:read", role: "admin" },
  resource: true,
  request: { params: ServiceAccountParams },
  responses: { 200: json(ServiceAccount, "The service account.") },
  notFound: ["organization", "service account"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "createServiceAccount",
  tags: ["Service accounts"],
  summary: "Create a service account",
  description:
    "It counts as a member. Give it a key with `POST /v1/orgs/{org_id}/api-keys` and its " +
    "`membership_id`, or let CI jobs act for it with a trust.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  changes: ["service accounts"],
  request: { params: OrganizationParams, body: jsonBody(CreateServiceAccount) },
  responses: { 201: json(ServiceAccount, "The service account.") },
  notFound: ["organization"],
  errors: {
    service_account_owner: OWNER,
    service_account_limit: new LimitReached(QUOTAS.members, "members"),
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "updateServiceAccount",
  tags: ["Service accounts"],
  summary: "Change a service account",
  description: "A new role applies to the next request of each of its keys.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  changes: ["service accounts"],
  request: { params: ServiceAccountParams, body: jsonBody(UpdateServiceAccount) },
  responses: { 200: json(ServiceAccount, "The service account.") },
  notFound: ["organization", "service account"],
  errors: {
    service_account_owner: OWNER,
    credential_not_full: NOT_FULL,
    service_account_changed: CHANGED,
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "deleteServiceAccount",
  tags: ["Service accounts"],
  summary: "Delete a service account",
  description:
    "Revokes its keys, and deletes its project roles and the trusts that name it. The only owner of a " +
    "project cannot be deleted.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  changes: ["service accounts"],
  request: { params: ServiceAccountParams },
  responses: { 204: noContent },
  notFound: ["organization", "service account"],
  errors: {
    service_account_owns_project: OWNS_PROJECT,
    service_account_changed: CHANGED,
  },
});

export const serviceAccountRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listServiceAccounts(
          ctx,
          c.req.valid("param").org_id,
          toNamedPageRequest(c.req.valid("query")),
        ),
      presentServiceAccount,
    ),
  )
  .openapi(create, (c) =>
    created(
      c,
      get.path,
      (ctx) => createServiceAccount(ctx, c.req.valid("param").org_id, c.req.valid("json")),
      presentServiceAccount,
    ),
  )
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => getServiceAccount(ctx, params.org_id, params.membership_id),
      presentServiceAccount,
    );
  })
  .openapi(update, (c) => {
    const params = c.req.valid("param");
    const { name, role } = c.req.valid("json");
    return ok(
      c,
      (ctx) => updateServiceAccount(ctx, params.org_id, params.membership_id, { name, role }),
      presentServiceAccount,
    );
  })
  .openapi(remove, (c) => {
    const params = c.req.valid("param");
    return done(c, (ctx) => deleteServiceAccount(ctx, params.org_id, params.membership_id));
  });
