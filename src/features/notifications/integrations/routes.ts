import type { Context } from "hono";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { once } from "../../idempotency/index.ts";
import type { Documented } from "./document.ts";
import {
  presentCreatedIntegration,
  presentIntegration,
  presentRotatedIntegration,
} from "./presenters.ts";
import { CreateIntegration, IntegrationParams, UpdateIntegration } from "./schemas.ts";
import {
  confirmIntegration,
  createIntegration,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  resumeIntegration,
  rotateSecret,
  updateIntegration,
} from "./service.ts";

const ALL = "/v1/projects/{project_id}/notification-integrations";
const ONE = `${ALL}/{integration_id}` as const;

const list = operation({
  method: "get",
  path: ALL,
  operationId: "listIntegrations",
  polled: true,
  scope: "integrations:read",
  request: () => ({ params: ProjectParams() }),
});

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createIntegration",
  status: 201,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(CreateIntegration()) }),
});

const get = operation({
  method: "get",
  path: ONE,
  operationId: "getIntegration",
  record: true,
  scope: "integrations:read",
  request: () => ({ params: IntegrationParams() }),
});

const update = operation({
  method: "patch",
  path: ONE,
  operationId: "updateIntegration",
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams(), body: jsonBody(UpdateIntegration()) }),
});

const remove = operation({
  method: "delete",
  path: ONE,
  operationId: "deleteIntegration",
  status: 204,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

const rotate = operation({
  method: "post",
  path: `${ONE}/rotate-secret`,
  operationId: "rotateIntegrationSecret",
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

const confirm = operation({
  method: "post",
  path: `${ONE}/confirm`,
  operationId: "confirmIntegration",
  status: 201,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

const resume = operation({
  method: "post",
  path: `${ONE}/resume`,
  operationId: "resumeIntegration",
  status: 201,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

export const integrationRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const rows = await listIntegrations(c.env, c.req.valid("param").project_id);
    return c.json({ data: rows.map(presentIntegration), has_more: false }, 200);
  })
  .openapi(create, async (c) => {
    const { configuration, url, ...lists } = c.req.valid("json");
    const { project_id } = c.req.valid("param");
    const input = { configuration, url, filters: toFilters(lists) };
    const created = await once(c.env, createIntegration, project_id, input);
    setLocation(c, get, { project_id, integration_id: created.row.id });
    await tagIntegration(c, created.row);
    return c.json(presentCreatedIntegration(created), 201);
  })
  .openapi(get, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const row = await getIntegration(c.env, project_id, integration_id);
    return c.json(await tagIntegration(c, row), 200);
  })
  .openapi(update, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const { configuration = {}, url, ...lists } = c.req.valid("json");
    const change = { configuration, url, filters: toFilters(lists) };
    const row = await once(c.env, updateIntegration, project_id, integration_id, change);
    return c.json(await tagIntegration(c, row), 200);
  })
  .openapi(remove, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    await deleteIntegration(c.env, project_id, integration_id);
    return c.body(null, 204);
  })
  .openapi(rotate, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const rotated = await once(c.env, rotateSecret, project_id, integration_id);
    await tagIntegration(c, rotated.row);
    return c.json(presentRotatedIntegration(rotated), 200);
  })
  .openapi(confirm, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const row = await once(c.env, confirmIntegration, project_id, integration_id);
    setLocation(c, get, { project_id, integration_id });
    return c.json(await tagIntegration(c, row), 201);
  })
  .openapi(resume, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const row = await once(c.env, resumeIntegration, project_id, integration_id);
    setLocation(c, get, { project_id, integration_id });
    return c.json(await tagIntegration(c, row), 201);
  });

/** The tag is that of the integration without its secret, as a GET shows it. */
function tagIntegration(c: Context, row: Parameters<typeof presentIntegration>[0]) {
  return tagged(c, row.recordVersion, presentIntegration(row));
}

function toFilters(lists: {
  environment_ids?: string[] | null | undefined;
  stack_ids?: string[] | null | undefined;
}) {
  return { environmentIds: lists.environment_ids, stackIds: lists.stack_ids };
}
