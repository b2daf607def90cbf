import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { once } from "../idempotency/index.ts";
import { deleteOrganization } from "./deletion.ts";
import type { Documented } from "./document.ts";
import { presentCreatedOrganization, presentOrganization } from "./presenters.ts";
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
  scope: null,
  request: () => ({ query: ListQuery() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs",
  operationId: "createOrganization",
  status: 201,
  record: true,
  scope: "organization:write",
  request: () => ({ body: jsonBody(CreateOrganization()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}",
  operationId: "getOrganization",
  record: true,
  scope: "organization:read",
  request: () => ({ params: OrganizationParams() }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}",
  operationId: "updateOrganization",
  record: true,
  scope: "organization:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(UpdateOrganization()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}",
  operationId: "deleteOrganization",
  status: 204,
  record: true,
  scope: "organization:write",
  request: () => ({ params: OrganizationParams() }),
});

export const organizationRoutes = createRouter<Documented>()
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
    return jsonWithTag(c, recordVersion, presentOrganization(organization), 200);
  })
  .openapi(update, async (c) => {
    const { org_id } = c.req.valid("param");
    const change = c.req.valid("json");
    const organization = await once(c.env, updateOrganization, org_id, change);
    const { recordVersion } = organization;
    return jsonWithTag(c, recordVersion, presentOrganization(organization), 200);
  })
  .openapi(remove, async (c) => {
    await deleteOrganization(c.env, c.req.valid("param").org_id);
    return c.body(null, 204);
  });
