import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page, unchanging } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { WHAT_FREEZES } from "./model.ts";
import { presentFreeze } from "./presenters.ts";
import { CreateFreeze, Freeze, FreezeList, FreezeParams, toFreezeInput } from "./schemas.ts";
import {
  createFreezeOfOrganization,
  createFreezeOfProject,
  deleteFreeze,
  getFreeze,
  listFreezesOfOrganization,
  listFreezesOfProject,
} from "./service.ts";

const FULL = "Needs a full credential (`full` in `GET /v1/whoami`).";

const MEANWHILE = `${FULL} Meanwhile, no deployment starts; those that run go on. Deployments wait with the code \`freeze\`.`;

const ORGANIZATION = "/v1/orgs/{org_id}/freezes";
const PROJECT = "/v1/projects/{project_id}/freezes";
const ONE = "/v1/freezes/{freeze_id}";

const get = apiRoute({
  method: "get",
  path: ONE,
  operationId: "getFreeze",
  tags: ["Projects"],
  summary: "Read a freeze",
  description: "For viewers of its project; one of the organization, for all members.",
  access: { scope: "deployments:read" },
  resource: true,
  request: { params: FreezeParams },
  responses: { 200: json(Freeze, "The freeze.") },
  notFound: ["freeze"],
});

const listOfOrganization = apiRoute({
  method: "get",
  path: ORGANIZATION,
  operationId: "listFreezes",
  tags: ["Organizations"],
  summary: "List the freezes of all projects",
  description: "Those of single projects are in the lists of these.",
  access: { scope: "deployments:read" },
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: json(FreezeList, "A page of freezes.") },
  notFound: ["organization"],
});

const listOfProject = apiRoute({
  method: "get",
  path: PROJECT,
  operationId: "listProjectFreezes",
  tags: ["Projects"],
  summary: "List the freezes of a project",
  access: { scope: "deployments:read", role: "viewer" },
  request: { params: ProjectParams, query: ListQuery },
  responses: { 200: json(FreezeList, "A page of freezes.") },
  notFound: ["project"],
});

const createInOrganization = apiRoute({
  method: "post",
  path: ORGANIZATION,
  operationId: "createFreeze",
  tags: ["Organizations"],
  summary: "Freeze all projects",
  description: MEANWHILE,
  access: { scope: "deployments:write", role: "admin" },
  resource: true,
  changes: ["freezes"],
  request: { params: OrganizationParams, body: jsonBody(CreateFreeze) },
  responses: { 201: json(Freeze, "The freeze.") },
  notFound: ["organization", "environment", "membership"],
  errors: {
    credential_not_full: NOT_FULL,
    freeze_limit: new LimitReached(LIMITS.freezes.value, WHAT_FREEZES),
  },
});

const createInProject = apiRoute({
  method: "post",
  path: PROJECT,
  operationId: "createProjectFreeze",
  tags: ["Projects"],
  summary: "Freeze a project",
  description: MEANWHILE,
  access: { scope: "deployments:write", role: "owner" },
  resource: true,
  changes: ["freezes"],
  request: { params: ProjectParams, body: jsonBody(CreateFreeze) },
  responses: { 201: json(Freeze, "The freeze.") },
  notFound: ["project", "environment", "membership"],
  errors: {
    credential_not_full: NOT_FULL,
    project_freeze_limit: new LimitReached(LIMITS.freezes.value, WHAT_FREEZES),
  },
});

const remove = apiRoute({
  method: "delete",
  path: ONE,
  operationId: "deleteFreeze",
  tags: ["Projects"],
  summary: "Delete a freeze",
  description: `${FULL} Needs the role that creating it does. Deployments that waited for its end start within a minute.`,
  access: { scope: "deployments:write" },
  resource: true,
  changes: ["freezes"],
  request: { params: FreezeParams },
  responses: { 204: noContent },
  notFound: ["freeze"],
  errors: { credential_not_full: NOT_FULL },
});

export const freezeRoutes = createRouter()
  .openapi(listOfProject, (c) =>
    page(
      c,
      (ctx) =>
        listFreezesOfProject(
          ctx,
          c.req.valid("param").project_id,
          toPageRequest(c.req.valid("query")),
        ),
      presentFreeze,
    ),
  )
  .openapi(createInProject, (c) =>
    created(
      c,
      get.path,
      (ctx) =>
        createFreezeOfProject(
          ctx,
          c.req.valid("param").project_id,
          toFreezeInput(c.req.valid("json")),
        ),
      presentFreeze,
      { version: unchanging },
    ),
  )
  .openapi(listOfOrganization, (c) =>
    page(
      c,
      (ctx) =>
        listFreezesOfOrganization(
          ctx,
          c.req.valid("param").org_id,
          toPageRequest(c.req.valid("query")),
        ),
      presentFreeze,
    ),
  )
  .openapi(createInOrganization, (c) =>
    created(
      c,
      get.path,
      (ctx) =>
        createFreezeOfOrganization(
          ctx,
          c.req.valid("param").org_id,
          toFreezeInput(c.req.valid("json")),
        ),
      presentFreeze,
      { version: unchanging },
    ),
  )
  .openapi(get, (c) =>
    ok(c, (ctx) => getFreeze(ctx, c.req.valid("param").freeze_id), presentFreeze, {
      version: unchanging,
    }),
  )
  .openapi(remove, (c) => done(c, (ctx) => deleteFreeze(ctx, c.req.valid("param").freeze_id)));
