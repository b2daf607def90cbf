import { CACHE_TTL_MS } from "../../../auth/credential-cache.ts";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createdWithSecrets, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Conflict, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { CREATOR_CHANGED } from "../api-keys/index.ts";
import { DEPLOYING, deleteOrganization } from "./deletion.ts";
import { CREATION_DISABLED, OWNED } from "./model.ts";
import { presentFirstKey, presentFounded, presentOrganization } from "./presenters.ts";
import {
  CreatedOrganization,
  CreateOrganization,
  Organization,
  OrganizationList,
  UpdateOrganization,
} from "./schemas.ts";
import {
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs",
  operationId: "listOrganizations",
  tags: ["Organizations"],
  summary: "List organizations",
  description: "Returns the organization of the key: a key belongs to one organization.",
  access: { scope: null },
  request: { query: ListQuery },
  responses: { 200: json(OrganizationList, "A page of organizations.") },
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}",
  operationId: "getOrganization",
  tags: ["Organizations"],
  summary: "Read an organization",
  access: { scope: "organization:read" },
  resource: true,
  request: { params: OrganizationParams },
  responses: { 200: json(Organization, "The organization.") },
  notFound: ["organization"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs",
  operationId: "createOrganization",
  tags: ["Organizations"],
  summary: "Create an organization",
  description:
    "The account of the key becomes its owner. The response contains an owner key of the new " +
    "organization, because the key of the request belongs to another one. That key, and what it makes, " +
    "is in the family of the key of the request: revoking this with `descendants=revoke` ends it, too. " +
    "Needs a full credential: `full` in `GET /v1/whoami`.",
  access: { scope: "organization:write" },
  resource: true,
  request: { body: jsonBody(CreateOrganization) },
  responses: {
    201: json(CreatedOrganization, "The organization and its first key, which is not shown again."),
  },
  errors: {
    credential_not_full: NOT_FULL,
    creator_changed: CREATOR_CHANGED,
    creation_disabled: CREATION_DISABLED,
    owned_organization_limit: new LimitReached(LIMITS.ownedOrganizations.value, OWNED),
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/orgs/{org_id}",
  operationId: "updateOrganization",
  tags: ["Organizations"],
  summary: "Rename an organization",
  description: "A field that is absent stays as it is.",
  access: { scope: "organization:write", role: "admin" },
  resource: true,
  request: { params: OrganizationParams, body: jsonBody(UpdateOrganization) },
  responses: { 200: json(Organization, "The organization.") },
  notFound: ["organization"],
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}",
  operationId: "deleteOrganization",
  tags: ["Organizations"],
  summary: "Delete an organization",
  description:
    "Needs the role `owner` in the organization. Its keys and runner tokens, the key of the request " +
    "included, stop working at once; if CI jobs have thousands of them, some of theirs stop within " +
    `${durationOf(CACHE_TTL_MS)}. Nothing is sent to its integrations any more. All of its data is deleted, in the ` +
    "background. Its members keep their accounts if they are members of other organizations or have " +
    "proven their address. It counts toward the organizations that its owners own for another " +
    `${durationOf(LIMITS.purgeSettlesMs.value)}. An unfinished deployment is a \`conflict\`. This cannot be undone, and whoever ` +
    "deletes the last organization of an installation has no key left.",
  access: { scope: "organization:write" },
  resource: true,
  request: { params: OrganizationParams },
  responses: { 204: noContent },
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    organization_deploying: new Conflict(DEPLOYING),
  },
});

export const organizationRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) => listOrganizations(ctx, toPageRequest(c.req.valid("query"))),
      presentOrganization,
    ),
  )
  .openapi(create, (c) =>
    createdWithSecrets(
      c,
      get.path,
      (ctx) => createOrganization(ctx, c.req.valid("json")),
      presentFounded,
      {
        version: ({ organization }: Parameters<typeof presentFounded>[0]) => organization.version,
        secrets: presentFirstKey,
      },
    ),
  )
  .openapi(get, (c) =>
    ok(c, (ctx) => getOrganization(ctx, c.req.valid("param").org_id), presentOrganization),
  )
  .openapi(update, (c) =>
    ok(
      c,
      (ctx) => updateOrganization(ctx, c.req.valid("param").org_id, c.req.valid("json")),
      presentOrganization,
    ),
  )
  .openapi(remove, (c) => done(c, (ctx) => deleteOrganization(ctx, c.req.valid("param").org_id)));
