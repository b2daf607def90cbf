import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { BadInput, Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { NOT_FULL } from "../audit/index.ts";
import { once } from "../idempotency/index.ts";
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
  OWNS_PROJECT,
  updateServiceAccount,
} from "./service.ts";

const NEVER_OWNER = new BadInput([
  { path: "role", message: "Send member or admin: a service account is never an owner." },
]);

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "listServiceAccounts",
  tags: ["Service accounts"],
  summary: "List the service accounts of an organization",
  role: "admin",
  scope: "members:read",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) },
  responses: { 200: jsonReply(ServiceAccountList(), "A page of service accounts.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/service-accounts",
  operationId: "createServiceAccount",
  tags: ["Service accounts"],
  summary: "Create a service account",
  role: "admin",
  record: true,
  scope: "members:write",
  description:
    "It counts as a member. Give it a key with `POST /v1/orgs/{org_id}/api-keys` and its " +
    "`membership_id`, or let CI jobs act for it with a trust.",
  notFound: ["organization"],
  errors: {
    service_account_owner: NEVER_OWNER,
    service_account_limit: new LimitReached(LIMITS.members.value, "members"),
  },
  request: { params: OrganizationParams(), body: jsonBody(CreateServiceAccount()) },
  responses: { 201: jsonReply(ServiceAccount(), "The service account.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "getServiceAccount",
  tags: ["Service accounts"],
  summary: "Read a service account",
  role: "admin",
  record: true,
  scope: "members:read",
  notFound: ["organization", "service account"],
  request: { params: ServiceAccountParams() },
  responses: { 200: jsonReply(ServiceAccount(), "The service account.") },
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "updateServiceAccount",
  tags: ["Service accounts"],
  summary: "Change a service account",
  role: "admin",
  record: true,
  scope: "members:write",
  description: "A new role applies to the next request of each of its keys.",
  notFound: ["organization", "service account"],
  errors: {
    service_account_owner: NEVER_OWNER,
    credential_not_full: NOT_FULL,
    service_account_changed: new Conflict(
      "The service account has just changed. Read it again and retry.",
    ),
  },
  request: { params: ServiceAccountParams(), body: jsonBody(UpdateServiceAccount()) },
  responses: { 200: jsonReply(ServiceAccount(), "The service account.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/service-accounts/{membership_id}",
  operationId: "deleteServiceAccount",
  tags: ["Service accounts"],
  summary: "Delete a service account",
  role: "admin",
  record: true,
  scope: "members:write",
  description:
    "Revokes its keys, and deletes its project roles and the trusts that name it. The only owner of a " +
    "project cannot be deleted.",
  notFound: ["organization", "service account"],
  errors: {
    service_account_owns_project: new Conflict(OWNS_PROJECT),
    service_account_changed: new Conflict(
      "The service account has just changed. Read it again and retry.",
    ),
  },
  request: { params: ServiceAccountParams() },
  responses: { 204: NO_CONTENT },
});

export const serviceAccountRoutes = createRouter()
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
    return c.json(await tagged(c, created.recordVersion, presentServiceAccount(created)), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    const row = await getServiceAccount(c.env, org_id, membership_id);
    return c.json(await tagged(c, row.recordVersion, presentServiceAccount(row)), 200);
  })
  .openapi(update, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    const { name, role } = c.req.valid("json");
    const updated = await once(c.env, updateServiceAccount, org_id, membership_id, { name, role });
    return c.json(await tagged(c, updated.recordVersion, presentServiceAccount(updated)), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    await deleteServiceAccount(c.env, org_id, membership_id);
    return c.body(null, 204);
  });
