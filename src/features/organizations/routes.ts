import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { LimitReached, Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { presentCreatedOrganization, presentOrganization } from "./presenters.ts";
import { CreatedOrganization, CreateOrganization, OrganizationList } from "./schemas.ts";
import { createOrganization, listOrganizations, NARROWED, OF_PROGRAM } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs",
  operationId: "listOrganizations",
  tags: ["Organizations"],
  summary: "List organizations",
  scope: null,
  description: "Returns the organization of the key: a key belongs to one organization.",
  request: { query: ListQuery },
  responses: { 200: jsonReply(OrganizationList, "A page of organizations.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs",
  operationId: "createOrganization",
  tags: ["Organizations"],
  summary: "Create an organization",
  scope: "organization:write",
  description:
    "The key's account becomes its owner. The response contains an owner key of the new " +
    "organization, because the key of the request belongs to another one. A service account and a CI " +
    "job cannot own an organization.",
  errors: {
    key_narrowed: new Unauthorized(NARROWED),
    key_of_program: OF_PROGRAM,
    creation_disabled: new Unauthorized(
      "This deployment does not let API keys create organizations.",
    ),
    owned_organization_limit: new LimitReached(
      LIMITS.ownedOrganizations.value,
      "organizations that an account owns",
    ),
  },
  request: { body: jsonBody(CreateOrganization) },
  responses: {
    201: jsonReply(
      CreatedOrganization,
      "The organization and its first key, which is not shown again.",
    ),
  },
});

export const organizationRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = await listOrganizations(c.env, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentOrganization), 200);
  })
  .openapi(create, async (c) => {
    const created = await createOrganization(c.env, c.req.valid("json"));
    return c.json(presentCreatedOrganization(created), 201);
  });
