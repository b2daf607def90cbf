import { jsonBody } from "../../../http/bodies.ts";
import { operation, unchanging } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentFreeze } from "./presenters.ts";
import { CreateFreeze, FreezeParams, toFreezeInput } from "./schemas.ts";
import {
  createFreezeOfOrganization,
  createFreezeOfProject,
  deleteFreeze,
  getFreeze,
  listFreezesOfOrganization,
  listFreezesOfProject,
} from "./service.ts";

const ORGANIZATION = "/v1/orgs/{org_id}/freezes";
const PROJECT = "/v1/projects/{project_id}/freezes";
const ONE = "/v1/freezes/{freeze_id}";

const get = operation({
  method: "get",
  path: ONE,
  operationId: "getFreeze",
  resource: true,
  version: unchanging,
  present: presentFreeze,
  scope: "deployments:read",
  request: () => ({ params: FreezeParams() }),
});

const LIST = {
  method: "get",
  presentEach: presentFreeze,
  scope: "deployments:read",
} as const;

const CREATE = {
  method: "post",
  status: 201,
  resource: true,
  version: unchanging,
  present: presentFreeze,
  location: get,
  scope: "deployments:write",
} as const;

const listOfOrganization = operation({
  ...LIST,
  path: ORGANIZATION,
  operationId: "listFreezes",
  request: () => ({ params: OrganizationParams(), query: ListQuery() }),
});

const listOfProject = operation({
  ...LIST,
  path: PROJECT,
  operationId: "listProjectFreezes",
  request: () => ({ params: ProjectParams(), query: ListQuery() }),
});

const createInOrganization = operation({
  ...CREATE,
  path: ORGANIZATION,
  operationId: "createFreeze",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateFreeze()) }),
});

const createInProject = operation({
  ...CREATE,
  path: PROJECT,
  operationId: "createProjectFreeze",
  request: () => ({ params: ProjectParams(), body: jsonBody(CreateFreeze()) }),
});

const remove = operation({
  method: "delete",
  path: ONE,
  operationId: "deleteFreeze",
  status: 204,
  resource: true,
  version: unchanging,
  scope: "deployments:write",
  request: () => ({ params: FreezeParams() }),
});

export const freezeRoutes = createRouter<Documented>()
  .handle(listOfProject, ({ ctx, params, query }) =>
    listFreezesOfProject(ctx, params.project_id, toPageRequest(query)),
  )
  .handle(createInProject, ({ ctx, params, body }) =>
    createFreezeOfProject(ctx, params.project_id, toFreezeInput(body)),
  )
  .handle(listOfOrganization, ({ ctx, params, query }) =>
    listFreezesOfOrganization(ctx, params.org_id, toPageRequest(query)),
  )
  .handle(createInOrganization, ({ ctx, params, body }) =>
    createFreezeOfOrganization(ctx, params.org_id, toFreezeInput(body)),
  )
  .handle(get, ({ ctx, params }) => getFreeze(ctx, params.freeze_id))
  .handle(remove, ({ ctx, params }) => deleteFreeze(ctx, params.freeze_id));
