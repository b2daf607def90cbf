import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { CREATOR_CHANGED } from "../api-keys/index.ts";
import { NOT_FULL } from "../audit/index.ts";
import { once } from "../idempotency/index.ts";
import { DEPLOYING, deleteOrganization } from "./deletion.ts";
import { presentCreatedOrganization, presentOrganization } from "./presenters.ts";
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

const list = operation({
  method: "get",
  path: "/v1/orgs",
  operationId: "listOrganizations",
  tags: ["Organizations"],
  summary: "List organizations",
  scope: null,
  description: "Returns the organization of the key: a key belongs to one organization.",
  request: { query: ListQuery() },
  responses: { 200: jsonReply(OrganizationList(), "A page of organizations.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs",
  operationId: "createOrganization",
  tags: ["Organizations"],
  summary: "Create an organization",
  record: true,
  scope: "organization:write",
  description:
    "The account of the key becomes its owner. The response contains an owner key of the new " +
    "organization, because the key of the request belongs to another one. That key, and what it makes, " +
    "is in the family of the key of the request: revoking this with `descendants=revoke` ends it, too. " +
    "Needs a full credential: `full` in `GET /v1/whoami`.",
  errors: {
    credential_not_full: NOT_FULL,
    creator_changed: new Conflict(CREATOR_CHANGED),
    creation_disabled: new Unauthorized(
      "This deployment does not let API keys create organizations.",
    ),
    owned_organization_limit: new LimitReached(
      LIMITS.ownedOrganizations.value,
      "organizations that an account owns",
    ),
  },
  request: { body: jsonBody(CreateOrganization()) },
  responses: {
    201: jsonReply(
      CreatedOrganization(),
      "The organization and its first key, which is not shown again.",
    ),
  },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}",
  operationId: "getOrganization",
  tags: ["Organizations"],
  summary: "Read an organization",
  record: true,
  scope: "organization:read",
  notFound: ["organization"],
  request: { params: OrganizationParams() },
  responses: { 200: jsonReply(Organization(), "The organization.") },
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}",
  operationId: "updateOrganization",
  tags: ["Organizations"],
  summary: "Rename an organization",
  role: "admin",
  record: true,
  scope: "organization:write",
  description: "A field that is absent stays as it is.",
  notFound: ["organization"],
  request: { params: OrganizationParams(), body: jsonBody(UpdateOrganization()) },
  responses: { 200: jsonReply(Organization(), "The organization.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}",
  operationId: "deleteOrganization",
  tags: ["Organizations"],
  summary: "Delete an organization",
  record: true,
  scope: "organization:write",
  description:
    "Needs the role `owner` in the organization. Its keys and runner tokens, the key of the request " +
    "included, stop working at once; if CI jobs have thousands of them, some of theirs stop within 30 " +
    "seconds. Nothing is sent to its integrations any more. All of its data is deleted, in the " +
    "background. Its members keep their accounts if they are members of other organizations or have " +
    "proven their address. It counts toward the organizations that its owners own for 10 more " +
    "minutes. An unfinished deployment is a `conflict`. This cannot be undone, and whoever " +
    "deletes the last organization of an installation has no key left.",
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    organization_deploying: new Conflict(DEPLOYING),
  },
  request: { params: OrganizationParams() },
  responses: { 204: NO_CONTENT },
});

export const organizationRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = await listOrganizations(c.env, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentOrganization), 200);
  })
  .openapi(create, async (c) => {
    const input = c.req.valid("json");
    const created = await once(c.env, createOrganization, input);
    const { organization } = created.row;
    await tagged(c, organization.recordVersion, presentOrganization(organization));
    setLocation(c, get, { org_id: organization.id });
    return c.json(presentCreatedOrganization(created), 201);
  })
  .openapi(get, async (c) => {
    const organization = await getOrganization(c.env, c.req.valid("param").org_id);
    const { recordVersion } = organization;
    return c.json(await tagged(c, recordVersion, presentOrganization(organization)), 200);
  })
  .openapi(update, async (c) => {
    const { org_id } = c.req.valid("param");
    const change = c.req.valid("json");
    const organization = await once(c.env, updateOrganization, org_id, change);
    const { recordVersion } = organization;
    return c.json(await tagged(c, recordVersion, presentOrganization(organization)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteOrganization(c.env, c.req.valid("param").org_id);
    return c.body(null, 204);
  });
